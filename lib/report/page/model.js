"use strict";
// A trace, and the same trace under one strategy: what lay where after every event.

const kOps = {allocate: 0, free: 1, freeRequested: 2, freeCompleted: 3, oom: 7, segmentAlloc: 8, segmentFree: 9, segmentMap: 10, segmentUnmap: 11};
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
    this.names = columns.json("names");
    this.blocks = this.size.length;
    if (this.time.length) this.makeTimesAscend();
    this.followBlocks(columns);
  }

  // The clock of a recording may step back; order is what counts.
  makeTimesAscend() {
    const first = this.time[0];
    let latest = 0;
    for (let i = 0; i < this.time.length; ++i) this.time[i] = latest = Math.max(latest, this.time[i] - first);
  }

  followBlocks(columns) {
    const states = columns.bytes("states");
    const freed = columns.numbers("freed");
    this.early = states.length;
    this.born = new Int32Array(this.blocks);         // event of the request; -1: before the trace
    this.requestedFree = new Int32Array(this.blocks).fill(kNever);
    this.completed = new Int32Array(this.blocks).fill(kNever);
    this.blockOf = new Int32Array(this.op.length).fill(-1);
    columns.steps("born").forEach((born, block) => { this.born[block] = born - 1; });
    states.forEach((pending, block) => { if (pending) this.requestedFree[block] = this.from - 1; });
    let next = this.early, frees = 0;
    for (let i = 0; i < this.op.length; ++i) {
      const op = this.op[i], event = this.from + i;
      if (op === kOps.allocate) {
        this.born[next] = event;
        this.blockOf[i] = next++;
      } else if (op === kOps.free || op === kOps.freeRequested || op === kOps.freeCompleted) {
        const ago = freed[frees++];
        if (!ago) continue;
        const block = this.blockOf[i] = next - ago;
        if (op !== kOps.freeCompleted) this.requestedFree[block] = event;
        if (op !== kOps.freeRequested) this.completed[block] = event;
      }
    }
  }

  placeOf(block) {
    return this.names.place_of_stack[this.stack[block]];
  }
  placeName(block) {
    return this.names.places[this.placeOf(block)] || "(no stack recorded)";
  }
  laneName(lane) {
    const {stream, pool} = this.data.lanes[lane];
    return `stream ${stream}${pool ? `, pool ${pool}` : ""}`;
  }
  // The tag that the program gave; without tags, how a block's life lies to the window.
  get hasTags() {
    return this.names.texts.length > 1;
  }
  category(block) {
    if (this.hasTags) return this.tag[block];
    if (this.born[block] < this.from) return this.requestedFree[block] === kNever ? 0 : 1;
    return this.requestedFree[block] === kNever ? 2 : 3;
  }
  categoryName(key) {
    if (this.hasTags) return this.names.texts[key] || "(no tag)";
    return ["there before, and to the end", "there before, freed", "allocated here, lives to the end", "allocated here, freed"][key];
  }
  stackLines(block) {
    return this.names.stacks[this.stack[block]].map((frame) => this.names.frames[frame]);
  }
  timeAt(event) {
    return this.time.length ? this.time[Math.min(Math.max(event - this.from, 0), this.time.length - 1)] : null;
  }
}

class RunModel {
  constructor(trace, data, columns) {
    this.trace = trace;
    this.data = data;
    const places = columns.numbers("places"), charges = columns.signed("charges");
    this.place = new Float64Array(trace.blocks).fill(-1);  // from the base, in bytes
    this.charged = new Float64Array(trace.blocks);
    this.completed = trace.completed.slice();
    let charge = 0;
    places.forEach((place, block) => {
      if (!place) return;
      this.place[block] = (place - 1) * data.unit;
      this.charged[block] = trace.size[block] + charges[charge++];
    });
    const late = columns.steps("late_events"), lateBlocks = columns.numbers("late_blocks");
    const completesLate = new Set(lateBlocks);
    for (const block of completesLate) this.completed[block] = kNever;
    late.forEach((event, i) => { this.completed[lateBlocks[i]] = event; });
    this.regions = {
      event: columns.steps("region_events"), op: columns.bytes("region_ops"),
      address: columns.numbers("region_addresses").map((address) => address * data.unit), bytes: columns.numbers("region_bytes"),
    };
    this.followSums(columns);
  }

  isPlaced(block) {
    return this.place[block] >= 0;
  }

