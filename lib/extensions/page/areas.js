"use strict";
// What the timeline stacks: blocks or segments by age, with their bytes and colours, carried from
// event to event.

class BlockAreas {
  constructor(page, run) {
    this.page = page;
    this.run = run;
    this.sums = run.allocated;
    this.live = new LiveList(run);
  }
  goTo(event) {
    this.live.goTo(event);
  }
  each(use) {
    const {live, run} = this;
    for (let block = live.next[live.head]; block !== live.head; block = live.next[block]) {
      use(block, run.charged[block]);
    }
  }
  colour(block) {
    return this.page.blockColour(block);
  }
  subject(block, event) {
    return {kind: "block", block, event};
  }
}

// Segments by the number of the call that obtained them. Mapped memory is as many pieces as were
// mapped, and what unmapping left of them.
class SegmentAreas {
  constructor(page, run) {
    this.run = run;
    this.sums = run.reserved;
    this.whole = new Map();   // address -> {number, to}
    this.mapped = new Map();  // likewise
    this.at = 0;              // the next call
    this.byLane = new Map();  // lane -> bytes over the columns drawn
  }

  goTo(event) {
    const {regions} = this.run;
    for (; this.at < regions.event.length && regions.event[this.at] <= event; ++this.at) {
      applyCall(regions, this.at, this.whole, this.mapped);
    }
  }

  each(use) {
    const {lane} = this.run.regions;
    for (const held of [this.whole, this.mapped]) {
      for (const [from, {number, to}] of held) {
        use(number, to - from);
        this.byLane.set(lane[number], (this.byLane.get(lane[number]) || 0) + to - from);
      }
    }
  }

  colour(number) {
    return this.colourOfLane(this.run.regions.lane[number]);
  }
  colourOfLane(lane) {
    return lane ? kPalette[(lane - 1) % kPalette.length] : greyOfOthers();
  }

  subject(number, event) {
    const from = this.run.regions.address[number];
    const region =
        this.run.memoryAt(event).regions.find((one) => one.from <= from && from < one.to);
    return region ? {kind: "segment", region, event} : null;
  }

  legend() {
    const {trace} = this.run;
    const entries =
        [...this.byLane].sort((a, b) => b[1] - a[1]).map(([lane, area]) => ({
                                                           colour: this.colourOfLane(lane),
                                                           name: lane ? trace.laneInFull(lane - 1) :
                                                                        "stream not known",
                                                           area,
                                                         }));
    return {entries, total: entries.reduce((sum, {area}) => sum + area, 0)};
  }
}
