"use strict";
// The curves of a run: all of the trace reduced beforehand, exact at its extremes, and every event of
// the part in view where the page carries it.

// Events of [from, to) at which something is lowest or highest, at most five for each of `buckets`.
function tellingEvents(run, from, to, buckets) {
  const events = [];
  const {allocated, reserved} = run, offset = run.trace.from;
  const step = Math.max((to - from) / buckets, 1);
  for (let bucket = 0; from + bucket * step < to; ++bucket) {
    const first = Math.floor(from + bucket * step), last = Math.min(Math.floor(from + (bucket + 1) * step), to) - 1;
    let low = first, high = first, most = first;
    for (let event = first + 1; event <= last; ++event) {
      const here = allocated[event - offset];
      if (here < allocated[low - offset]) low = event;
      if (here > allocated[high - offset]) high = event;
      if (reserved[event - offset] > reserved[most - offset]) most = event;
    }
    events.push(...[...new Set([first, low, high, most, last])].filter((event) => event <= last).sort((a, b) => a - b));
  }
  return events;
}

// The value of a reduced curve after an event.
function valueAt(curve, event) {
  const behind = firstIndex(curve.events.length, (i) => curve.events[i] > event);
  return behind ? curve.values[behind - 1] : 0;
}

class CurveChart {
  // `page`: see page.js. Rows are [x, requested, allocated, reserved, reserved of the others …].
  constructor(page, host) {
    this.page = page;
    this.host = host;
  }

  draw() {
    const {page} = this;
    const names = page.device.runs.map((run, i) => (i === page.runNumber ? null : `reserved by ${i + 1}`)).filter(Boolean);
    this.labels = ["x", "requested", "allocated", "reserved", ...names];
    const series = {
      requested: {color: themeColour("requested"), strokeWidth: 1, strokePattern: [2, 2]},
      allocated: {color: themeColour("allocated"), strokeWidth: 1.5},
      reserved: {color: themeColour("reserved"), strokeWidth: 2},
    };
    names.forEach((name, i) => {
      series[name] = {color: themeColour("other"), strokeWidth: 1, strokePattern: [7, 3, ...Array(i).fill([1, 3]).flat()]};
    });
    if (this.chart) this.chart.destroy();
    this.chart = new Dygraph(this.host, this.rows(), {
      labels: this.labels, series, stepPlot: true, legend: "never", includeZero: true, animatedZooms: false,
      interactionModel: Dygraph.defaultInteractionModel, axisLabelWidth: 72, rangeSelectorHeight: 34,
      gridLineColor: themeColour("grid"), axisLineColor: themeColour("grid"),
      showRangeSelector: true, rangeSelectorPlotStrokeColor: themeColour("allocated"), rangeSelectorPlotFillColor: themeColour("gap"),
      rangeSelectorAlpha: 0.55, highlightCircleSize: 3, xRangePad: 2, dateWindow: page.xView(),
      axes: {x: {axisLabelFormatter: (x) => page.xText(x), drawGrid: false}, y: {labelsKMG2: true, axisLabelFormatter: (bytes) => humanSize(bytes)}},
      underlayCallback: (canvas, area, chart) => this.underlay(canvas, area, chart),
      highlightCallback: (event, x) => page.hover(page.eventAtX(x)),
      unhighlightCallback: () => page.hover(null),
      clickCallback: (event, x) => page.choose(page.eventAtX(x)),
      zoomCallback: (low, high) => page.show(page.eventAtX(low), page.eventAtX(high) + 1),
      drawCallback: (chart, first) => { if (!first) this.panned(chart); },
    });
  }