  // Requested, allocated and reserved after every event of the window.
  followSums(columns) {
    const {trace} = this, events = trace.op.length;
    this.requested = new Float64Array(events);
    this.allocated = new Float64Array(events);
    this.reserved = new Float64Array(events);
    let requested = 0, allocated = 0;
    for (let block = 0; block < trace.early; ++block) {
      if (!this.isPlaced(block) || trace.requestedFree[block] < trace.from) continue;
      requested += trace.size[block];
      allocated += this.charged[block];
    }
    for (let i = 0; i < events; ++i) {
      const op = trace.op[i], block = trace.blockOf[i];
      if (block >= 0 && op !== kOps.freeCompleted && this.isPlaced(block)) {
        const sign = op === kOps.allocate ? 1 : -1;
        requested += sign * trace.size[block];
        allocated += sign * this.charged[block];
      }
      this.requested[i] = requested;
      this.allocated[i] = allocated;
    }
    const changes = columns.steps("reserved_events"), held = columns.steps("reserved_bytes");
    for (let change = 0; change < changes.length; ++change) {
      const from = Math.max(changes[change] - trace.from, 0);
      const to = change + 1 < changes.length ? Math.max(changes[change + 1] - trace.from, 0) : events;
      this.reserved.fill(held[change], from, to);
    }
    this.within = new Map();  // event -> the most that was held during it
    const within = columns.steps("within_events"), most = columns.steps("within_bytes");
    within.forEach((event, i) => this.within.set(event, most[i]));
  }

  // Blocks in place after the event, by ascending address; `pending`: freed, but maybe still in use.
  blocksAt(event) {
    const found = [];
    const {trace} = this;
    for (let block = 0; block < trace.blocks && trace.born[block] <= event; ++block) {
      if (this.isPlaced(block) && this.completed[block] > event) found.push(block);
    }
    return found.sort((a, b) => this.place[a] - this.place[b]);
  }

  isPending(block, event) {
    return this.trace.requestedFree[block] <= event;
  }

  // What is held after the event: [{from, to, mapped}] by ascending address.
  regionsAt(event) {
    const whole = new Map(), mapped = new Map();
    const {regions} = this;
    for (let i = 0; i < regions.event.length && regions.event[i] <= event; ++i) {
      const from = regions.address[i], to = from + regions.bytes[i];
      if (regions.op[i] === kOps.segmentAlloc) whole.set(from, to);
      else if (regions.op[i] === kOps.segmentFree) whole.delete(from);
      else if (regions.op[i] === kOps.segmentMap) mapped.set(from, to);
      else cutOut(mapped, from, to);
    }
    const held = [...whole].map(([from, to]) => ({from, to, mapped: false}));
    for (const [from, to] of [...mapped].sort((a, b) => a[0] - b[0])) {
      const last = held[held.length - 1];
      if (last && last.mapped && last.to === from) last.to = to;
      else held.push({from, to, mapped: true});
    }
    return held.sort((a, b) => a.from - b.from);
  }

  // The memory after an event, for drawing: regions with the blocks in them, oldest one marked.
  memoryAt(event) {
    const blocks = this.blocksAt(event), regions = this.regionsAt(event);
    let at = 0;
    for (const region of regions) {
      region.blocks = [];
      while (at < blocks.length && this.place[blocks[at]] < region.from) ++at;
      while (at < blocks.length && this.place[blocks[at]] < region.to) region.blocks.push(blocks[at++]);
      let free = region.from;
      region.holes = [];
      for (const block of region.blocks) {
        if (this.place[block] > free) region.holes.push([free, this.place[block]]);
        free = Math.max(free, this.place[block] + this.charged[block]);
      }
      if (free < region.to) region.holes.push([free, region.to]);
      region.free = region.holes.reduce((sum, [from, to]) => sum + to - from, 0);
      region.oldest = region.blocks.length ? region.blocks.reduce((a, b) => (this.trace.born[b] < this.trace.born[a] ? b : a)) : -1;
    }
    return {event, blocks, regions};
  }

  address(offset) {
    return `0x${(BigInt(this.data.base) + BigInt(offset)).toString(16)}`;
  }
}

function cutOut(ranges, from, to) {
  for (const [first, last] of [...ranges]) {
    if (last <= from || first >= to) continue;
    ranges.delete(first);
    if (first < from) ranges.set(first, from);
    if (last > to) ranges.set(to, last);
  }
}
