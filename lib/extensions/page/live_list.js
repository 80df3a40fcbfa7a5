"use strict";
// The live blocks of a run by age, carried from event to event.

class LiveList {
  constructor(run) {
    const {trace} = run;
    this.run = run;
    this.head = trace.blocks;
    this.next = new Int32Array(trace.blocks + 1);
    this.previous = new Int32Array(trace.blocks + 1);
    this.next[this.head] = this.head;
    this.previous[this.head] = this.head;
    this.at = trace.from;  // the next event to be played
    for (let block = 0; block < trace.early; ++block) {
      if (run.isPlaced(block) && trace.requestedFree[block] >= trace.from) this.add(block);
    }
  }

  add(block) {
    const last = this.previous[this.head];
    this.next[last] = block;
    this.previous[block] = last;
    this.next[block] = this.head;
    this.previous[this.head] = block;
  }

  remove(block) {
    this.next[this.previous[block]] = this.next[block];
    this.previous[this.next[block]] = this.previous[block];
  }

  // To the moment after an event that is not before the last one.
  goTo(event) {
    const {trace} = this.run;
    for (; this.at <= event; ++this.at) {
      const i = this.at - trace.from;
      const block = trace.blockOf[i];
      const op = trace.op[i];
      if (block < 0 || op === kOps.freeCompleted || !this.run.isPlaced(block)) continue;
      if (op === kOps.allocate) {
        this.add(block);
      } else {
        this.remove(block);
      }
    }
  }
}
