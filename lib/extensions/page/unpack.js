"use strict";
// Data that the page carries: columns of numbers, compressed, as base64. See
// metrics/packed_column.hpp.

async function unpacked(id) {
  const text = document.getElementById(id).textContent;
  const letters = atob(text);
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < packed.length; ++i) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Columns {
  // `table`: name -> [first byte, bytes].
  constructor(bytes, table) {
    this.all = bytes;
    this.table = table;
  }

  static async of({blob, columns}) {
    return new Columns(await unpacked(blob), columns);
  }

  bytes(name) {
    const [from, count] = this.table[name];
    return this.all.subarray(from, from + count);
  }

  numbers(name) {
    const bytes = this.bytes(name);
    let count = 0;
    for (const byte of bytes) count += byte < 128;
    const values = new Float64Array(count);
    let at = 0;
    for (let i = 0; i < count; ++i) {
      let value = bytes[at] & 127;
      for (let scale = 128; bytes[at++] >= 128; scale *= 128) value += (bytes[at] & 127) * scale;
      values[i] = value;
    }
    return values;
  }

  signed(name) {
    return this.numbers(name).map((n) => (n % 2 ? -(n + 1) / 2 : n / 2));
  }

  // Running sums: what was written as steps.
  steps(name) {
    let sum = 0;
    return this.signed(name).map((step) => (sum += step));
  }

  json(name) {
    return JSON.parse(new TextDecoder().decode(this.bytes(name)));
  }
}
