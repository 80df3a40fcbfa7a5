"use strict";
// The memory after one event: a row for every region held from the device, with its blocks, their
// rounding, holes, and what is pending. Regions longer than a line go on in the next one. Only the
// rows that are scrolled to are drawn.

const kRowHeight = 15;
const kLabelRow = 13;
const kMostMapHeight = 480;
const kLabelFont = "10.5px ui-monospace, monospace";

class SegmentMap {
  constructor(page, canvas) {
    this.page = page;
    this.canvas = canvas;
    this.scroller = byId("memory-rows");
    this.boxes = [];
    this.lines = [];
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
    const largest = shown.reduce((most, region) => Math.max(most, region.to - region.from), 1);
    this.run = run;
    this.perRow = Math.max(Math.min(largest, Math.max(total / 24, 64 * kMiB)), 1);
    this.lines = shown.flatMap((region) => this.linesOf(region));
    this.measure();
    this.drawRows();
    return memory;
  }

  inOrder(regions) {
    if (byId("segment-order").value !== "size") return regions;
    return [...regions].sort((a, b) => b.to - b.from - (a.to - a.from));
  }

  linesOf(region) {
    const lines = [];
    for (let from = region.from; from < region.to; from += this.perRow) {
      lines.push({region, from, to: Math.min(from + this.perRow, region.to)});
    }
    return lines;
  }

  // Labels stand beside the rows where there is room, else above them.
  measure() {
    const width = this.scroller.clientWidth;
    this.labelsAbove = width < 700;
    this.left = this.labelsAbove ? 2 : Math.min(this.widestLabel() + 14, width / 2);
    this.rowHeight = kRowHeight + (this.labelsAbove ? kLabelRow : 0);
    const height = Math.max(this.lines.length * this.rowHeight, 30);
    byId("memory-space").style.height = `${height}px`;
    this.height = Math.min(height, kMostMapHeight);
    this.width = width;
    this.scale = (width - this.left - 8) / this.perRow;
  }

  widestLabel() {
    const context = this.canvas.getContext("2d");
    context.font = kLabelFont;
    const texts = [...new Set(this.lines.map(({region}) => region))].map((at) => this.labelOf(at));
    const longest = texts.reduce((most, text) => (text.length > most.length ? text : most), "");
    return context.measureText(longest).width;
  }

  labelOf(region) {
    const {run} = this;
    const size = humanSize(region.to - region.from).padStart(8);
    const lane = region.lane < 0 ? "" : run.trace.laneInFull(region.lane);
    return `${run.address(region.from)} ${size}  ${lane}`;
  }

  drawRows() {
    if (!this.run) return;
    const {context} = prepared(this.canvas, this.width, this.height);
    this.boxes = [];
    this.top = this.scroller.scrollTop;
    const first = Math.floor(this.top / this.rowHeight);
    const last = Math.min(Math.ceil((this.top + this.height) / this.rowHeight), this.lines.length);
    for (let row = first; row < last; ++row) this.drawLine(context, this.lines[row], row);
  }

  drawLine(context, line, row) {
    const {region, from, to} = line;
    const y = row * this.rowHeight - this.top + (this.labelsAbove ? kLabelRow : 0);
    const strip = {context, line, y, h: kRowHeight - 3};
    this.box(strip, from, to, {kind: "segment", region});
    context.fillStyle = themeColour("hole");
    context.fillRect(this.left, y, Math.max((to - from) * this.scale, 1), strip.h);
    for (const hole of region.holes) {
      if (hole.to > from && hole.from < to) {
        this.box(strip, hole.from, hole.to, {kind: "hole", region, hole});
      }
    }
    this.drawBlocks(strip);
    if (from === region.from) this.label(strip);
  }

  // Where a subject is found again; the latest of those that lie over each other.
  box({line, y, h}, from, to, subject) {
    const left = this.xOf(line, from);
    const right = Math.max(this.xOf(line, to), left + 1);
    this.boxes.push({left, right, top: y, bottom: y + h, subject});
    return {left, right};
  }

  xOf({from, to}, offset) {
    return this.left + (Math.min(Math.max(offset, from), to) - from) * this.scale;
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
    const found = !page.matches || page.matches[block];
    context.fillStyle = cssColour(found ? page.colouring().colour(block) : greyOfUnfound());
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

  label({context, line, y, h}) {
    const {region} = line;
    const top = this.labelsAbove ? y - kLabelRow : y;
    const right = this.labelsAbove ? this.width : this.left;
    this.boxes.push({left: 0, right, top, bottom: top + h, subject: {kind: "segment", region}});
    context.fillStyle = themeColour("text");
    context.font = kLabelFont;
    context.textAlign = "left";
    context.fillText(this.labelOf(region), 2, top + 9.5, right - 6);
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
