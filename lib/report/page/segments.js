"use strict";
// The memory after one event: the segments held from the device, packed into rows of one length,
// with their blocks, the blocks' rounding, holes, and what is pending. A segment that is longer
// than a row goes on in the next one. Only the rows that are scrolled to are drawn.

const kRowHeight = 17;
const kMostMapHeight = 480;
const kRows = 24;      // about as many
const kBetween = 3;    // pixels
const kGapsOfRow = 8;  // so many are as good as no part of a row
const kLeastRow = 64 * kMiB;

class SegmentMap {
  constructor(page, canvas) {
    this.page = page;
    this.canvas = canvas;
    this.scroller = byId("memory-rows");
    this.boxes = [];
    this.rows = [];
    canvas.addEventListener("mousemove", (event) => page.point(this.subjectUnder(event)));
    canvas.addEventListener("mouseleave", () => page.point(null));
    canvas.addEventListener("click", (event) => {
      const subject = this.subjectUnder(event);
      if (subject) page.pin(subject);
    });
    this.scroller.addEventListener("scroll", () => this.drawRows());
  }

  // Returns the memory drawn.
  draw(run) {
    const memory = run.memoryAt(this.page.event);
    const shown = this.inOrder(memory.regions);
    const total = shown.reduce((sum, region) => sum + region.to - region.from, 0);
    this.run = run;
    this.perRow = Math.max(total / kRows, Math.min(total, kLeastRow), 1);
    this.measure();
    this.rows = this.packed(shown);
    const height = Math.max(this.rows.length * kRowHeight, 30);
    byId("memory-space").style.height = `${height}px`;
    this.height = Math.min(height, kMostMapHeight);
    this.drawRows();
    return memory;
  }

  inOrder(regions) {
    const order = byId("segment-order").value;
    const size = ({from, to}) => to - from;
    if (order === "size") return [...regions].sort((a, b) => size(b) - size(a));
    if (order === "stream") return [...regions].sort((a, b) => a.lane - b.lane);
    return regions;
  }

  // Rows of parts {region, from, to, at}: `at` is where a part begins in its row, in bytes.
  packed(regions) {
    const rows = [];
    const between = kBetween / this.scale;
    const length = this.perRow + kGapsOfRow * between;
    const byStream = byId("segment-order").value === "stream";
    let room = 0;
    let lane = null;
    for (const region of regions) {
      for (let {from} = region; from < region.to; from += this.perRow) {
        const to = Math.min(from + this.perRow, region.to);
        const begins = to - from > room || (byStream && region.lane !== lane);
        if (begins) rows.push([]);
        const at = begins ? 0 : length - room;
        rows[rows.length - 1].push({region, from, to, at});
        room = length - at - (to - from) - between;
        lane = region.lane;
      }
    }
    return rows;
  }

  // As wide as the charts above it; what stands in a row is said in the margin.
  measure() {
    this.width = this.scroller.clientWidth;
    const {x, width} = this.page.area;
    this.left = x;
    const pixels = Math.min(width, this.width - x - 2);
    this.scale = Math.max(pixels - kGapsOfRow * kBetween, 1) / this.perRow;
  }

  // A segment that goes on from the row above has said its size.
  labelOf(parts) {
    const [{region, from}] = parts;
    if (from > region.from && parts.length === 1) return "";
    if (parts.length === 1) return humanSize(region.to - region.from);
    const bytes = parts.reduce((sum, {from, to}) => sum + to - from, 0);
    return `${parts.length} · ${humanSize(bytes)}`;
  }

  drawRows() {
    if (!this.run) return;
    const {context} = prepared(this.canvas, this.width, this.height);
    this.boxes = [];
    this.top = this.scroller.scrollTop;
    const first = Math.floor(this.top / kRowHeight);
    const last = Math.min(Math.ceil((this.top + this.height) / kRowHeight), this.rows.length);
    for (let row = first; row < last; ++row) this.drawRow(context, this.rows[row], row);
  }

