"use strict";
// The memory after one event: the segments held from the device in rows of one length, with their
// blocks, the blocks' rounding, holes, and what is pending. What is longer than the rest of a row
// goes on in the next one, so that every row is full. At an OOM the refused request stands above
// them, and what is free outside of them below. Only the rows that are scrolled to are drawn.

const kRowHeight = 17;
const kMostMapHeight = 640;
const kRows = 24;    // about as many
const kBetween = 2;  // pixels
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
    const shown = this.withRefused(run, this.inOrder(memory.regions));
    this.run = run;
    this.hole = memory.regions.reduce((most, region) => Math.max(most, region.largestHole), 0);
    this.byStream = byId("segment-order").value === "stream";
    this.perRow = rowLength(shown);
    this.rows = this.packed(shown);
    const height = Math.max(this.rows.length * kRowHeight, 30);
    byId("memory-space").style.height = `${height}px`;
    this.height = Math.min(height, kMostMapHeight);
    this.measure();
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

  // With what is no segment: the request refused by the event, and what is free for it outside.
  withRefused(run, regions) {
    const {event, device: {limit}} = this.page;
    const refused = run.data.ooms.find(([at]) => at === event);
    if (!refused || !refused[1]) return regions;
    const bar = (alone, to) => ({alone, from: 0, to, holes: [], blocks: []});
    const outside = Math.max((limit || 0) - run.reserved[event - run.trace.from], 0);
    const beyond = outside ? [bar("outside", outside)] : [];
    return [bar("request", refused[1]), ...regions, ...beyond];
  }

  // Rows of parts {region, from, to, at}: `at` is where a part begins in its row, in bytes.
  packed(regions) {
    const rows = [];
    let at = this.perRow;
    let last = {};
    for (const region of regions) {
      const apart = region.alone || last.alone || (this.byStream && region.lane !== last.lane);
      if (apart) at = this.perRow;
      for (let {from} = region; from < region.to;) {
        if (at >= this.perRow) {
          rows.push([]);
          at = 0;
        }
        const to = Math.min(from + this.perRow - at, region.to);
        rows[rows.length - 1].push({region, from, to, at});
        at += to - from;
        from = to;
      }
      last = region;
    }
    return rows;
  }

  // As wide as the charts above it; what stands in a row is said in the margin.
  measure() {
    this.width = this.scroller.clientWidth;
    const {x, width} = this.page.area;
    this.left = x;
    this.scale = Math.max(Math.min(width, this.width - x), 1) / this.perRow;
  }

  // What begins in the row.
  labelOf(parts) {
    const [{region: {alone}}] = parts;
    const begun = parts.filter(({region, from}) => from === region.from);
    if (!begun.length) return "";
    if (alone) return alone;
    const [size, ...others] = begun.map(({region: {from, to}}) => to - from);
    if (!others.length) return humanSize(size);
    const alike = others.every((other) => other === size);
    return `${begun.length} ${alike ? `× ${humanSize(size)}` : "segments"}`;
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
    if (region.alone) return this.drawAlone(strip);
    const {left, right} = this.box(strip, from, to, {kind: "segment", region});
    context.fillStyle = themeColour("hole");
    context.fillRect(left, y, right - left, h);
    for (const hole of region.holes) {
      if (hole.to > from && hole.from < to) {
        this.box(strip, hole.from, hole.to, {kind: "hole", region, hole});
      }
    }
    this.drawBlocks(strip);
    this.frame(strip, left, right);
  }

  // Open where the segment goes on in another row.
  frame({context, line: {region, from, to}, y, h}, left, right) {
    context.strokeStyle = themeColour("edge");
    context.lineWidth = 1;
    context.beginPath();
    for (const side of [y + 0.5, y + h - 0.5]) {
      context.moveTo(left, side);
      context.lineTo(right, side);
    }
    const ends = [from === region.from && left + 0.5, to === region.to && right - 0.5];
    for (const x of ends.filter(Boolean)) {
      context.moveTo(x, y);
      context.lineTo(x, y + h);
    }
    context.stroke();
  }

  drawAlone({context, line, y, h}) {
    const {region: {alone, from, to}} = line;
    const left = this.xOf(line, line.from);
    const width = this.xOf(line, line.to) - left;
    const isRequest = alone === "request";
    context.strokeStyle = context.fillStyle = themeColour(isRequest ? "oom" : "edge");
    context.globalAlpha = isRequest ? 0.3 : 0;
    context.fillRect(left, y, width, h);
    context.globalAlpha = 1;
    context.setLineDash(isRequest ? [] : [4, 3]);
    context.strokeRect(left + 0.5, y + 0.5, Math.max(width - 1, 1), h - 1);
    context.setLineDash([]);
    if (line.from > from) return;
    const said = isRequest ?
        `${humanSize(to)} refused; the largest hole is ${humanSize(this.hole)}` :
        `${humanSize(to)} free outside any segment`;
    const fits = context.measureText(said).width + 8 < width;
    context.fillStyle = themeColour("text");
    context.textAlign = "left";
    context.fillText(said, left + (fits ? 5 : width + 5), y + 11);
  }

  // Where a subject is found again; the latest of those that lie over each other.
  box({line, y, h}, from, to, subject) {
    const left = this.xOf(line, from);
    const ends = this.xOf(line, to);
    const between = to >= line.region.to ? Math.min(kBetween, (ends - left) / 3) : 0;
    const right = Math.max(ends - between, left + 1);
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

// Bytes of a row: near what makes kRows, where the fewest segments are cut that could be whole.
function rowLength(regions) {
  const sizes = regions.filter(({alone}) => !alone).map(({from, to}) => to - from);
  const total = regions.reduce((sum, {from, to}) => sum + to - from, 0);
  const usual = Math.ceil(Math.max(total / kRows, Math.min(total, kLeastRow), 1));
  const ends = [];
  sizes.reduce((sum, size) => (ends.push(sum + size), sum + size), 0);
  const cuts = (length) =>
      ends.filter((end, i) => {
            const begin = end - sizes[i];
            return sizes[i] <= length && Math.floor(begin / length) < Math.ceil(end / length) - 1;
          })
          .length;
  const near = ends.filter((end) => end > usual * 0.8 && end < usual * 1.4).slice(0, 64);
  return near.reduce((best, length) => (cuts(length) < cuts(best) ? length : best), usual);
}
