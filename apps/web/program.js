"use strict";
// The program in a worker: commands wait for one another, and all can be stopped.

// The texts of the page that are unpacked before they are used.
async function unpackedPart(id) {
  const letters = atob(byId(id).textContent.trim());
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < packed.length; ++i) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Stopped extends Error {}

class Program {
  constructor(module) {
    this.module = module;
    this.source =
        URL.createObjectURL(new Blob([byId("worker").textContent], {type: "text/javascript"}));
    this.waiting = [];
    this.current = null;
    this.worker = null;
  }

  static async load() {
    return new Program(await WebAssembly.compile(await unpackedPart("wasm")));
  }

  // Resolves to {status, text, notes, outputs}; throws Stopped, or an Error where it broke off.
  // `written(path, bytes)` hears of an output as soon as it is complete.
  run(args, {files = [], outputs = [], progress = () => {}, written = () => {}} = {}) {
    return new Promise((resolve, reject) => {
      this.waiting.push({args, files, outputs, progress, written, resolve, reject});
      this.next();
    });
  }

  next() {
    if (this.current || !this.waiting.length) return;
    this.current = this.waiting.shift();
    if (!this.worker) this.begin();
    const {args, files, outputs} = this.current;
    this.worker.postMessage({args, files, outputs});
  }

  begin() {
    this.worker = new Worker(this.source);
    this.worker.postMessage({module: this.module});
    this.worker.onmessage = ({data}) => this.hear(data);
    this.worker.onerror = (event) => this.hear({failure: event.message});
  }

  hear({progress, written, bytes, result, failure}) {
    if (!this.current) return;
    if (progress !== undefined) {
      this.current.progress(progress);
      return;
    }
    if (written !== undefined) {
      this.current.written(written, bytes);
      return;
    }
    const {resolve, reject} = this.current;
    this.current = null;
    if (result) {
      resolve(result);
    } else {
      this.worker.terminate();  // its memory may be full
      this.worker = null;
      reject(new Error(failure));
    }
    this.next();
  }

  // Ends what runs and what waits.
  stop() {
    const ended = [this.current, ...this.waiting].filter(Boolean);
    if (this.current) {
      this.worker.terminate();
      this.worker = null;
    }
    this.current = null;
    this.waiting = [];
    ended.forEach(({reject}) => reject(new Stopped("stopped")));
  }
}
