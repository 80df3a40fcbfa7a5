"use strict";
// The timeline of what is held: for every column of pixels the blocks that are live at its highest
// event, or the segments, the oldest at the bottom, each as high as its bytes.

const kTimelineHeight = 280;
const kAxisHeight = 22;

class BlockTimeline {
  constructor(page, canvas) {
    this.page = page;
    this.canvas = canvas;
    canvas.addEventListener("mousemove", (event) => page.point(this.subjectUnder(event)));
    canvas.addEventListener("mouseleave", () => page.point(null));
    canvas.addEventListener("click", (event) => this.click(event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
  }

  click(event) {
    const subject = this.subjectUnder(event);
    const at = this.eventUnder(event);
    if (subject) this.page.pin(subject, "with the event");
    this.page.choose(at, "jump");
  }

  wheel(event) {
    event.preventDefault();
    this.page.zoom(event.deltaY < 0 ? 0.7 : 1 / 0.7, "step", this.eventUnder(event));
  }

  draw() {
    const run = this.page.run();
    this.measure();
    this.under = null;
    this.image = null;
    if (!run) return;
    this.areas =
        this.shows("segments") ? new SegmentAreas(this.page, run) : new BlockAreas(this.page, run);
    this.fillColumns(run);
    this.image = this.picture();
    this.redraw();
  }

  shows(kind) {
    return byId("areas").value === kind;
  }

  // As wide as the curves below it.
  measure() {
    const {page} = this;
    const width = this.canvas.parentElement.clientWidth;
    const {context, ratio} = prepared(this.canvas, width, kTimelineHeight);
    this.context = context;
    this.ratio = ratio;
    this.left = page.area.x;
    this.width = Math.max(page.area.width, 10);
    this.columns = Math.round(this.width * ratio);
    this.rows = Math.round((kTimelineHeight - kAxisHeight) * ratio);
  }

  // What is drawn anew when another event is chosen or another block is pinned.
  redraw() {
    if (!this.image) return;
    const {context} = this;
    context.clearRect(0, 0, this.canvas.width, kTimelineHeight);
    context.putImageData(this.image, Math.round(this.left * this.ratio), 0);
    this.outline(this.page.pinnedBlock());
    this.label();
    this.markChosen();
  }

  // The event shown by every column: that of the most allocated bytes in it. -1: no details of it.
  eventsOfColumns(run) {
    const {page} = this;
    const [low, high] = page.xView();
    const edge = (column) => page.eventAtX(low + ((high - low) * column) / this.columns);
    const events = new Int32Array(this.columns);
    for (let column = 0; column < this.columns; ++column) {
      const from = edge(column);
      const to = Math.max(edge(column + 1), from + 1);
      events[column] = highestEvent(run, this.areas.sums, from, to);
    }
    return events;
  }

  fillColumns(run) {
    this.events = this.eventsOfColumns(run);
    this.top = 1;
    for (const event of this.events) {
      if (event >= 0) this.top = Math.max(this.top, this.areas.sums[event - run.trace.from]);
    }
    this.top *= 1.02;
    this.under = new Int32Array(this.columns * this.rows).fill(-1);
    for (let column = 0; column < this.columns; ++column) {
      const event = this.events[column];
      if (event < 0) continue;
      if (column && event === this.events[column - 1]) {
        this.repeatColumn(column);
      } else {
        this.areas.goTo(event);
        this.fillColumn(column);
      }
    }
  }

  repeatColumn(column) {
    for (let row = 0; row < this.rows; ++row) {
      const at = row * this.columns + column;
      this.under[at] = this.under[at - 1];
    }
  }

  fillColumn(column) {
    let bytes = 0;
    let row = 0;
    this.areas.each((item, size) => {
      bytes += size;
      const until = Math.min(Math.round((bytes / this.top) * this.rows), this.rows);
      for (; row < until; ++row) this.under[(this.rows - 1 - row) * this.columns + column] = item;
    });
  }

  picture() {
    const image = this.context.createImageData(this.columns, this.rows);
    const pixels = new Uint32Array(image.data.buffer);
    const pixelOfItem = new Map();
    let last = -1;
    let pixel = 0;
    for (let i = 0; i < pixels.length; ++i) {
      const item = this.under[i];
      if (item < 0) continue;
      if (item !== last) {
        if (!pixelOfItem.has(item)) pixelOfItem.set(item, pixelOf(this.areas.colour(item)));
        pixel = pixelOfItem.get(item);
        last = item;
      }
      pixels[i] = this.endsAt(i, item) ? darker(pixel) : pixel;
    }
    return image;
  }

  // A darker line where another block begins above it, as far as both are to be seen.
  endsAt(i, block) {
    const above = i >= this.columns ? this.under[i - this.columns] : -1;
    const below = i + this.columns < this.under.length ? this.under[i + this.columns] : -1;
    return above !== block && below === block;
  }

  outline(block) {
    if (block < 0 || this.shows("segments")) return;
    const {context, ratio, columns} = this;
    context.fillStyle = themeColour("cursor");
    for (let i = 0; i < this.under.length; ++i) {
      if (this.under[i] !== block) continue;
      const isEdge = this.under[i - columns] !== block || this.under[i + columns] !== block ||
          this.under[i - 1] !== block || this.under[i + 1] !== block;
      if (!isEdge) continue;
      const x = this.left + (i % columns) / ratio;
      context.fillRect(x, Math.floor(i / columns) / ratio, 1.5 / ratio, 1.5 / ratio);
    }
  }

  label() {
    const {page, context} = this;
    const bottom = kTimelineHeight - kAxisHeight;
    context.fillStyle = themeColour("text");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    for (const {bytes, text} of binaryTicks(this.top, 6)) {
      context.fillText(text, this.left - 5, Math.max(bottom * (1 - bytes / this.top) + 3, 9));
    }
    context.fillText(page.axisName(), this.left - 5, kTimelineHeight - 6);
    const [low, high] = page.xView();
    for (const {v, label} of page.xTicks(low, high, this.width)) {
      const at = this.left + (this.width * (v - low)) / (high - low);
      const [toLeft, toRight] = [at - this.left, this.left + this.width - at];
      context.textAlign = toLeft < 24 ? "left" : toRight < 24 ? "right" : "center";
      context.fillText(label, at, kTimelineHeight - 6);
    }
  }

  markChosen() {
    const {page} = this;
    const [low, high] = page.xView();
    const x = this.left + ((page.xOf(page.event) - low) / (high - low)) * this.width;
    if (x < this.left || x > this.left + this.width) return;
    this.context.fillStyle = themeColour("cursor");
    this.context.fillRect(x - 1, 0, 2, kTimelineHeight - kAxisHeight);
  }

  columnUnder(event) {
    const column = Math.floor((event.offsetX - this.left) * this.ratio);
    return Math.min(Math.max(column, 0), this.columns - 1);
  }
  eventUnder(event) {
    const shown = this.under ? this.events[this.columnUnder(event)] : -1;
    const [low, high] = this.page.xView();
    const x = low + ((high - low) * (event.offsetX - this.left)) / this.width;
    return shown >= 0 ? shown : this.page.eventAtX(x);
  }
  subjectUnder(event) {
    const row = Math.floor(event.offsetY * this.ratio);
    if (!this.under || row >= this.rows || event.offsetX < this.left) return null;
    const item = this.under[row * this.columns + this.columnUnder(event)];
    return item < 0 ? null : this.areas.subject(item, this.eventUnder(event));
  }
}

function highestEvent({trace}, sums, from, to) {
  let best = -1;
  for (let event = Math.max(from, trace.from); event < Math.min(to, trace.to); ++event) {
    if (best < 0 || sums[event - trace.from] > sums[best - trace.from]) best = event;
  }
  return best;
}

function darker(pixel) {
  const part = (shift) => (((pixel >> shift) & 255) * 0.72) << shift;
  return ((255 << 24) | part(16) | part(8) | part(0)) >>> 0;
}

function drawBlockLegend(page) {
  const isSegments = page.timeline.shows("segments") && page.hasHistory;
  byId("blocks-title").textContent =
      isSegments ? "Cached memory, by segment" : "Active memory, by block";
  const run = page.run();
  const {entries, total} = !run ? {entries: [], total: 1} :
      isSegments                ? page.timeline.areas.legend() :
                                  {entries: page.colouring().legend(), total: page.colouring().total};
  byId("legend-title").textContent = entries.length && page.hasHistory ?
      "What covers most of the picture; shares are of all bytes over all events in view:" :
      "";
  byId("block-legend").replaceChildren(...entries.map(({colour, name, area}) => {
    const swatch = element("i", {class: "swatch", style: `background:${cssColour(colour)}`});
    const share = element("span", {class: "quiet"}, ` ${humanShare(area, total)}`);
    return element("li", {}, swatch, name, share);
  }));
}
