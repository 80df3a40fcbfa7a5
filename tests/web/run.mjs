// Runs commands by the program for the browser: node run.mjs PROGRAM.wasm APPS_WEB < jobs.json. A
// job is {args, files: {path in its folder: file here}, outputs: [path]}; its result a line of JSON
// {status, text, notes, outputs}, the texts of files among it.
import fs from "fs";

const [program, folder] = process.argv.slice(2);
const source =
    ["files.js", "wasi.js"].map((name) => fs.readFileSync(`${folder}/${name}`, "utf8")).join("");
const {Wasi, MemoryFile} = new Function(`${source}; return {Wasi, MemoryFile};`)();
const module = new WebAssembly.Module(fs.readFileSync(program));

for (const {args, files, outputs = []} of JSON.parse(fs.readFileSync(0, "utf8"))) {
  const texts = {1: [], 2: []};
  const system = new Wasi({
    args: ["memreplay", ...args],
    environment: {LANG: "C.UTF-8"},
    files: new Map(Object.entries(files).map(
        ([path, from]) => [path, new MemoryFile(new Uint8Array(fs.readFileSync(from)))])),
    write: (stream, bytes) => texts[stream].push(Buffer.from(bytes)),
  });
  let status = null;
  try {
    status = system.run(module);
  } catch (error) {
    texts[2].push(Buffer.from(`${error}`));
  }
  const [text, notes] = [1, 2].map((stream) => Buffer.concat(texts[stream]).toString());
  const written = outputs.filter((path) => system.files.has(path));
  const contents =
      written.map((path) => [path, Buffer.from(system.files.get(path).content()).toString()]);
  fs.writeSync(
      1, `${JSON.stringify({status, text, notes, outputs: Object.fromEntries(contents)})}\n`);
}
