"use strict";
// What is said in words beside the pictures: the block under the pointer, the memory at an event, search.

const kMostPlaces = 15, kMostFound = 60;

function describeBlock(page, run, block, event) {
  const {trace} = run;
  const born = trace.born[block] < 0 ? "before the recording" : `event ${humanCount(trace.born[block])}`;
  const freed = trace.requestedFree[block] === kNever ? "never" : `event ${humanCount(trace.requestedFree[block])}`;
  const facts = [
    ["size", `${humanSize(trace.size[block])} (${humanCount(trace.size[block])} B), ${humanCount(run.charged[block])} B with rounding`],
    ["address", run.isPlaced(block) ? run.address(run.place[block]) : "not served"],
    ["allocated", born],
    ["freed", freed + (event !== null && run.isPending(block, event) && run.completed[block] > event ? ", pending: another stream may still use it" : "")],
    ["from", trace.laneName(trace.lane[block])],
    ["place", trace.placeName(block)],
  ];
  if (trace.tag[block]) facts.push(["tag", trace.names.texts[trace.tag[block]]]);
  const list = element("dl");
  for (const [name, value] of facts) list.append(element("dt", {}, name), element("dd", {}, value));
  const lines = trace.stackLines(block);
  return [list, element("pre", {class: "stack"}, lines.length ? lines.join("\n") : "no stack recorded")];
}

// Sums by code place, most bytes first.
function sumsByPlace(trace, blocks, bytesOf) {
  const sums = new Map();
  for (const block of blocks) {
    const name = trace.placeName(block), sum = sums.get(name) || {bytes: 0, blocks: 0};
    sum.bytes += bytesOf(block);
    ++sum.blocks;
    sums.set(name, sum);
  }
  return [...sums].sort((a, b) => b[1].bytes - a[1].bytes);
}

function describeMemory(page, run, memory) {
  const {trace} = run, event = memory.event, i = Math.max(event - trace.from, 0);
  const live = memory.blocks.filter((block) => !run.isPending(block, event));
  const pending = memory.blocks.filter((block) => run.isPending(block, event));
  const sum = (blocks, of) => blocks.reduce((total, block) => total + of(block), 0);
  const free = memory.regions.reduce((total, region) => total + region.free, 0);
  const largest = Math.max(0, ...memory.regions.flatMap((region) => region.holes.map(([from, to]) => to - from)));
  byId("memory-facts").textContent =
    `After event ${humanCount(event)}${page.timeText(event)}: ${plural(live.length, "live block")} of ${humanSize(run.requested[i])}, ` +
    `${humanSize(run.allocated[i])} with rounding; ${humanSize(run.reserved[i])} reserved in ${plural(memory.regions.length, "segment")}; ` +
    `${humanSize(free)} free inside them, largest hole ${humanSize(largest)}; ${humanSize(sum(pending, (b) => run.charged[b]))} pending.` +
    (memory.hiddenRegions ? ` Drawn are the ${humanCount(kMostRows)} largest segments; ${humanCount(memory.hiddenRegions)} are left out.` : "");
  byId("memory").setAttribute("aria-label", byId("memory-facts").textContent);
  const places = sumsByPlace(trace, live, (block) => trace.size[block]);
  fillTable(byId("live-places"), places.slice(0, kMostPlaces).map(([name, {bytes, blocks}]) => [name, humanSize(bytes), humanCount(blocks)]));
  byId("live-rest").textContent = places.length > kMostPlaces ? `and ${plural(places.length - kMostPlaces, "more place")}` : "";
  const pinning = memory.regions.filter((region) => region.oldest >= 0 && region.free > 0 && !region.mapped);
  const freeBeside = new Map(pinning.map((region) => [region.oldest, region.free]));
  const pins = sumsByPlace(trace, freeBeside.keys(), (block) => freeBeside.get(block));
  fillTable(byId("pin-places"), pins.slice(0, kMostPlaces).map(([name, {bytes, blocks}]) => [name, humanSize(bytes), humanCount(blocks)]));
}

// Blocks whose stack, place or tag has the text, or that lay at the address.
function foundBlocks(run, text) {
  const {trace} = run, found = new Uint8Array(trace.blocks);
  const wanted = text.toLowerCase();
  if (/^0x[0-9a-f]+$/.test(wanted)) {
    const at = Number(BigInt(wanted) - BigInt(run.data.base));
    for (let block = 0; block < trace.blocks; ++block) {
      found[block] = run.isPlaced(block) && run.place[block] <= at && at < run.place[block] + run.charged[block];
    }
    return found;
  }
  const has = (name) => name.toLowerCase().includes(wanted);
  const frames = trace.names.frames.map(has);
  const stacks = trace.names.stacks.map((stack, i) => stack.some((frame) => frames[frame]) || has(trace.names.places[trace.names.place_of_stack[i]]));
  const tags = trace.names.texts.map((tag) => tag !== "" && has(tag));
  for (let block = 0; block < trace.blocks; ++block) found[block] = stacks[trace.stack[block]] || tags[trace.tag[block]];
  return found;
}

function describeFound(page, run, found) {
  const blocks = [];
  let count = 0, bytes = 0;
  found.forEach((is, block) => {
    if (!is) return;
    ++count;
    bytes += run.trace.size[block];
    if (blocks.length < kMostFound) blocks.push(block);
  });
  byId("found-facts").textContent = `${plural(count, "block")} found, ${humanSize(bytes)} requested altogether` +
    (count > kMostFound ? `; the first ${kMostFound} are listed` : "");
  byId("found-list").replaceChildren(...blocks.map((block) => {
    const born = Math.max(run.trace.born[block], run.trace.from);
    return element("li", {}, element("button", {type: "button", onclick: () => page.choose(born)},
      `event ${humanCount(born)}: ${humanSize(run.trace.size[block])} ${run.trace.placeName(block)}`));
  }));
}
