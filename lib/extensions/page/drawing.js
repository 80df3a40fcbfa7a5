"use strict";
// The page drawn, all of it or what a change concerns, and what it says of itself.

const kDrawing = {
  drawAll() {
    if (!this.curves()) return;  // a window may change its size before anything is unpacked
    byId(this.axis === "time" ? "axis-time" : "axis-events").checked = true;
    const nav = document.querySelector("nav");
    document.documentElement.style.setProperty("--nav", `${nav.offsetHeight}px`);
    this.drawCurves();
    this.drawBlocks();
    drawLineLegend(this);
    drawPhaseLegend(this);
    this.drawMemory();
    this.sayView();
    this.sayChosen();
    this.hover(null);
    this.panel.drawn = null;
    this.panel.show(null);
  },

  drawCurves() {
    if (this.hasHistory) return this.curveChart.draw();
    const left = this.axisWidth();
    this.area = {x: left, width: document.querySelector(".workbench").clientWidth - left - 2};
  },

  refresh() {
    this.curveChart.refresh();
    this.drawBlocks();
    this.segments.drawRows();
    this.sayView();
  },

  recolour() {
    this.drawBlocks();
    this.segments.drawRows();
    this.flame.drawTree();
  },

  drawPinned() {
    this.timeline.redraw();
    this.segments.drawRows();
  },

  drawBlocks() {
    const [from, to] = this.view;
    if (this.run()) this.colouring().arrange(from, Math.max(to, from + 1));
    if (this.hasHistory) this.timeline.draw();
    drawBlockLegend(this);
  },

  drawMemory() {
    byId("event").max = this.events - 1;
    byId("event-slider").max = this.events - 1;
    byId("event").value = this.event;
    byId("event-slider").value = this.event;
    const run = this.run();
    const known = run && run.trace.has(this.event);
    document.querySelector(".workbench").classList.toggle("without-details", !known);
    byId("flame-event").textContent = humanCount(this.event);
    if (known) {
      this.live = describeMemory(this, run, this.segments.draw(run));
      this.drawBelowSoon();
    } else {
      byId("memory-facts").textContent = this.whyNoMemory();
    }
  },

  // What lies further down waits a little, so that a key that is held down is answered at once.
  drawBelowSoon() {
    if (this.drawingBelow) return;
    this.drawingBelow = setTimeout(() => this.drawBelow(), 20);
  },

  drawBelow() {
    this.drawingBelow = 0;
    const run = this.run();
    if (!run || !run.trace.has(this.event)) return;
    this.flame.draw(run, this.live);
    if (this.hasHistory) this.eventList.draw(run);
  },

  whyNoMemory() {
    const run = this.device.runs[this.runNumber];
    if (run.why_no_places) return run.why_no_places;
    const [from, to] = this.device.window.map(humanCount);
    return this.run() ? `The page has details of events [${from}, ${to}) only.` : "unpacking …";
  },

  sayView() {
    const [from, to] = this.view.map(humanCount);
    byId("view-facts").textContent =
        `events [${from}, ${to}) of ${humanCount(this.events)} in view`;
  },

  sayChosen() {
    byId("curve-facts").textContent = `chosen: ${this.factsAt(this.event)}`;
  },

  hover(event) {
    const text = event === null ? "" : `under the pointer: ${this.factsAt(event)}`;
    byId("pointer-facts").textContent = text;
  },

  factsAt(event) {
    const run = this.run();
    const exact = run && run.trace.has(event);
    const own = this.curves()[this.runNumber];
    const i = exact ? event - run.trace.from : 0;
    const value = (name) => (exact ? run[name][i] : valueAt(own[name], event));
    const [requested, allocated, reserved] = ["requested", "allocated", "reserved"].map(value);
    const gap = Math.max(reserved - allocated, 0);
    return `event ${humanCount(event)}${this.timeText(event)}: requested ${
               humanSize(requested)}, ` +
        `allocated ${humanSize(allocated)}, reserved ${humanSize(reserved)}, gap ` +
        `${humanSize(gap)}${exact ? "" : " (reduced)"}`;
  },

  sayWhatIsShown() {
    const run = this.device.runs[this.runNumber];
    const peaks = ["allocated", "reserved"].map((name) => {
      const curve = this.curves()[this.runNumber][name];
      const most = curve.values.reduce((a, b) => Math.max(a, b), 0);
      return `${name} peaks at ${humanSize(most)} after event ${humanCount(this.peak(name))}`;
    });
    const text = `${run.name}: ${peaks.join(", ")}, ${plural(run.ooms.length, "OOM")}, ` +
        `${plural(run.retries.length, "event")} with retries.`;
    const curves = "Curves of requested, allocated and reserved memory.";
    byId("curves").setAttribute("aria-label", `${curves} ${text}`);
    byId("blocks").setAttribute("aria-label", `Live blocks over events, stacked by age. ${text}`);
    byId("run-facts").textContent = `${run.name}: ${peaks[0]}.`;
    byId("figures").replaceChildren(...this.figures(run).map(figure));
  },

  // What the curves come to; the shares are those of the reserved peak.
  figures(run) {
    const curves = this.curves()[this.runNumber];
    const at = this.peak("reserved");
    const reserved = curves.reserved.values.reduce((a, b) => Math.max(a, b), 0);
    const gap = Math.max(reserved - valueAt(curves.allocated, at), 0);
    const live = this.peak("allocated");
    const unused = valueAt(curves.reserved, live) - valueAt(curves.allocated, live);
    return [
      ["peak reserved", humanSize(reserved), `after event ${humanCount(at)}`],
      ["gap at the peak", humanSize(gap), `${humanShare(gap, reserved)} of reserved`],
      run.at_oom ||
          [
            "free at the live peak", humanSize(Math.max(unused, 0)),
            `after event ${humanCount(live)}`
          ],
      [
        "refused", plural(run.ooms.length, "OOM"),
        `and ${plural(run.retries.length, "retry", "retries")}`
      ],
    ];
  },
};
Object.assign(Page.prototype, kDrawing);

function figure([name, value, said]) {
  const shown = element("dd", {}, element("b", {}, value), said);
  return element("div", {}, element("dt", {}, name), shown);
}

// What ran out of memory comes first, each with its result.
function deviceOptions(devices) {
  const ranOut = ({runs}) => runs.length > 0 && runs[0].ooms.length > 0;
  const options = devices.map((device, i) => {
    const mark = ranOut(device) ? "✕ " : "";
    const said = ranOut(device) ? ", out of memory" : "";
    return element("option", {value: i}, `${mark}${device.name}${said}`);
  });
  const isFirst = (option) => ranOut(devices[option.value]) ? 0 : 1;
  return options.sort((a, b) => isFirst(a) - isFirst(b));
}

function start() {
  setTheme(kDarkWanted.matches);
  document.querySelectorAll("pre").forEach((pre) => pre.replaceWith(answerOf(pre.textContent)));
  const page = new Page(JSON.parse(byId("page-data").textContent));
  const {devices} = page.data;
  byId("device").replaceChildren(...deviceOptions(devices));
  byId("device-choice").hidden = devices.length < 2;
  if (typeof DecompressionStream === "undefined") {
    byId("run-facts").textContent =
        "This browser is too old to unpack the pictures; the tables below are complete.";
    return page;
  }
  listenToControls(page);
  listenToSurroundings(page);
  const {hash} = location;
  const view = page.link.read();
  const opened = page.open(page.data.worst, 0);
  if (hash) opened.then(() => page.restore(view));
  return page;
}

const page = start();