  // Panning and the range selector move the window without a zoom.
  panned(chart) {
    const [low, high] = chart.xAxisRange();
    const [from, to] = this.page.xView();
    if (Math.abs(low - from) + Math.abs(high - to) < 1e-9 * Math.max(Math.abs(high), 1)) return;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.page.show(this.page.eventAtX(low), this.page.eventAtX(high) + 1), 80);
  }

  refresh() {
    this.chart.updateOptions({file: this.rows(), dateWindow: this.page.xView()});
  }

  redraw() {
    this.chart.updateOptions({dateWindow: this.page.xView()});
  }

  rows() {
    return (this.latest = this.madeRows());
  }

  madeRows() {
    const {page} = this;
    const curves = page.curves();
    const own = curves[page.runNumber], others = curves.filter((_, i) => i !== page.runNumber);
    const coarse = [...new Set([...own.requested.events, ...own.allocated.events, ...own.reserved.events, ...others.flatMap((o) => [...o.reserved.events]), 0, page.events - 1])]
      .sort((a, b) => a - b);
    const row = (event, values) => [page.xOf(event), ...values, ...others.map((other) => valueAt(other.reserved, event))];
    const roughly = (event) => row(event, [valueAt(own.requested, event), valueAt(own.allocated, event), valueAt(own.reserved, event)]);
    const run = page.run();
    const [from, to] = page.view;
    if (!run || to <= run.trace.from || from >= run.trace.to) return coarse.map(roughly);
    const first = Math.max(from, run.trace.from), last = Math.min(to, run.trace.to);
    const exactly = (event) => {
      const i = event - run.trace.from;
      return row(event, [run.requested[i], run.allocated[i], Math.max(run.reserved[i], run.within.get(event) || 0)]);
    };
    return [
      ...coarse.filter((event) => event < first).map(roughly),
      ...[...new Set([...tellingEvents(run, first, last, 1200), ...[...run.within.keys()].filter((e) => e >= first && e < last)])].sort((a, b) => a - b).map(exactly),
      ...coarse.filter((event) => event >= last).map(roughly),
    ];
  }

  underlay(canvas, area, chart) {
    const {page} = this;
    page.area = {x: area.x, width: area.w};
    this.shadeGap(canvas, chart);
    this.markPhases(canvas, area, chart);
    const mark = (event, colour, text, y) => {
      const x = chart.toDomXCoord(page.xOf(event));
      if (x < area.x || x > area.x + area.w) return;
      canvas.strokeStyle = canvas.fillStyle = colour;
      canvas.beginPath();
      canvas.moveTo(x, area.y);
      canvas.lineTo(x, area.y + area.h);
      canvas.stroke();
      if (text) canvas.fillText(text, Math.min(x + 3, area.x + area.w - 30), area.y + y);
    };
    canvas.save();
    canvas.font = "11px system-ui, sans-serif";
    canvas.lineWidth = 1;
    const run = page.device.runs[page.runNumber];
    canvas.setLineDash([2, 3]);
    for (const event of run.retries.slice(0, 500)) mark(event, themeColour("retry"), run.retries.length < 30 ? "retry" : "", 34);
    canvas.setLineDash([]);
    for (const [event] of run.ooms.slice(0, 500)) mark(event, themeColour("oom"), run.ooms.length < 30 ? "OOM" : "", 22);
    canvas.lineWidth = 2;
    mark(page.event, themeColour("cursor"), "", 0);
    canvas.restore();
  }

  shadeGap(canvas, chart) {
    const rows = this.latest;
    canvas.save();
    canvas.fillStyle = themeColour("gap");
    canvas.beginPath();
    const point = (x, bytes) => canvas.lineTo(chart.toDomXCoord(x), chart.toDomYCoord(bytes));
    const [low, high] = chart.xAxisRange();
    const first = Math.max(firstIndex(rows.length, (i) => rows[i][0] > low) - 1, 0);
    const last = Math.min(firstIndex(rows.length, (i) => rows[i][0] > high), rows.length - 1);
    for (let i = first; i <= last; ++i) {
      if (i > first) point(rows[i][0], rows[i - 1][3]);
      point(rows[i][0], rows[i][3]);
    }
    for (let i = last; i >= first; --i) {
      point(rows[i][0], rows[i][2]);
      if (i > first) point(rows[i][0], rows[i - 1][2]);
    }
    canvas.fill();
    canvas.restore();
  }

  markPhases(canvas, area, chart) {
    const {page} = this;
    canvas.save();
    canvas.font = "11px system-ui, sans-serif";
    page.device.phases.slice(0, 400).forEach(([name, from, to, depth], i) => {
      const left = Math.max(chart.toDomXCoord(page.xOf(from)), area.x);
      const right = Math.min(chart.toDomXCoord(page.xOf(to)), area.x + area.w);
      if (right <= left || depth > 3) return;
      canvas.fillStyle = themeColour(i % 2 ? "phase-odd" : "phase-even");
      canvas.fillRect(left, area.y + depth * 13, right - left, 12);
      if (right - left < 30) return;
      canvas.fillStyle = themeColour("text");
      canvas.fillText(name.slice(0, Math.floor((right - left) / 6)), left + 3, area.y + depth * 13 + 10);
    });
    canvas.restore();
  }
}

class FragmentationChart {
  constructor(page, host) {
    this.page = page;
    this.host = host;
  }

  draw() {
    const {page} = this;
    const {events, values} = page.curves()[page.runNumber].fragmentation;
    if (this.chart) this.chart.destroy();
    this.chart = new Dygraph(this.host, Array.from(events, (event, i) => [page.xOf(event), values[i] / 1e4]), {
      labels: ["x", "external fragmentation"], stepPlot: true, fillGraph: true, legend: "never", valueRange: [0, 100], axisLabelWidth: 72,
      colors: [themeColour("reserved")], gridLineColor: themeColour("grid"), axisLineColor: themeColour("grid"), interactionModel: {},
      xRangePad: 2, dateWindow: page.xView(), highlightCircleSize: 0,
      axes: {x: {axisLabelFormatter: (x) => page.xText(x), drawGrid: false}, y: {axisLabelFormatter: (share) => `${share} %`, pixelsPerLabel: 25}},
    });
  }

  refresh() {
    this.chart.updateOptions({dateWindow: this.page.xView()});
  }
}
