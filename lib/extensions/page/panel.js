"use strict";
// The panel over the pictures: what is under the pointer, at the other side of the screen, or what
// was pinned by a click.

class Panel {
  constructor(page) {
    this.page = page;
    this.pinned = null;
    byId("unpin").addEventListener("click", () => page.unpin());
    addEventListener("mousemove", ({clientX}) => {
      if (!this.pinned) byId("panel").classList.toggle("left", clientX > innerWidth / 2);
    }, {capture: true});
  }

  // Subjects: {kind: "block" | "rounding" | "hole" | "segment", event, …}; null: nothing.
  show(pointed) {
    const subject = this.page.run() && (this.pinned || pointed);
    byId("panel").classList.toggle("empty", !subject);
    byId("unpin").hidden = !this.pinned;
    byId("panel-title").textContent = this.titleOf(subject);
    byId("pointed").textContent = this.pinned && pointed ? this.brief(pointed) : "";
    if (this.pinned && this.drawn === this.pinned) return;
    this.drawn = this.pinned;
    byId("block-facts").replaceChildren(...this.describe(subject));
  }

  titleOf(subject) {
    if (!subject) return "";
    const what = {block: "Block", rounding: "Rounding", hole: "Hole", segment: "Segment"};
    return `${what[subject.kind]}${this.pinned ? ", pinned" : " under the pointer"}`;
  }

  describe(subject) {
    if (!subject) return [];
    const run = this.page.run();
    if (subject.kind === "hole") return [factList(holeFacts(run, subject))];
    if (subject.kind === "segment") return [factList(segmentFacts(run, subject))];
    const facts = blockFacts(run, subject);
    if (subject.kind === "rounding") facts.unshift(...roundingFacts(run, subject.block));
    return [factList(facts), stackOf(run.trace.framesOf(run.trace.stack[subject.block]))];
  }

  brief(subject) {
    const run = this.page.run();
    const {trace} = run;
    const {kind, block, hole, region} = subject;
    if (kind === "hole") return `under the pointer: a hole of ${humanSize(hole.to - hole.from)}`;
    if (kind === "segment") return `under the pointer: the segment at ${run.address(region.from)}`;
    return `under the pointer: ${humanSize(trace.size[block])} ${trace.placeName(block)}`;
  }
}

function factList(facts) {
  const parts = facts.flatMap(
      ([name, value]) =>
          [element("dt", {}, name),
           element("dd", {}, value),
  ]);
  return element("dl", {}, ...parts);
}

function roundingOf(run, block) {
  return run.charged[block] - run.trace.size[block];
}

function roundingFacts(run, block) {
  return [
    ["requested", exactSize(run.trace.size[block])],
    ["allocated", exactSize(run.charged[block])],
    ["lost to rounding", exactSize(roundingOf(run, block))],
  ];
}

function blockFacts(run, {block, event}) {
  const {trace} = run;
  const recorded = trace.recordedAddress(block);
  const facts = [
    ["size", sizeText(run, block)],
    ["place", trace.placeName(block)],
    ["allocated", birthText(trace, block)],
    ["freed", freeText(run, block, event)],
    ["from", trace.laneName(trace.lane[block])],
    ["lies at", run.isPlaced(block) ? run.address(run.place[block]) : "not served"],
  ];
  if (recorded !== null) facts.push(["recorded at", hexAddress(recorded)]);
  if (trace.tag[block]) facts.push(["tag", trace.names.texts[trace.tag[block]]]);
  return facts;
}

function sizeText(run, block) {
  const asked = exactSize(run.trace.size[block]);
  if (!run.isPlaced(block)) return asked;
  const rounding = roundingOf(run, block);
  return rounding ? `${asked}, with rounding ${exactSize(run.charged[block])}` : asked;
}

function birthText(trace, block) {
  if (trace.born[block] < 0) return "before the recording";
  return `event ${humanCount(trace.born[block])}`;
}

function freeText(run, block, event) {
  const freed = run.trace.requestedFree[block];
  if (freed === kNever) return "never";
  const text = freed < 0 ? "before the recording" : `event ${humanCount(freed)}`;
  const pending = run.isPending(block, event) && run.completed[block] > event;
  return pending ? `${text}, pending: another stream may still use it` : text;
}

function neighbourText(run, block, edge) {
  if (block < 0) return `the ${edge} of the segment`;
  return `${humanSize(run.charged[block])} of ${run.trace.placeName(block)}`;
}

function holeFacts(run, {region, hole, event}) {
  return [
    ["size", exactSize(hole.to - hole.from)],
    ["after event", humanCount(event)],
    ["lies at", `${run.address(hole.from)} to ${run.address(hole.to)}`],
    ["block below", neighbourText(run, hole.before, "beginning")],
    ["block above", neighbourText(run, hole.after, "end")],
    ["returnable", returnText(run, region)],
    ["in segment", `${run.address(region.from)}, ${humanSize(region.to - region.from)}`],
  ];
}

function returnText(run, region) {
  if (!region.blocks.length) return "yes: nothing lies in its segment";
  if (region.mapped) return "only pieces of the mapping that lie wholly in it, if any";
  const oldest = run.trace.placeName(region.oldest);
  return `no: ${plural(region.blocks.length, "block")} in its segment, the oldest of ${oldest}`;
}

function segmentFacts(run, {region, event}) {
  const facts = [
    ["lies at", run.address(region.from)],
    ["size", exactSize(region.to - region.from)],
    ["after event", humanCount(event)],
    ["for", region.lane < 0 ? "not known" : run.trace.laneInFull(region.lane)],
    ["obtained", region.mapped ? "mapped, in pieces" : "whole"],
    ["free", `${exactSize(region.free)} in ${plural(region.holes.length, "hole")}`],
    ["largest hole", humanSize(region.largestHole)],
    ["blocks", humanCount(region.blocks.length)],
  ];
  if (region.oldest >= 0) facts.push(["oldest block", run.trace.placeName(region.oldest)]);
  if (region.free) facts.push(["free part", `returnable: ${returnText(run, region)}`]);
  return facts;
}

// Innermost first. Frames that serve any program are folded, unless there are no others.
function stackOf(frames) {
  if (!frames.length) return element("p", {class: "quiet"}, "no stack recorded");
  const folds = frames.some(({noise}) => !noise);
  const stack = element("div", {class: "stack"});
  for (let at = 0; at < frames.length;) {
    const to = folds && frames[at].noise ? endOfNoise(frames, at) : at + 1;
    const lines = frames.slice(at, to).map(({text}) => element("div", {}, text));
    stack.append(frames[at].noise && folds ? folded(lines) : lines[0]);
    at = to;
  }
  return stack;
}

function endOfNoise(frames, from) {
  let to = from;
  while (to < frames.length && frames[to].noise) ++to;
  return to;
}

function folded(lines) {
  return element(
      "details", {}, element("summary", {}, `… ${plural(lines.length, "frame")}`), ...lines);
}
