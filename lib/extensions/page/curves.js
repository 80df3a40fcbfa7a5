"use strict";
// The curves of a run: all of the trace reduced beforehand, exact at its extremes, and every event
// of the part in view where the page carries it.

// Events of [from, to) at which something is lowest or highest, at most five for each of `buckets`.
function tellingEvents(run, from, to, buckets) {
  const events = [];
  const {allocated, reserved} = run;
  const offset = run.trace.from;
  const step = Math.max((to - from) / buckets, 1);
  for (let bucket = 0; from + bucket * step < to; ++bucket) {
    const first = Math.floor(from + bucket * step);
    const last = Math.min(Math.floor(from + (bucket + 1) * step), to) - 1;
    let low = first;
    let high = first;
    let most = first;
    for (let event = first + 1; event <= last; ++event) {
      const here = allocated[event - offset];
      if (here < allocated[low - offset]) low = event;
      if (here > allocated[high - offset]) high = event;
      if (reserved[event - offset] > reserved[most - offset]) most = event;
    }
    events.push(first, low, high, most, last);
  }
  return events;
}

function ascending(events) {
  return [...new Set(events)].sort((a, b) => a - b);
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
    this.cursor = element("i", {class: "cursor"});
    this.marks = new MarkRows(page, byId("marks"));
  }

  draw() {
    if (this.chart) this.chart.destroy();
    const {page} = this;
    this.others = othersShown(page);
    this.chart = new Dygraph(this.host, this.rows(), {
      ...this.looks(),
      dateWindow: page.xView(),
      underlayCallback: (canvas, area, chart) => this.underlay(canvas, area, chart),
      highlightCallback: (event, x) => page.hover(page.eventAtX(x)),
      unhighlightCallback: () => page.hover(null),
      clickCallback: (event, x) => page.choose(page.eventAtX(x), "jump"),
      zoomCallback: (low, high) => page.show(page.eventAtX(low), page.eventAtX(high) + 1, "jump"),
      drawCallback: (chart, first) => {
        this.placeCursor(chart);
        this.marks.draw(chart);
        if (!first) this.panned(chart);
      },
    });
    const style = `width:${page.axisWidth() - 5}px`;
    this.host.append(this.cursor, element("span", {class: "axis-name", style}, page.axisName()));
  }

  // The chosen event lies over the chart, which needs not be drawn anew when it moves.
  placeCursor(chart) {
    const {x, y, w, h} = chart.getArea();
    const left = chart.toDomXCoord(this.page.xOf(this.page.event));
    this.cursor.hidden = left < x || left > x + w;
    this.cursor.style.cssText = `left:${left - 1}px;top:${y}px;height:${h}px`;
  }

  looks() {
    const {page} = this;
    return {
      labels: ["x", "requested", "allocated", "reserved", ...this.others.map((i) => `run ${i}`)],
      series: this.series(),
      stepPlot: true,
      legend: "never",
      includeZero: true,
      valueRange: [0, this.top()],
      animatedZooms: false,
      interactionModel: Dygraph.defaultInteractionModel,
      rangeSelectorHeight: 34,
      gridLineColor: themeColour("grid"),
      axisLineColor: themeColour("grid"),
      showRangeSelector: true,
      rangeSelectorPlotStrokeColor: themeColour("allocated"),
      rangeSelectorPlotFillColor: themeColour("gap"),
      rangeSelectorAlpha: 0.55,
      highlightCircleSize: 3,
      xRangePad: 2,
      axisLabelWidth: page.axisWidth(),
      axes: {
        x: {
          ticker: (low, high, pixels) => page.xTicks(low, high, pixels),
          drawGrid: false,
          axisLabelWidth: 72
        },
        y: {ticker: (low, high, pixels) => byteTicks(high, pixels)},
      },
    };
  }

  // The limit is in the picture where it is near.
  top() {
    const {page, others} = this;
    const held = [page.runNumber, ...others].map((i) => page.curves()[i].reserved.values);
    const most = held.flatMap((values) => [...values]).reduce((a, b) => Math.max(a, b), 1);
    const {limit} = page.device;
    this.limit = limit && limit < 1.5 * most ? limit : 0;
    return 1.06 * Math.max(most, this.limit);
  }

  series() {
    const {page, others} = this;
    const requested = {colour: themeColour("requested"), dash: [2, 2], width: 1};
    const series = {
      requested: {
        color: requested.colour,
        plotter: ({drawingContext, points}) => {
          drawSteps(drawingContext, points, requested);
        }
      },
      allocated: {color: themeColour("allocated"), strokeWidth: 1.5, showInRangeSelector: true},
      reserved: {color: themeColour("reserved"), strokeWidth: 2.5},
    };
    others.forEach((number, i) => {
      const line = {...lineOf(number), width: 1.5};
      series[`run ${number}`] = {
        color: line.colour,
        plotter: ({drawingContext, points, plotArea}) => {
          drawSteps(drawingContext, points, line);
          drawMarks(drawingContext, points, line, plotArea, i, others.length);
        }
      };
    });
    return series;
  }

  // Panning and the range selector move the window without a zoom.
  panned(chart) {
    const [low, high] = chart.xAxisRange();
    const [from, to] = this.page.xView();
    const moved = Math.abs(low - from) + Math.abs(high - to);
    if (moved < 1e-9 * Math.max(Math.abs(high), 1)) return;
    clearTimeout(this.later);
    const {page} = this;
    const show = () => page.show(page.eventAtX(low), page.eventAtX(high) + 1, "step");
    this.later = setTimeout(show, 80);
  }

  refresh() {
    if (!this.chart) return;
    this.chart.updateOptions({file: this.rows(), dateWindow: this.page.xView()});
  }

  redraw() {
    if (this.chart) this.placeCursor(this.chart);
  }

  rows() {
    this.latest = this.madeRows();
    return this.latest;
  }

  madeRows() {
    const {page} = this;
    const coarse = this.coarseEvents();
    const run = page.run();
    const [from, to] = page.view;
    const roughly = (event) => this.roughRow(event);
    if (!run || to <= run.trace.from || from >= run.trace.to) return coarse.map(roughly);
    const first = Math.max(from, run.trace.from);
    const last = Math.min(to, run.trace.to);
    const within = [...run.within.keys()].filter((event) => event >= first && event < last);
    const fine = ascending([...tellingEvents(run, first, last, 1200), ...within]);
    return [
      ...coarse.filter((event) => event < first).map(roughly),
      ...fine.map((event) => this.exactRow(run, event)),
      ...coarse.filter((event) => event >= last).map(roughly),
    ];
  }

  coarseEvents() {
    const {page} = this;
    const own = page.curves()[page.runNumber];
    const others = this.others.map((i) => page.curves()[i].reserved);
    const curves = [own.requested, own.allocated, own.reserved, ...others];
    return ascending([...curves.flatMap((curve) => [...curve.events]), 0, page.events - 1]);
  }

  row(event, values) {
    const others = this.others.map((i) => valueAt(this.page.curves()[i].reserved, event));
    return [this.page.xOf(event), ...values, ...others];
  }

  roughRow(event) {
    const own = this.page.curves()[this.page.runNumber];
    const names = ["requested", "allocated", "reserved"];
    return this.row(event, names.map((name) => valueAt(own[name], event)));
  }

  exactRow(run, event) {
    const i = event - run.trace.from;
    const reserved = Math.max(run.reserved[i], run.within.get(event) || 0);
    return this.row(event, [run.requested[i], run.allocated[i], reserved]);
  }

  underlay(canvas, area, chart) {
    this.page.area = {x: area.x, width: area.w};
    canvas.save();
    this.shadeGap(canvas, chart);
    if (this.limit) this.drawLimit(canvas, area, chart.toDomYCoord(this.limit));
    for (const {name, dash, events} of marksOf(this.page)) {
      canvas.strokeStyle = themeColour(name);
      canvas.setLineDash(dash);
      for (const {event} of events) this.markEvent(canvas, area, chart, event);
    }
    canvas.restore();
  }

  drawLimit(canvas, {x, w}, y) {
    canvas.strokeStyle = canvas.fillStyle = themeColour("oom");
    canvas.setLineDash([8, 4]);
    canvas.beginPath();
    canvas.moveTo(x, y);
    canvas.lineTo(x + w, y);
    canvas.stroke();
    canvas.font = "11px system-ui, sans-serif";
    canvas.textAlign = "left";
    canvas.fillText(`limit ${humanSize(this.limit)}`, x + 5, y + 13);
  }

  markEvent(canvas, area, chart, event) {
    const x = chart.toDomXCoord(this.page.xOf(event));
    if (x < area.x || x > area.x + area.w) return;
    canvas.beginPath();
    canvas.moveTo(x, area.y);
    canvas.lineTo(x, area.y + area.h);
    canvas.stroke();
  }

  shadeGap(canvas, chart) {
    const rows = this.latest;
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
  }
}

// Their lines are drawn only where somebody asks for them.
function othersShown(page) {
  if (!byId("show-others").checked) return [];
  return page.device.runs.map((_, i) => i).filter((i) => i !== page.runNumber);
}

function byteTicks(most, pixels) {
  const ticks = binaryTicks(most, Math.floor(pixels / 32));
  return ticks.map(({bytes, text}) => ({v: bytes, label: text}));
}
