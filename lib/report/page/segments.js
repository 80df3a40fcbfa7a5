"use strict";
// The memory after one event: a row for every region held from the device, with its blocks, their
// rounding tails, holes, and what is pending. Regions longer than a line go on in the next one.

const kMostRows = 1500;

class SegmentMap {
  constructor(page, canvas) {
    this.page = page;
    this.canvas = canvas;
    canvas.addEventListener("mousemove", (event) => page.showBlock(this.blockUnder(event), page.event));
    canvas.addEventListener("mouseleave", () => page.showBlock(-1, null));
  }

  // Returns the memory drawn, with the number of regions left out.
  draw(run) {
    const {page} = this;
    this.boxes = [];
    const memory = run.memoryAt(page.event);
    const shown = this.chosenRegions(memory.regions);
    const total = shown.reduce((sum, region) => sum + region.to - region.from, 0);
    const largest = shown.reduce((most, region) => Math.max(most, region.to - region.from), 1);
    const perRow = Math.max(Math.min(largest, Math.max(total / 24, 64 * kMiB)), 1);
    const lines = shown.flatMap((region) => this.linesOf(region, perRow));
    this.rowHeight = Math.max(Math.min(20, Math.floor(440 / Math.max(lines.length, 1))), 7);
    const {context, width} = prepared(this.canvas, Math.max(lines.length * this.rowHeight, 30));
    context.clearRect(0, 0, width, lines.length * this.rowHeight);
    this.left = 150;
    this.scale = (width - this.left - 8) / perRow;
    lines.forEach((line, row) => this.drawLine(context, run, line, row));
    memory.hiddenRegions = memory.regions.length - shown.length;
    return memory;
  }

  chosenRegions(regions) {
    const bySize = byId("segment-order").value === "size";
    const largest = [...regions].sort((a, b) => b.to - b.from - (a.to - a.from));
    if (bySize) return largest.slice(0, kMostRows);
    if (regions.length <= kMostRows) return regions;
    const kept = new Set(largest.slice(0, kMostRows));
    return regions.filter((region) => kept.has(region));
  }

  linesOf(region, perRow) {
    const lines = [];
    for (let from = region.from; from < region.to; from += perRow) {
      lines.push({region, from, to: Math.min(from + perRow, region.to)});
    }
    return lines;
  }

  drawLine(context, run, {region, from, to}, row) {
    const y = row * this.rowHeight, h = this.rowHeight - (this.rowHeight > 9 ? 3 : 1);
    const x = (offset) => this.left + (offset - from) * this.scale;
    context.fillStyle = themeColour("hole");
    context.fillRect(x(from), y, Math.max((to - from) * this.scale, 1), h);
    const colouring = this.page.colouring(), {matches} = this.page;
    for (const block of region.blocks) {
      const start = run.place[block], end = start + run.charged[block];
      if (end <= from || start >= to) continue;
      const left = x(Math.max(start, from)), right = x(Math.min(end, to));
      const used = x(Math.min(Math.max(start + run.trace.size[block], from), to));
      context.fillStyle = matches && !matches[block] ? themeColour("faded") : colouring.css(block);
      context.fillRect(left, y, Math.max(right - left, 0.5), h);
      if (right - used >= 1) {
        context.fillStyle = themeColour("tail");
        context.fillRect(used, y, right - used, h);
      }
      if (run.isPending(block, this.page.event)) this.hatch(context, left, y, right - left, h);
      if (right - left > 2) {
        context.fillStyle = "rgba(0,0,0,0.35)";
        context.fillRect(right - 0.7, y, 0.7, h);
      }
      if (byId("show-pins").checked && region.oldest === block && region.free > 0) {
        context.strokeStyle = themeColour("pin");
        context.lineWidth = 2;
        context.strokeRect(left + 1, y + 1, Math.max(right - left - 2, 2), h - 2);
      }
      this.boxes.push({left, right: Math.max(right, left + 1), top: y, bottom: y + h, block});
    }
    if (from !== region.from || this.rowHeight < 9) return;
    context.fillStyle = themeColour("text");
    context.font = "10px ui-monospace, monospace";
    context.textAlign = "left";
    context.fillText(`${run.address(region.from)} ${humanSize(region.to - region.from)}`.slice(-26), 2, y + Math.min(h, 11));
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

  blockUnder(event) {
    const box = this.boxes.find(({left, right, top, bottom}) =>
      event.offsetX >= left && event.offsetX < right && event.offsetY >= top && event.offsetY < bottom);
    return box ? box.block : -1;
  }
}