  drawRow(context, parts, row) {
    const y = row * kRowHeight - this.top;
    context.fillStyle = themeColour("quiet");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    context.fillText(this.labelOf(parts), this.left - 5, y + 11, this.left - 6);
    for (const line of parts) this.drawPart({context, line, y, h: kRowHeight - 3});
  }

  drawPart(strip) {
    const {context, line: {region, from, to}, y, h} = strip;
    const {left, right} = this.box(strip, from, to, {kind: "segment", region});
    context.fillStyle = themeColour("hole");
    context.fillRect(left, y, right - left, h);
    for (const hole of region.holes) {
      if (hole.to > from && hole.from < to) {
        this.box(strip, hole.from, hole.to, {kind: "hole", region, hole});
      }
    }
    this.drawBlocks(strip);
    context.strokeStyle = themeColour("edge");
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, y + 0.5, Math.max(right - left - 1, 1), h - 1);
  }

  // Where a subject is found again; the latest of those that lie over each other.
  box({line, y, h}, from, to, subject) {
    const left = this.xOf(line, from);
    const right = Math.max(this.xOf(line, to), left + 1);
    this.boxes.push({left, right, top: y, bottom: y + h, subject});
    return {left, right};
  }

  xOf({from, to, at}, offset) {
    return this.left + (Math.min(Math.max(offset, from), to) - from + at) * this.scale;
  }

  drawBlocks(strip) {
    const {run} = this;
    const {region, from, to} = strip.line;
    const {blocks} = region;
    const first =
        firstIndex(blocks.length, (i) => run.place[blocks[i]] + run.charged[blocks[i]] > from);
    for (let i = first; i < blocks.length && run.place[blocks[i]] < to; ++i) {
      this.drawBlock(strip, blocks[i]);
    }
  }

  drawBlock(strip, block) {
    const {run, page} = this;
    const {context, y, h} = strip;
    const start = run.place[block];
    const used = start + Math.min(run.trace.size[block], run.charged[block]);
    const end = start + run.charged[block];
    const {left, right} = this.box(strip, start, end, {kind: "block", block});
    context.fillStyle = cssColour(page.blockColour(block));
    context.fillRect(left, y, Math.max(right - left, 0.5), h);
    if (this.xOf(strip.line, end) - this.xOf(strip.line, used) >= 1) {
      const tail = this.box(strip, used, end, {kind: "rounding", block});
      context.fillStyle = themeColour("tail");
      context.fillRect(tail.left, y, tail.right - tail.left, h);
    }
    if (run.isPending(block, page.event)) this.hatch(context, left, y, right - left, h);
    if (right - left > 2) {
      context.fillStyle = "rgba(0,0,0,0.35)";
      context.fillRect(right - 0.7, y, 0.7, h);
    }
    this.frameBlock(strip, block, left, right);
  }

  frameBlock({context, y, h, line}, block, left, right) {
    const {region} = line;
    const pins = byId("show-pins").checked && region.oldest === block && region.free > 0;
    const isPinned = this.page.pinnedBlock() === block;
    if (!pins && !isPinned) return;
    context.strokeStyle = themeColour(isPinned ? "cursor" : "pin");
    context.lineWidth = 2;
    context.strokeRect(left + 1, y + 1, Math.max(right - left - 2, 2), h - 2);
  }

  hatch(context, left, top, width, height) {
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    context.strokeStyle = themeColour("text");
    context.lineWidth = 1;
    context.beginPath();
    for (let x = left - height; x < left + width; x += 5) {
      context.moveTo(x, top + height);
      context.lineTo(x + height, top);
    }
    context.stroke();
    context.restore();
  }

  subjectUnder({offsetX: x, offsetY: y}) {
    const holds = ({left, right, top, bottom}) => x >= left && x < right && y >= top && y < bottom;
    for (let i = this.boxes.length - 1; i >= 0; --i) {
      if (holds(this.boxes[i])) return {...this.boxes[i].subject, event: this.page.event};
    }
    return null;
  }
}
