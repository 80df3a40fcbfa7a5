"use strict";
// Search: an address finds what lay there, words find the blocks whose stack, place or tag has all
// of them.

const kMostFound = 60;

// What is looked for: {address: number or null, words: […]}. A decimal number may be either.
function wanted(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const [word] = words;
  if (words.length !== 1) return {address: null, words};
  if (/^0x[0-9a-f]{1,16}$/.test(word)) return {address: Number(BigInt(word)), words: []};
  if (/^[0-9]{4,19}$/.test(word)) return {address: Number(word), words};
  const isBareHex = /^[0-9a-f]{11,16}$/.test(word);
  return isBareHex ? {address: Number(BigInt(`0x${word}`)), words} : {address: null, words};
}

// Blocks found, each kind apart: {recorded, placed, worded, events}, and `any`: 1 for every block
// of one of them.
function found(run, text) {
  const {address, words} = wanted(text);
  const {trace} = run;
  const result =
      {recorded: [], placed: [], worded: [], events: [], any: new Uint8Array(trace.blocks)};
  if (address !== null) findAddress(run, address, result);
  if (words.length) result.worded = blocksWithWords(trace, words);
  for (const blocks of [result.recorded, result.placed, result.worded]) {
    for (const block of blocks) result.any[block] = 1;
  }
  return {...result, address, words};
}

function findAddress(run, address, result) {
  const {trace} = run;
  const at = address - Number(run.data.base);
  const holds = (from, block) => from <= address && address < from + extentOf(run, block);
  for (let block = 0; block < trace.blocks; ++block) {
    if (trace.hasAddresses && trace.address[block] && holds(trace.address[block], block)) {
      result.recorded.push(block);
    }
    const place = run.place[block];
    if (place >= 0 && place <= at && at < place + run.charged[block]) result.placed.push(block);
  }
  const {other} = trace;
  other.event.forEach((event, i) => {
    const from = other.address[i];
    const isSegment = trace.op[event - trace.from] >= kOps.segmentAlloc;
    if (isSegment && from && from <= address && address < from + other.size[i]) {
      result.events.push(event);
    }
  });
}

// An address in the rounding belongs to the block.
function extentOf(run, block) {
  return Math.max(run.trace.size[block], run.charged[block], 1);
}

function blocksWithWords(trace, words) {
  const hits = words.map((word) => stacksWith(trace, word));
  const tags =
      words.map((word) => trace.names.texts.map((tag) => tag.toLowerCase().includes(word)));
  const blocks = [];
  for (let block = 0; block < trace.blocks; ++block) {
    const stack = trace.stack[block];
    const tag = trace.tag[block];
    if (words.every((_, i) => hits[i][stack] || tags[i][tag])) blocks.push(block);
  }
  return blocks;
}

// By stack: whether one of its frames or its place has the word.
function stacksWith(trace, word) {
  const {frames, places, stacks, place_of_stack: placeOf} = trace.names;
  const has = (name) => name.toLowerCase().includes(word);
  const inFrames = frames.map(has);
  const inPlaces = places.map(has);
  return stacks.map((stack, i) => inPlaces[placeOf[i]] || stack.some((frame) => inFrames[frame]));
}

function foundText(run, result) {
  const {trace} = run;
  const parts = [];
  const sum = (blocks) => blocks.reduce((total, block) => total + trace.size[block], 0);
  const counted = (blocks) => `${plural(blocks.length, "block")} (${humanSize(sum(blocks))})`;
  if (result.address !== null) {
    const address = hexAddress(result.address);
    const recorded = `${counted(result.recorded)} recorded at ${address}`;
    parts.push(trace.hasAddresses ? recorded : "the recording has no addresses");
    if (result.events.length) {
      parts.push(`${plural(result.events.length, "event")} of recorded segments that hold it`);
    }
    parts.push(`${counted(result.placed)} there under ${run.data.name}`);
  }
  if (result.words.length) {
    const words = result.words.map((word) => `“${word}”`).join(" and ");
    parts.push(`${counted(result.worded)} with ${words} in stack, place or tag`);
  }
  return `${parts.join("; ")}.`;
}

function describeFound(page, run, result) {
  const blocks = [...new Set([...result.recorded, ...result.placed, ...result.worded])];
  const more = blocks.length > kMostFound ? ` The first ${kMostFound} are listed.` : "";
  byId("found-facts").textContent = foundText(run, result) + more;
  const events = result.events.slice(0, kMostFound).map((event) => foundEvent(page, run, event));
  const listed = blocks.slice(0, kMostFound).map((block) => foundBlock(page, run, block));
  byId("found-list").replaceChildren(...events, ...listed);
}

function foundItem(text, onclick) {
  return element("li", {}, element("button", {type: "button", class: "plain", onclick}, text));
}

function foundEvent(page, run, event) {
  const {op, size} = run.trace.factsOf(event);
  const text = `event ${humanCount(event)}: ${kOpNames[op]} ${humanSize(size)}`;
  return foundItem(text, () => page.choose(event, "jump"));
}

function foundBlock(page, run, block) {
  const {trace} = run;
  const born = Math.max(trace.born[block], trace.from);
  const when = trace.born[block] < 0 ? "before" : `event ${humanCount(born)}`;
  const text = `${when}: ${humanSize(trace.size[block])} ${trace.placeName(block)}`;
  return foundItem(text, () => {
    page.pin({kind: "block", block, event: born}, "with the event");
    page.choose(born, "jump");
  });
}
