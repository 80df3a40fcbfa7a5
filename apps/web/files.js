"use strict";
// Files as the program reads and writes them.

const kLargestRead = 1 << 24;

// A file that is written and read in memory.
class MemoryFile {
  constructor(bytes = new Uint8Array(0)) {
    this.bytes = bytes;
    this.size = bytes.length;
  }

  read(at, target) {
    const part =
        this.bytes.subarray(Math.min(at, this.size), Math.min(at + target.length, this.size));
    target.set(part);
    return part.length;
  }

  write(at, source) {
    const end = at + source.length;
    if (end > this.bytes.length) {
      const grown = new Uint8Array(Math.max(end, 2 * this.bytes.length));
      grown.set(this.content());
      this.bytes = grown;
    }
    this.bytes.set(source, at);
    this.size = Math.max(this.size, end);
  }

  resize(size) {
    const kept = this.bytes.subarray(0, Math.min(size, this.size));
    this.bytes = new Uint8Array(size);
    this.bytes.set(kept);
    this.size = size;
  }

  content() {
    return this.bytes.subarray(0, this.size);
  }
}

// A file of the user's, read where it lies: it may be larger than what memory there is.
class BlobFile {
  constructor(blob) {
    this.blob = blob;
    this.size = blob.size;
    this.reader = new FileReaderSync();
  }

  read(at, target) {
    const part = this.blob.slice(at, at + Math.min(target.length, kLargestRead));
    target.set(new Uint8Array(this.reader.readAsArrayBuffer(part)));
    return part.size;
  }
}
