"use strict";
// The memory after the chosen event in words and tables.

const kMostPlaces = 15;

// Sums by code place, most bytes first.
function sumsByPlace(trace, blocks, bytesOf) {
  const sums = new Map();
  for (const block of blocks) {
    const name = trace.placeName(block);
    const sum = sums.get(name) || {bytes: 0, blocks: 0};
    sum.bytes += bytesOf(block);
    ++sum.blocks;
    sums.set(name, sum);
  }
  return [...sums].sort((a, b) => b[1].bytes - a[1].bytes);
}

function describeMemory(page, run, memory) {
  const isLive = (block) => !run.isPending(block, memory.event);
  const live = memory.blocks.filter(isLive);
  const text = memoryText(page, run, memory, live);
  byId("memory-facts").textContent = text;
  byId("memory").setAttribute("aria-label", text);
  fillPlaces(run.trace, live);
  fillPins(run.trace, memory.regions);
  return live;
}

function memoryText(page, run, {event, blocks, regions}, live) {
  const i = event - run.trace.from;
  const pending = blocks.filter((block) => run.isPending(block, event));
  const pendingBytes = pending.reduce((sum, block) => sum + run.charged[block], 0);
  const free = regions.reduce((sum, region) => sum + region.free, 0);
  const largest = regions.reduce((most, region) => Math.max(most, region.largestHole), 0);
  const when = page.hasHistory ? `After event ${humanCount(event)}${page.timeText(event)}: ` : "";
  return when + `${plural(live.length, "live block")} of ${humanSize(run.requested[i])}, ` +
      `${humanSize(run.allocated[i])} with rounding; ${humanSize(run.reserved[i])} reserved in ` +
      `${plural(regions.length, "segment")}; ${humanSize(free)} free inside them, largest hole ` +
      `${humanSize(largest)}; ${humanSize(pendingBytes)} pending.`;
}

function fillPlaces(trace, live) {
  const places = sumsByPlace(trace, live, (block) => trace.size[block]);
  fillSums(byId("live-places"), places);
  const rest = places.length - kMostPlaces;
  byId("live-rest").textContent = rest > 0 ? `and ${plural(rest, "more call site")}` : "";
}

function fillPins(trace, regions) {
  const pinning =
      regions.filter((region) => region.oldest >= 0 && region.free > 0 && !region.mapped);
  const freeBeside = new Map(pinning.map((region) => [region.oldest, region.free]));
  const pins = sumsByPlace(trace, freeBeside.keys(), (block) => freeBeside.get(block));
  byId("pins").hidden = !pins.length;
  fillSums(byId("pin-places"), pins);
}

function fillSums(body, sums) {
  const total = sums.reduce((sum, [, {bytes}]) => sum + bytes, 0);
  const row =
      ([name,
        {bytes, blocks}]) => [name, humanSize(bytes), humanShare(bytes, total), humanCount(blocks)];
  fillTable(body, sums.slice(0, kMostPlaces).map(row));
}
