"use strict";
// Numbers as the program's own reports write them, and small helpers for the page's elements.

const kKiB = 1024;
const kMiB = kKiB * 1024;
const kGiB = kMiB * 1024;

function humanCount(count) {
  return Math.round(count).toLocaleString("en-US");
}

function sizeUnit(bytes) {
  if (bytes >= 9999.5 * kMiB) return [kGiB, "GiB"];
  if (bytes >= kMiB) return [kMiB, "MiB"];
  return bytes >= kKiB ? [kKiB, "KiB"] : [1, "B"];
}

function humanSize(bytes) {
  const [unit, name] = sizeUnit(bytes);
  const value = bytes / unit;
  const text = value >= 99.95 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(1);
  return `${text} ${name}`;
}

// With the bytes themselves, where the short form leaves some out.
function exactSize(bytes) {
  return bytes < kKiB ? humanSize(bytes) : `${humanSize(bytes)} (${humanCount(bytes)} B)`;
}

function humanTime(us) {
  if (us >= 1e6) return `${(us / 1e6).toFixed(3)} s`;
  return us >= 1e3 ? `${(us / 1e3).toFixed(1)} ms` : `${us.toFixed(0)} µs`;
}

// A place on an axis of times up to `most`, with no more digits than it needs.
function roundTime(us, most) {
  const [unit, name] = most >= 1e6 ? [1e6, "s"] : most >= 1e3 ? [1e3, "ms"] : [1, "µs"];
  return us ? `${Number((us / unit).toPrecision(9))} ${name}` : "0";
}

function humanShare(part, whole) {
  const percent = (100 * part) / Math.max(whole, 1);
  return percent > 0 && percent < 0.05 ? "under 0.1 %" : `${percent.toFixed(1)} %`;
}

function plural(count, noun, nouns = `${noun}s`) {
  return `${humanCount(count)} ${count === 1 ? noun : nouns}`;
}

function byId(id) {
  return document.getElementById(id);
}

// An element with text or children; texts never become markup.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      made.addEventListener(name.slice(2), value);
    } else {
      made.setAttribute(name, value);
    }
  }
  made.append(...children);
  return made;
}

function fillTable(body, rows) {
  const cellsOf = (row) => row.map((cell) => element("td", {}, cell));
  body.replaceChildren(...rows.map((row) => element("tr", {}, ...cellsOf(row))));
}

// Steps of a power of two from 0 up to `most`, at most about as many as asked for.
function binaryStep(most, count) {
  let step = 1;
  while (most / step > count) step *= 2;
  return step;
}

// Places on an axis of bytes, all of them in the unit that makes each a whole number.
function binaryTicks(most, count) {
  const step = binaryStep(most, Math.max(count, 1));
  const units = [[kGiB, "GiB"], [kMiB, "MiB"], [kKiB, "KiB"], [1, "B"]];
  const [unit, name] = units.find(([size]) => step >= size);
  return Array.from({length: Math.floor(most / step) + 1}, (_, i) => {
    const text = i ? `${humanCount((i * step) / unit)} ${name}` : "0";
    return {bytes: i * step, text};
  });
}

// Places on another axis: 1, 2 or 5 times a power of ten apart, at least `finest`, at most about as
// many as asked for.
function decimalTicks(low, high, count, finest) {
  const least = Math.max((high - low) / Math.max(count, 1), finest, 1e-9);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= least);
  const first = Math.ceil(low / step);
  return Array.from({length: Math.floor(high / step) - first + 1}, (_, i) => (first + i) * step);
}

// The first index in [0, count) from which `holds` is true.
function firstIndex(count, holds) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// A canvas drawn in the pixels of the screen, as wide as asked for.
function prepared(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return {context, width, height, ratio};
}
