"use strict";
// Colours that stay apart for every kind of colour vision: those of Okabe and Ito, then darker ones
// of theirs. Lines differ in their dashes too, and carry numbers.

const kHues = [
  [0, 114, 178],
  [230, 159, 0],
  [0, 158, 115],
  [204, 121, 167],
  [86, 180, 233],
  [213, 94, 0],
  [240, 228, 66],
];
const kDarkerHues = [0, 1, 2, 3, 6].map((hue) => kHues[hue].map((part) => Math.round(part * 0.58)));
const kPalette = [...kHues, ...kDarkerHues];

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

function cssColour([red, green, blue]) {
  return `rgb(${red},${green},${blue})`;
}

// A background, and the text that is read on it.
function coloured([red, green, blue]) {
  const isLight = 0.299 * red + 0.587 * green + 0.114 * blue > 120;
  return `background:${cssColour([red, green, blue])};color:${isLight ? "#10151a" : "#ffffff"}`;
}

// As one number in the order of an image's bytes.
function pixelOf([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

function themeColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// What is not coloured for its own sake: all that covers little, and what a search did not find.
function greyOfOthers() {
  return isDark() ? [134, 142, 152] : [150, 157, 166];
}
function greyOfUnfound() {
  return isDark() ? [74, 80, 88] : [208, 212, 218];
}

const kSizeClasses = [
  "up to 512 B",
  "up to 32 KiB",
  "up to 1 MiB",
  "up to 10 MiB",
  "up to 100 MiB",
  "up to 1 GiB",
  "above",
];
const kSizeLimits = [512, 32 * kKiB, kMiB, 10 * kMiB, 100 * kMiB, kGiB];

function sizeClass(bytes) {
  const at = kSizeLimits.findIndex((limit) => bytes <= limit);
  return at < 0 ? kSizeLimits.length : at;
}

// What blocks can be coloured by: the key of a block, and the key's name.
const kColourings = {
  stack: {
    key: (trace, block) => trace.placeOf(block),
    name: (trace, key) => trace.names.places[key] || "(no stack recorded)",
  },
  category: {
    key: (trace, block) => trace.category(block),
    name: (trace, key) => trace.categoryName(key),
  },
  stream: {
    key: (trace, block) => trace.lane[block],
    name: (trace, key) => trace.laneName(key),
  },
  size: {
    key: (trace, block) => sizeClass(trace.size[block]),
    name: (trace, key) => kSizeClasses[key],
  },
};

// Keys of blocks by the area that they cover (bytes times events) of the part in view. Each of the
// first few has a colour of its own, the rest is grey.
class Colouring {
  constructor(run, kind) {
    this.run = run;
    this.kind = kColourings[kind];
    this.colours = new Map();  // key -> number in the palette
    this.order = [];           // [key, area], the largest first
  }

  arrange(from, to) {
    const areas = areasByKey(this.run, this.kind.key, from, to);
    this.order = [...areas].filter(([, area]) => area > 0).sort((a, b) => b[1] - a[1]);
    this.total = this.order.reduce((sum, [, area]) => sum + area, 0);
    this.shown = this.order.slice(0, kPalette.length);
    this.keepColours(this.shown.map(([key]) => key));
  }

  // What had a colour before keeps it while it is among the first.
  keepColours(keys) {
    const kept = new Map(keys.filter((key) => this.colours.has(key))
                             .map(
                                 (key) =>
                                     [key,
                                      this.colours.get(key),
    ]));
    const taken = new Set(kept.values());
    const free = kPalette.map((_, number) => number).filter((number) => !taken.has(number));
    for (const key of keys) {
      if (!kept.has(key)) kept.set(key, free.shift());
    }
    this.colours = kept;
  }

  colour(block) {
    return this.colourOfKey(this.kind.key(this.run.trace, block));
  }
  colourOfKey(key) {
    const number = this.colours.get(key);
    return number === undefined ? greyOfOthers() : kPalette[number];
  }

  legend() {
    const entries = this.shown.map(([key, area]) => ({
                                     colour: kPalette[this.colours.get(key)],
                                     name: this.kind.name(this.run.trace, key),
                                     area,
                                   }));
    const rest = this.order.slice(this.shown.length);
    if (!rest.length) return entries;
    const area = rest.reduce((sum, [, part]) => sum + part, 0);
    return [...entries, {colour: greyOfOthers(), name: plural(rest.length, "other"), area}];
  }
}

function areasByKey(run, keyOf, from, to) {
  const {trace} = run;
  const areas = new Map();
  for (let block = 0; block < trace.blocks; ++block) {
    if (!run.isPlaced(block)) continue;
    const begin = Math.max(trace.born[block], from);
    const events = Math.min(trace.requestedFree[block], to) - begin;
    if (events <= 0) continue;
    const key = keyOf(trace, block);
    areas.set(key, (areas.get(key) || 0) + events * run.charged[block]);
  }
  return areas;
}
