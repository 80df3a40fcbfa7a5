"use strict";
// Colours that stay apart for every kind of colour vision (Okabe and Ito), lighter and darker in turn
// where there are more things than colours. Lines differ in their dashes too, markers in their letters.

const kHues = [[0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0], [240, 228, 66]];
const kShades = [0, 0.35, -0.3, 0.6];

function paletteColour(number) {
  const hue = kHues[number % kHues.length];
  const shade = kShades[Math.floor(number / kHues.length) % kShades.length];
  return hue.map((part) => Math.round(shade < 0 ? part * (1 + shade) : part + (255 - part) * shade));
}

function cssColour([red, green, blue], alpha = 1) {
  return `rgba(${red},${green},${blue},${alpha})`;
}

// As one number in the order of an image's bytes.
function pixelOf([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

function themeColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const kSizeClasses = ["up to 512 B", "up to 32 KiB", "up to 1 MiB", "up to 10 MiB", "up to 100 MiB", "up to 1 GiB", "above"];
const kSizeLimits = [512, 32 * kKiB, kMiB, 10 * kMiB, 100 * kMiB, kGiB];

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
    key: (trace, block) => {
      const at = kSizeLimits.findIndex((limit) => trace.size[block] <= limit);
      return at < 0 ? kSizeLimits.length : at;
    },
    name: (trace, key) => kSizeClasses[key],
  },
};

// By number: what holds most comes first and gets the colours that are furthest apart.
class Colouring {
  constructor(trace, kind) {
    this.trace = trace;
    this.kind = kColourings[kind];
    const bytes = new Map();
    for (let block = 0; block < trace.blocks; ++block) {
      const key = this.kind.key(trace, block);
      bytes.set(key, (bytes.get(key) || 0) + trace.size[block]);
    }
    this.order = [...bytes].sort((a, b) => b[1] - a[1]).map(([key]) => key);
    this.numbers = new Map(this.order.map((key, number) => [key, number]));
    this.pixels = Uint32Array.from(this.order, (key, number) => pixelOf(paletteColour(number)));
  }

  number(block) {
    return this.numbers.get(this.kind.key(this.trace, block));
  }

  pixel(block) {
    return this.pixels[this.number(block)];
  }

  css(block) {
    return cssColour(paletteColour(this.number(block)));
  }

  legend(most) {
    return this.order.slice(0, most).map((key, number) => ({
      colour: cssColour(paletteColour(number)), name: this.kind.name(this.trace, key),
    }));
  }
}
