"use strict";
// The system that the program runs on: a folder in memory, standard streams, a clock, chance. Those
// functions of WASI (preview 1) that the program calls; what it imports beside them is refused.

const kErrno = {
  badf: 8,
  exist: 20,
  inval: 28,
  isdir: 31,
  noent: 44,
  nosys: 52,
  notdir: 54,
  spipe: 70
};
const kFileType = {
  device: 2,
  folder: 3,
  file: 4
};
const kCharacterRights = ~0n & ~((1n << 2n) | (1n << 5n));  // neither seek nor tell: a terminal
const kToWrite = 1n << 6n;

// The program ended by itself, with this status.
class Exit extends Error {
  constructor(status) {
    super(`exit ${status}`);
    this.status = status;
  }
}

class Wasi {
  // `files`: path without the first slash -> MemoryFile or BlobFile. `write(stream, bytes)` hears
  // what goes to standard output (1) and standard error (2), `finished(path)` what has its name
  // now.
  constructor({args, environment = {}, files, write, finished = () => {}}) {
    this.args = args;
    this.environment = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    this.files = files;
    this.folders = new Set([""]);
    this.numbers = new Map();  // file or path of a folder -> its number
    this.write = write;
    this.finished = finished;
    this.open = new Map([
      [0, {stream: 0}],
      [1, {stream: 1}],
      [2, {stream: 2}],
      [3, {folder: ""}],
    ]);
    this.next = 4;
    for (const path of files.keys()) this.addFolders(path);
  }

