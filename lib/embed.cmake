# Writes texts as constants: `cmake -D TO=F.cpp -D NAMES=kA,kB -D FILES=a,b -P embed.cmake`.
# Who reads one declares it: `extern const char kA[];` in namespace memreplay.
string(REPLACE "," ";" NAMES "${NAMES}")
string(REPLACE "," ";" FILES "${FILES}")
set(source "namespace memreplay {\n")
foreach(name file IN ZIP_LISTS NAMES FILES)
  file(READ ${file} text)
  string(APPEND source "\nextern const char ${name}[];\nconst char ${name}[] = R\"embedded(${text})embedded\";\n")
endforeach()
file(WRITE ${TO} "${source}\n}  // namespace memreplay\n")
