"use strict";
// The active-memory timeline: for every column of pixels the blocks that are live at its highest event,
// the oldest at the bottom, each as high as its bytes.

class BlockTimeline {
  constructor(page, canvas) {
    this.page = page;
    this.canvas = canvas;
    canvas.addEventListener("mousemove", (event) => {
      const block = this.blockUnder(event);
      page.showBlock(block, block >= 0 ? this.eventUnder(event) : null);
    });
    canvas.addEventListener("mouseleave", () => page.showBlock(-1, null));
    canvas.addEventListener("click", (event) => page.choose(this.eventUnder(event)));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      page.zoom(event.deltaY < 0 ? 0.7 : 1 / 0.7, this.eventUnder(event));
    }, {passive: false});
  }

  draw() {
    const {page} = this, run = page.run();
    const {context, width, height, ratio} = prepared(this.canvas, 280);
    this.left = page.area ? page.area.x : 72;
    this.width = Math.max(width - this.left - 8, 10);
    this.columns = Math.round(this.width * ratio);
    this.rows = Math.round((height - 22) * ratio);
    this.ratio = ratio;
    this.under = null;
    context.clearRect(0, 0, width, height);
    if (!run) return;
    this.paintColumns(context, run);
    this.label(context, height);
  }

  // The event shown by every column: that of the most allocated bytes in it. -1: outside the details.
  eventsOfColumns(run) {
    const {page} = this, [low, high] = page.xView();
    const events = new Int32Array(this.columns).fill(-1);
    for (let column = 0; column < this.columns; ++column) {
      const from = page.eventAtX(low + ((high - low) * column) / this.columns);
      const to = Math.max(page.eventAtX(low + ((high - low) * (column + 1)) / this.columns), from + 1);
      let best = -1;
      for (let event = Math.max(from, run.trace.from); event < Math.min(to, run.trace.to); ++event) {
        if (best < 0 || run.allocated[event - run.trace.from] > run.allocated[best - run.trace.from]) best = event;
      }
      events[column] = best;
    }
    return events;
  }

  paintColumns(context, run) {
    const {trace} = run, {page} = this;
    this.events = this.eventsOfColumns(run);
    this.top = 1;
    for (const event of this.events) if (event >= 0) this.top = Math.max(this.top, run.allocated[event - trace.from]);
    this.top *= 1.02;
    this.under = new Int32Array(this.columns * this.rows).fill(-1);
    const live = new LiveList(run);
    for (let column = 0; column < this.columns; ++column) {
      const event = this.events[column];
      if (event < 0) continue;
      if (column && event === this.events[column - 1]) {
        for (let row = 0; row < this.rows; ++row) this.under[row * this.columns + column] = this.under[row * this.columns + column - 1];
        continue;
      }
      live.goTo(event);
      let bytes = 0, row = 0;
      for (let block = live.next[live.head]; block !== live.head; block = live.next[block]) {
        bytes += run.charged[block];
        const until = Math.min(Math.round((bytes / this.top) * this.rows), this.rows);
        for (; row < until; ++row) this.under[(this.rows - 1 - row) * this.columns + column] = block;
      }
    }
    this.putImage(context, page.colouring(), page.matches);
  }

  putImage(context, colouring, matches) {
    const image = context.createImageData(this.columns, this.rows);
    const pixels = new Uint32Array(image.data.buffer);
    const pixelOfBlock = new Map();
    const faded = pixelOf(isDark() ? [60, 64, 70] : [214, 216, 220]);
    for (let i = 0; i < pixels.length; ++i) {
      const block = this.under[i];
      if (block < 0) continue;
      let pixel = pixelOfBlock.get(block);
      if (pixel === undefined) {
        pixel = matches && !matches[block] ? faded : colouring.pixel(block);
        pixelOfBlock.set(block, pixel);
      }
      // A darker line where another block begins above it, as far as both are to be seen.
      const above = i >= this.columns ? this.under[i - this.columns] : -1;
      const below = i + this.columns < pixels.length ? this.under[i + this.columns] : -1;
      pixels[i] = above !== block && below === block ? darker(pixel) : pixel;
    }
    context.putImageData(image, Math.round(this.left * this.ratio), 0);
  }

  label(context, height) {
    const {page} = this;
    context.fillStyle = themeColour("text");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    for (const bytes of binaryTicks(this.top, 6)) {
      context.fillText(humanSize(bytes), this.left - 5, Math.max((height - 22) * (1 - bytes / this.top) + 3, 9));
    }
    const [low, high] = page.xView();
    for (let part = 0; part <= 4; ++part) {
      context.textAlign = part === 0 ? "left" : part === 4 ? "right" : "center";
      context.fillText(page.xText(low + ((high - low) * part) / 4), this.left + (this.width * part) / 4, height - 6);
    }
    const x = this.left + ((page.xOf(page.event) - low) / (high - low)) * this.width;
    if (x >= this.left && x <= this.left + this.width) {
      context.fillStyle = themeColour("cursor");
      context.fillRect(x - 1, 0, 2, height - 22);
    }
  }

  columnUnder(event) {
    return Math.min(Math.max(Math.floor((event.offsetX - this.left) * this.ratio), 0), this.columns - 1);
  }
  eventUnder(event) {
    const shown = this.events ? this.events[this.columnUnder(event)] : -1;
    const [low, high] = this.page.xView();
    return shown >= 0 ? shown : this.page.eventAtX(low + ((high - low) * (event.offsetX - this.left)) / this.width);
  }
  blockUnder(event) {
    const row = Math.floor(event.offsetY * this.ratio);
    if (!this.under || row >= this.rows || event.offsetX < this.left) return -1;
    return this.under[row * this.columns + this.columnUnder(event)];
  }
}

function darker(pixel) {
  return ((255 << 24) | (((pixel >> 16) & 255) * 0.72 << 16) | (((pixel >> 8) & 255) * 0.72 << 8) | ((pixel & 255) * 0.72)) >>> 0;
}

// The live blocks of a run by age, carried from event to event.
class LiveList {
  constructor(run) {
    this.run = run;
    this.head = run.trace.blocks;
    this.next = new Int32Array(run.trace.blocks + 1);
    this.previous = new Int32Array(run.trace.blocks + 1);
    this.next[this.head] = this.previous[this.head] = this.head;
    this.at = run.trace.from;  // the next event to be played
    for (let block = 0; block < run.trace.early; ++block) {
      if (run.isPlaced(block) && run.trace.requestedFree[block] >= run.trace.from) this.add(block);
    }
  }

  add(block) {
    const last = this.previous[this.head];
    this.next[last] = block;
    this.previous[block] = last;
    this.next[block] = this.head;
    this.previous[this.head] = block;
  }

  // To the moment after an event that is not before the last one.
  goTo(event) {
    const {trace} = this.run;
    for (; this.at <= event; ++this.at) {
      const i = this.at - trace.from, block = trace.blockOf[i], op = trace.op[i];
      if (block < 0 || op === kOps.freeCompleted || !this.run.isPlaced(block)) continue;
      if (op === kOps.allocate) {
        this.add(block);
      } else {
        this.next[this.previous[block]] = this.next[block];
        this.previous[this.next[block]] = this.previous[block];
      }
    }
  }
}
