"use strict";
// Numbers as the program's own reports write them, and small helpers for the page's elements.

const kKiB = 1024, kMiB = kKiB * 1024, kGiB = kMiB * 1024;

function humanCount(count) {
  return Math.round(count).toLocaleString("en-US");
}

function humanSize(bytes) {
  const [unit, name] = bytes >= 9999.5 * kMiB ? [kGiB, "GiB"] : bytes >= kMiB ? [kMiB, "MiB"] : bytes >= kKiB ? [kKiB, "KiB"] : [1, "B"];
  const value = bytes / unit;
  const text = value >= 99.95 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(1);
  return `${text} ${name}`;
}

function humanTime(us) {
  return us >= 1e6 ? `${(us / 1e6).toFixed(3)} s` : us >= 1e3 ? `${(us / 1e3).toFixed(1)} ms` : `${us.toFixed(0)} µs`;
}

function plural(count, noun) {
  return `${humanCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function byId(id) {
  return document.getElementById(id);
}

// An element with text or children; texts never become markup.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function fillTable(body, rows) {
  body.replaceChildren(...rows.map((cells) => element("tr", {}, ...cells.map((cell) =>
    element("td", {}, cell)))));
}

// Round sizes from 0 up to `most`, at most about as many as asked for.
function binaryTicks(most, count) {
  let step = 1;
  while (most / step > count) step *= 2;
  return Array.from({length: Math.floor(most / step) + 1}, (_, i) => i * step);
}

// The first index in [0, count) from which `holds` is true.
function firstIndex(count, holds) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// A canvas drawn in the pixels of the screen, sized by its place in the page.
function prepared(canvas, height) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.parentElement.clientWidth;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return {context, width, height, ratio};
}