  addFolders(path) {
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
      this.folders.add(path.slice(0, at));
    }
  }

  // Runs the program to its end; its status.
  run(module) {
    const names = WebAssembly.Module.imports(module).map(({name}) => name);
    const refused = () => kErrno.nosys;
    const functions = names.map((name) => [name, this[name] ? this[name].bind(this) : refused]);
    const imports = {wasi_snapshot_preview1: Object.fromEntries(functions)};
    this.instance = new WebAssembly.Instance(module, imports);
    try {
      this.instance.exports._start();
      return 0;
    } catch (error) {
      if (error instanceof Exit) return error.status;
      throw error;
    }
  }

  // --- the program's memory, which may have grown since the last call
  view() {
    return new DataView(this.instance.exports.memory.buffer);
  }
  bytes(at, count) {
    return new Uint8Array(this.instance.exports.memory.buffer, at >>> 0, count >>> 0);
  }
  text(at, count) {
    return new TextDecoder().decode(this.bytes(at, count));
  }
  setNumber(at, value) {
    this.view().setUint32(at >>> 0, value, true);
    return 0;
  }
  setLong(at, value) {
    this.view().setBigUint64(at >>> 0, BigInt(value), true);
    return 0;
  }
  // The parts of memory that a call reads into or writes from.
  parts(at, count) {
    const view = this.view();
    return Array.from({length: count}, (_, i) => {
      const place = (at >>> 0) + 8 * i;
      return this.bytes(view.getUint32(place, true), view.getUint32(place + 4, true));
    });
  }

  // --- texts that the program is begun with
  sizes(texts, countAt, bytesAt) {
    const encoder = new TextEncoder();
    this.setNumber(countAt, texts.length);
    return this.setNumber(
        bytesAt, texts.reduce((sum, text) => sum + encoder.encode(text).length + 1, 0));
  }
  putTexts(texts, pointersAt, bytesAt) {
    let at = bytesAt;
    texts.forEach((text, i) => {
      const bytes = new TextEncoder().encode(`${text}\0`);
      this.setNumber(pointersAt + 4 * i, at);
      this.bytes(at, bytes.length).set(bytes);
      at += bytes.length;
    });
    return 0;
  }
  args_sizes_get(countAt, bytesAt) {
    return this.sizes(this.args, countAt, bytesAt);
  }
  args_get(pointersAt, bytesAt) {
    return this.putTexts(this.args, pointersAt, bytesAt);
  }
  environ_sizes_get(countAt, bytesAt) {
    return this.sizes(this.environment, countAt, bytesAt);
  }
  environ_get(pointersAt, bytesAt) {
    return this.putTexts(this.environment, pointersAt, bytesAt);
  }

  // --- clock, chance, the end
  clock_time_get(clock, _precision, at) {
    const ms = clock === 0 ? Date.now() : performance.now();
    return this.setLong(at, Math.round(ms * 1e6));
  }
  clock_res_get(_clock, at) {
    return this.setLong(at, 1000);
  }
  random_get(at, count) {
    for (let done = 0; done < count; done += 65536) {
      crypto.getRandomValues(this.bytes(at + done, Math.min(count - done, 65536)));
    }
    return 0;
  }
  sched_yield() {
    return 0;
  }
  proc_exit(status) {
    throw new Exit(status);
  }

  // --- paths
  // Without "." and ".."; of a path that leaves the folder the rest stays in it.
  pathOf(folder, at, count) {
    const parts = [];
    for (const part of`${folder}/${this.text(at, count)}`.split("/")) {
      if (part === "..") {
        parts.pop();
      } else if (part !== "" && part !== ".") {
        parts.push(part);
      }
    }
    return parts.join("/");
  }
  pathIn(fd, at, count) {
    const entry = this.open.get(fd);
    return entry && entry.folder !== undefined ? this.pathOf(entry.folder, at, count) : null;
  }
  numberOf(thing) {
    if (!this.numbers.has(thing)) this.numbers.set(thing, this.numbers.size + 1);
    return this.numbers.get(thing);
  }
  children(folder) {
    const begin = folder === "" ? "" : `${folder}/`;
    const isChild = (path) =>
        path !== "" && path.startsWith(begin) && !path.slice(begin.length).includes("/");
    const named = (paths, type) =>
        paths.filter(isChild).map((path) => ({name: path.slice(begin.length), path, type}));
    return [
      ...named([...this.folders], kFileType.folder),
      ...named([...this.files.keys()], kFileType.file),
    ];
  }

  path_open(fd, _lookup, at, count, how, rights, _inherited, flags, openedAt) {
    const path = this.pathIn(fd, at, count);
    if (path === null) return kErrno.badf;
    const [create, folder, exclusive, empty] = [1, 2, 4, 8].map((bit) => (how & bit) !== 0);
    let entry = null;
    if (this.folders.has(path)) {
      if (create || (rights & kToWrite)) return kErrno.isdir;
      entry = {folder: path};
    } else {
      if (this.files.has(path) && create && exclusive) return kErrno.exist;
      if (!this.files.has(path) && !create) return kErrno.noent;
      if (folder) return kErrno.notdir;
      if (!this.files.has(path)) this.files.set(path, new MemoryFile());
      const file = this.files.get(path);
      if (empty) file.resize(0);
      entry = {file, at: 0, appends: (flags & 1) !== 0};
    }
    this.open.set(this.next, entry);
    return this.setNumber(openedAt, this.next++);
  }
  path_filestat_get(fd, _lookup, at, count, statAt) {
    const path = this.pathIn(fd, at, count);
    if (path === null) return kErrno.badf;
    if (this.folders.has(path)) return this.putStat(statAt, kFileType.folder, path, 0);
    const file = this.files.get(path);
    return file ? this.putStat(statAt, kFileType.file, file, file.size) : kErrno.noent;
  }
  path_create_directory(fd, at, count) {
    const path = this.pathIn(fd, at, count);
    if (path === null) return kErrno.badf;
    if (this.folders.has(path) || this.files.has(path)) return kErrno.exist;
    this.folders.add(path);
    return 0;
  }
  path_unlink_file(fd, at, count) {
    return this.files.delete(this.pathIn(fd, at, count)) ? 0 : kErrno.noent;
  }
  path_rename(fd, at, count, toFd, toAt, toCount) {
    const from = this.pathIn(fd, at, count);
    const to = this.pathIn(toFd, toAt, toCount);
    if (!this.files.has(from)) return kErrno.noent;
    this.files.set(to, this.files.get(from));
    this.files.delete(from);
    this.finished(to);
    return 0;
  }
  path_readlink() {
    return kErrno.inval;  // there are no links
  }

  // --- what is open
  fd_prestat_get(fd, at) {
    if (fd !== 3) return kErrno.badf;
    this.setNumber(at, 0);
    return this.setNumber(at + 4, 1);
  }
  fd_prestat_dir_name(_fd, at) {
    this.bytes(at, 1)[0] = 47;  // "/"
    return 0;
  }
  fd_close(fd) {
    return this.open.delete(fd) ? 0 : kErrno.badf;
  }
  fd_fdstat_get(fd, at) {
    const entry = this.open.get(fd);
    if (!entry) return kErrno.badf;
    // Standard error is a terminal, so that long work shows how far it is.
    const isTerminal = entry.stream === 2;
    const type = entry.folder !== undefined ? kFileType.folder :
        isTerminal                          ? kFileType.device :
                                              kFileType.file;
    this.bytes(at, 24).fill(0);
    this.bytes(at, 1)[0] = type;
    const rights = isTerminal ? kCharacterRights : ~0n;
    this.setLong(at + 8, BigInt.asUintN(64, rights));
    return this.setLong(at + 16, BigInt.asUintN(64, ~0n));
  }
  fd_fdstat_set_flags() {
    return 0;
  }
  putStat(at, type, thing, size) {
    this.bytes(at, 64).fill(0);
    this.setLong(at + 8, this.numberOf(thing));
    this.bytes(at + 16, 1)[0] = type;
    this.setLong(at + 24, 1);
    return this.setLong(at + 32, size);
  }
  fd_filestat_get(fd, at) {
    const entry = this.open.get(fd);
    if (!entry) return kErrno.badf;
    if (entry.folder !== undefined) return this.putStat(at, kFileType.folder, entry.folder, 0);
    if (!entry.file) return this.putStat(at, kFileType.device, entry, 0);
    return this.putStat(at, kFileType.file, entry.file, entry.file.size);
  }
  fd_filestat_set_size(fd, size) {
    const entry = this.open.get(fd);
    if (!entry || !entry.file) return kErrno.badf;
    entry.file.resize(Number(size));
    return 0;
  }
  fd_readdir(fd, at, room, cookie, usedAt) {
    const entry = this.open.get(fd);
    if (!entry || entry.folder === undefined) return kErrno.badf;
    const target = this.bytes(at, room);
    let used = 0;
    for (const [i, child] of this.children(entry.folder).entries()) {
      if (i < Number(cookie) || used === room) continue;
      const name = new TextEncoder().encode(child.name);
      const record = new Uint8Array(24 + name.length);
      const view = new DataView(record.buffer);
      view.setBigUint64(0, BigInt(i + 1), true);
      view.setBigUint64(8, BigInt(this.numberOf(this.files.get(child.path) || child.path)), true);
      view.setUint32(16, name.length, true);
      view.setUint8(20, child.type);
      record.set(name, 24);
      const part = record.subarray(0, room - used);
      target.set(part, used);
      used += part.length;
    }
    return this.setNumber(usedAt, used);
  }
  // Reads or writes the parts one after the other, and says how much that was.
  each(partsAt, count, doneAt, act) {
    let done = 0;
    for (const part of this.parts(partsAt, count)) {
      const now = act(part, done);
      done += now;
      if (now < part.length) break;
    }
    return this.setNumber(doneAt, done);
  }
  fd_read(fd, partsAt, count, doneAt) {
    const entry = this.open.get(fd);
    if (!entry) return kErrno.badf;
    if (entry.folder !== undefined) return kErrno.isdir;
    if (!entry.file) return this.setNumber(doneAt, 0);  // standard input is empty
    return this.each(partsAt, count, doneAt, (part) => {
      const read = entry.file.read(entry.at, part);
      entry.at += read;
      return read;
    });
  }
  fd_pread(fd, partsAt, count, offset, doneAt) {
    const entry = this.open.get(fd);
    if (!entry || !entry.file) return kErrno.badf;
    return this.each(
        partsAt, count, doneAt, (part, done) => entry.file.read(Number(offset) + done, part));
  }
  fd_write(fd, partsAt, count, doneAt) {
    const entry = this.open.get(fd);
    if (!entry || entry.folder !== undefined) return kErrno.badf;
    return this.each(partsAt, count, doneAt, (part) => {
      if (entry.file) {
        if (entry.appends) entry.at = entry.file.size;
        entry.file.write(entry.at, part);
        entry.at += part.length;
      } else {
        this.write(entry.stream, part.slice());
      }
      return part.length;
    });
  }
  fd_pwrite(fd, partsAt, count, offset, doneAt) {
    const entry = this.open.get(fd);
    if (!entry || !entry.file) return kErrno.badf;
    return this.each(partsAt, count, doneAt, (part, done) => {
      entry.file.write(Number(offset) + done, part);
      return part.length;
    });
  }
  fd_seek(fd, offset, from, nowAt) {
    const entry = this.open.get(fd);
    if (!entry) return kErrno.badf;
    if (!entry.file) return kErrno.spipe;
    entry.at = [0, entry.at, entry.file.size][from] + Number(offset);
    return this.setLong(nowAt, entry.at);
  }
  fd_tell(fd, nowAt) {
    return this.fd_seek(fd, 0n, 1, nowAt);
  }
  fd_sync() {
    return 0;
  }
  fd_advise() {
    return 0;
  }
}
