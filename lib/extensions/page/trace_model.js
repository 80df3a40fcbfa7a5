"use strict";
// A trace whatever the strategy: its events, its blocks, who asked for them.

const kOps = {
  allocate: 0,
  free: 1,
  freeRequested: 2,
  freeCompleted: 3,
  emptyCache: 4,
  marker: 5,
  safeFrontier: 6,
  oom: 7,
  segmentAlloc: 8,
  segmentFree: 9,
  segmentMap: 10,
  segmentUnmap: 11,
};
const kOpNames = [
  "alloc",
  "free",
  "free_requested",
  "free_completed",
  "empty_cache",
  "marker",
  "safe_frontier",
  "oom",
  "segment_alloc",
  "segment_free",
  "segment_map",
  "segment_unmap",
];
const kNever = 0x7fffffff;

class TraceModel {
  constructor(data, columns) {
    this.data = data;
    [this.from, this.to] = data.window;
    this.op = columns.bytes("ops");
    this.time = columns.steps("times");
    this.size = columns.numbers("sizes");
    this.lane = columns.numbers("lanes");
    this.stack = columns.numbers("stacks");
    this.tag = columns.numbers("tags");
    this.address = columns.steps("addresses");  // as recorded; empty where there are none
    this.names = columns.json("names");
    this.blocks = this.size.length;
    this.other = {
      event: [],
      size: columns.numbers("other_sizes"),
      address: columns.steps("other_addresses"),
      lane: columns.numbers("other_lanes"),
      stack: columns.numbers("other_stacks"),
      tag: columns.numbers("other_tags"),
    };
    if (this.time.length) this.makeTimesAscend();
    this.followBlocks(columns);
  }

  // The clock of a recording may step back; order is what counts.
  makeTimesAscend() {
    const first = this.time[0];
    let latest = 0;
    for (let i = 0; i < this.time.length; ++i) {
      latest = Math.max(latest, this.time[i] - first);
      this.time[i] = latest;
    }
  }

  followBlocks(columns) {
    const states = columns.bytes("states");
    this.early = states.length;
    this.born = new Int32Array(this.blocks);  // event of the request; -1: before the trace
    this.requestedFree = new Int32Array(this.blocks).fill(kNever);
    this.completed = new Int32Array(this.blocks).fill(kNever);
    this.blockOf = new Int32Array(this.op.length).fill(-1);
    columns.steps("born").forEach((born, block) => {
      this.born[block] = born - 1;
    });
    states.forEach((pending, block) => {
      if (pending) this.requestedFree[block] = this.from - 1;
    });
    this.followEvents(columns.numbers("freed"));
  }

  followEvents(freed) {
    let next = this.early;
    let frees = 0;
    for (let i = 0; i < this.op.length; ++i) {
      const op = this.op[i];
      if (op === kOps.allocate) {
        this.born[next] = this.from + i;
        this.blockOf[i] = next++;
      } else if (op <= kOps.freeCompleted) {
        const ago = freed[frees++];
        if (ago) this.noteFree(i, op, next - ago);
      } else {
        this.other.event.push(this.from + i);
      }
    }
  }

  noteFree(i, op, block) {
    this.blockOf[i] = block;
    if (op !== kOps.freeCompleted) this.requestedFree[block] = this.from + i;
    if (op !== kOps.freeRequested) this.completed[block] = this.from + i;
  }

  // Events of the window; of a state without a history the one moment that there is.
  get moments() {
    return Math.max(this.op.length, this.data.events ? 0 : 1);
  }
  has(event) {
    return event >= this.from && event < this.from + this.moments;
  }
  placeOf(block) {
    return this.names.place_of_stack[this.stack[block]];
  }
  placeName(block) {
    return this.placeOfStack(this.stack[block]);
  }
  placeOfStack(stack) {
    return this.names.places[this.names.place_of_stack[stack]] || "(no stack recorded)";
  }
  get hasStacks() {
    return this.names.frames.length > 0;
  }
  get hasAddresses() {
    return this.address.length > 0;
  }
  laneName(lane) {
    const {stream, pool} = this.data.lanes[lane];
    return `stream ${stream}${pool ? `, pool ${pool}` : ""}`;
  }
  laneInFull(lane) {
    const {pool} = this.data.lanes[lane];
    return `${this.laneName(lane)}${pool ? "" : ", default pool"}`;
  }
  // The tag that the program gave; without tags, how a block's life lies to the window.
  get hasTags() {
    return this.names.texts.length > 1;
  }
  category(block) {
    if (this.hasTags) return this.tag[block];
    const lives = this.requestedFree[block] === kNever;
    return this.born[block] < this.from ? (lives ? 0 : 1) : (lives ? 2 : 3);
  }
  categoryName(key) {
    if (this.hasTags) return this.names.texts[key] || "(no tag)";
    return [
      "there before, and to the end",
      "there before, freed",
      "allocated here, lives to the end",
      "allocated here, freed",
    ][key];
  }
  // The frames of a stack, innermost first.
  framesOf(stack) {
    const {frames, noise, stacks} = this.names;
    return stacks[stack].map((frame) => ({text: frames[frame], noise: noise[frame] === "1"}));
  }
  timeAt(event) {
    if (!this.time.length) return null;
    return this.time[Math.min(Math.max(event - this.from, 0), this.time.length - 1)];
  }

  // What the event was: its kind, and as far as they are known block, size, recorded address, lane,
  // place and text.
  factsOf(event) {
    const op = this.op[event - this.from];
    const block = this.blockOf[event - this.from];
    if (op <= kOps.freeCompleted) return {op, block, ...(block < 0 ? {} : this.blockFacts(block))};
    const {other} = this;
    const i = firstIndex(other.event.length, (at) => other.event[at] >= event);
    const sized = op >= kOps.oom;
    return {
      op,
      block: -1,
      size: sized ? other.size[i] : null,
      address: op >= kOps.segmentAlloc && this.hasAddresses ? other.address[i] : null,
      lane: sized ? other.lane[i] : null,
      place: other.stack[i] ? this.placeOfStack(other.stack[i]) : "",
      text: this.names.texts[other.tag[i]],
    };
  }

  blockFacts(block) {
    return {
      size: this.size[block],
      address: this.recordedAddress(block),
      lane: this.lane[block],
      place: this.placeName(block),
      text: this.names.texts[this.tag[block]],
    };
  }

  recordedAddress(block) {
    return this.hasAddresses && this.address[block] ? this.address[block] : null;
  }
}

function hexAddress(address) {
  return `0x${BigInt(address).toString(16)}`;
}
