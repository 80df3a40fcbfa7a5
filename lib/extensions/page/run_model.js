"use strict";
// The trace under one strategy: what lay where after every event, and what the device was asked
// for.

class RunModel {
  constructor(trace, data, columns) {
    this.trace = trace;
    this.data = data;
    this.placeBlocks(columns);
    this.completeLate(columns);
    this.regions = {
      event: columns.steps("region_events"),
      op: columns.bytes("region_ops"),
      address: columns.numbers("region_addresses").map((address) => address * data.unit),
      bytes: columns.numbers("region_bytes"),
      lane: columns.numbers("region_lanes"),
    };
    this.followSums();
    this.followReserved(columns);
  }

  placeBlocks(columns) {
    const {trace, data} = this;
    const charges = columns.signed("charges");
    this.place = new Float64Array(trace.blocks).fill(-1);  // from the base, in bytes
    this.charged = new Float64Array(trace.blocks);
    let charge = 0;
    columns.numbers("places").forEach((place, block) => {
      if (!place) return;
      this.place[block] = (place - 1) * data.unit;
      this.charged[block] = trace.size[block] + charges[charge++];
    });
  }

  completeLate(columns) {
    const late = columns.steps("late_events");
    const blocks = columns.numbers("late_blocks");
    this.completed = this.trace.completed.slice();
    for (const block of blocks) this.completed[block] = kNever;
    late.forEach((event, i) => {
      this.completed[blocks[i]] = event;
    });
  }

  isPlaced(block) {
    return this.place[block] >= 0;
  }

  // Requested and allocated after every event of the window.
  followSums() {
    const {trace} = this;
    this.requested = new Float64Array(trace.moments);
    this.allocated = new Float64Array(trace.moments);
    let [requested, allocated] = this.sumsBefore();
    for (let i = 0; i < trace.moments; ++i) {
      const op = trace.op[i];
      const block = trace.blockOf[i];
      if (block !== undefined && block >= 0 && op !== kOps.freeCompleted && this.isPlaced(block)) {
        const sign = op === kOps.allocate ? 1 : -1;
        requested += sign * trace.size[block];
        allocated += sign * this.charged[block];
      }
      this.requested[i] = requested;
      this.allocated[i] = allocated;
    }
  }

  sumsBefore() {
    const {trace} = this;
    let requested = 0;
    let allocated = 0;
    for (let block = 0; block < trace.early; ++block) {
      if (!this.isPlaced(block) || trace.requestedFree[block] < trace.from) continue;
      requested += trace.size[block];
      allocated += this.charged[block];
    }
    return [requested, allocated];
  }

  followReserved(columns) {
    const {trace} = this;
    const events = trace.moments;
    const changes = columns.steps("reserved_events");
    const held = columns.steps("reserved_bytes");
    this.reserved = new Float64Array(events);
    for (let change = 0; change < changes.length; ++change) {
      const isLast = change + 1 === changes.length;
      const from = Math.max(changes[change] - trace.from, 0);
      const to = isLast ? events : Math.max(changes[change + 1] - trace.from, 0);
      this.reserved.fill(held[change], from, to);
    }
    this.within = new Map();  // event -> the most that was held during it
    const within = columns.steps("within_events");
    const most = columns.steps("within_bytes");
    within.forEach((event, i) => this.within.set(event, most[i]));
  }

  // Blocks in place after the event, by ascending address, those that are pending too.
  blocksAt(event) {
    const found = [];
    const {trace} = this;
    for (let block = 0; block < trace.blocks && trace.born[block] <= event; ++block) {
      if (this.isPlaced(block) && this.completed[block] > event) found.push(block);
    }
    return found.sort((a, b) => this.place[a] - this.place[b]);
  }

  // Freed, but maybe still in use.
  isPending(block, event) {
    return this.trace.requestedFree[block] <= event;
  }

  // What is held after the event: [{from, to, mapped, lane}] by ascending address.
  regionsAt(event) {
    const whole = new Map();
    const mapped = new Map();
    const {regions} = this;
    for (let i = 0; i < regions.event.length && regions.event[i] <= event; ++i) {
      applyCall(regions, i, whole, mapped);
    }
    const held = [...whole].map(([from, region]) => ({from, ...region, mapped: false}));
    return [...held, ...joined(mapped)].sort((a, b) => a.from - b.from);
  }

  // The memory after an event, for drawing: regions with the blocks in them, oldest one marked.
  memoryAt(event) {
    const blocks = this.blocksAt(event);
    const regions = this.regionsAt(event);
    let at = 0;
    for (const region of regions) {
      region.blocks = [];
      while (at < blocks.length && this.place[blocks[at]] < region.from) ++at;
      while (at < blocks.length && this.place[blocks[at]] < region.to) {
        region.blocks.push(blocks[at++]);
      }
      this.findHoles(region);
    }
    return {event, blocks, regions};
  }

  findHoles(region) {
    const {born} = this.trace;
    let free = region.from;
    let before = -1;
    region.holes = [];
    region.oldest = region.blocks.length ? region.blocks[0] : -1;
    for (const block of region.blocks) {
      const from = this.place[block];
      if (from > free) region.holes.push({from: free, to: from, before, after: block});
      free = Math.max(free, from + this.charged[block]);
      before = block;
      if (born[block] < born[region.oldest]) region.oldest = block;
    }
    if (free < region.to) region.holes.push({from: free, to: region.to, before, after: -1});
    region.free = region.holes.reduce((sum, hole) => sum + hole.to - hole.from, 0);
    region.largestHole =
        region.holes.reduce((most, hole) => Math.max(most, hole.to - hole.from), 0);
  }

  // What the strategy asked of the device during the event: [op, bytes].
  callsAt(event) {
    const {regions} = this;
    const calls = [];
    const {early_regions: early} = this.data;
    const first = firstIndex(regions.event.length, (i) => i >= early && regions.event[i] >= event);
    for (let i = first; i < regions.event.length && regions.event[i] === event; ++i) {
      calls.push([regions.op[i], regions.bytes[i]]);
    }
    return calls;
  }

  address(offset) {
    return hexAddress(BigInt(this.data.base) + BigInt(offset));
  }
}

// What a call of the driver does to the segments held, whole ones and mapped ones by address.
function applyCall(regions, number, whole, mapped) {
  const from = regions.address[number];
  const region = {number, to: from + regions.bytes[number], lane: regions.lane[number] - 1};
  const op = regions.op[number];
  if (op === kOps.segmentAlloc) {
    whole.set(from, region);
  } else if (op === kOps.segmentFree) {
    whole.delete(from);
  } else if (op === kOps.segmentMap) {
    mapped.set(from, region);
  } else {
    cutOut(mapped, from, region.to);
  }
}

function cutOut(ranges, from, to) {
  for (const [first, range] of [...ranges]) {
    if (range.to <= from || first >= to) continue;
    ranges.delete(first);
    if (first < from) ranges.set(first, {...range, to: from});
    if (range.to > to) ranges.set(to, range);
  }
}

// Mapped pieces that follow on each other are one region.
function joined(mapped) {
  const held = [];
  for (const [from, range] of [...mapped].sort((a, b) => a[0] - b[0])) {
    const last = held[held.length - 1];
    if (last && last.to === from) {
      last.to = range.to;
    } else {
      held.push({from, ...range, mapped: true});
    }
  }
  return held;
}
