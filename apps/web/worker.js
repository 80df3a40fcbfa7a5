"use strict";
// Runs the program, one command after another. It gets {module} once, then {arguments, files,
// outputs}; it answers {progress}, and {written, bytes} of an output that is complete, while it
// works, and {result} or {failure} at the end.

let module = null;

// The last line that a terminal would show, of what replaces itself.
function lastLine(text) {
  const lines = text.split(/[\r\n]/).map((line) => line.replace(/\x1b\[K/g, "").trim());
  return lines.filter(Boolean).pop() || "";
}

function fileOf(content) {
  return content instanceof Blob ? new BlobFile(content) : new MemoryFile(content);
}

function runCommand({args, files, outputs}) {
  const texts = {1: [], 2: []};
  const system = new Wasi({
    args: ["memreplay", ...args],
    environment: {LANG: "C.UTF-8", COLUMNS: "100"},
    files: new Map(files.map(({path, content}) => [path, fileOf(content)])),
    write(stream, bytes) {
      texts[stream].push(bytes);
      if (stream === 2) postMessage({progress: lastLine(new TextDecoder().decode(bytes))});
    },
    finished(path) {
      if (outputs.includes(path))
        postMessage({written: path, bytes: system.files.get(path).content()});
    },
  });
  const status = system.run(module);
  const text = (stream) => {
    const all = texts[stream];
    const decoder = new TextDecoder();
    return all.map((bytes) => decoder.decode(bytes, {stream: true})).join("");
  };
  const written = outputs.filter((path) => system.files.has(path));
  return {
    status,
    text: text(1),
    notes: text(2).replace(/\r\x1b\[K[^\r\n]*(?=\r)/g, "").replace(/\r\x1b\[K/g, ""),
    outputs: Object.fromEntries(written.map((path) => [path, system.files.get(path).content()])),
  };
}

onmessage = ({data}) => {
  if (data.module) {
    module = data.module;
    return;
  }
  try {
    postMessage({result: runCommand(data)});
  } catch (error) {
    const isFull = error instanceof RangeError || /memory/i.test(error.message);
    const isGone = error.name === "NotReadableError" || error.name === "NotFoundError";
    postMessage({
      failure: isFull ? "The memory that a browser gives a page (4 GiB) does not hold this." :
          isGone      ? "The file was changed or taken away after it was chosen: choose it again." :
                        `The program stopped: ${error.message}`,
    });
  }
};
