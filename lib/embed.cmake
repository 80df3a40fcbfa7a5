# Writes texts as constants: `cmake -D TO=F.cpp -D HEADER=F.hpp -D NAMES=kA,kB -D FILES=a,b -P embed.cmake`.
# The header declares them in namespace memreplay.
string(REPLACE "," ";" NAMES "${NAMES}")
string(REPLACE "," ";" FILES "${FILES}")
set(source "#include \"${HEADER}\"\n\nnamespace memreplay {\n")
foreach(name file IN ZIP_LISTS NAMES FILES)
  file(READ ${file} text)
  string(APPEND source "\nconst char ${name}[] = R\"embedded(${text})embedded\";\n")
endforeach()
file(WRITE ${TO} "${source}\n}  // namespace memreplay\n")
