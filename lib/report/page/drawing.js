"use strict";
// The page drawn, all of it or what a change concerns, and what it says of itself.

const kDrawing = {
  drawAll() {
    byId(this.axis === "time" ? "axis-time" : "axis-events").checked = true;
    const nav = document.querySelector("nav");
    document.documentElement.style.setProperty("--nav", `${nav.offsetHeight}px`);
    this.curveChart.draw();
    this.fragmentationChart.draw();
    this.drawBlocks();
    drawLineLegend(this);
    this.drawMemory();
    this.sayView();
    this.sayChosen();
    this.hover(null);
    this.panel.drawn = null;
    this.panel.show(null);
  },

  refresh() {
    this.curveChart.refresh();
    this.fragmentationChart.refresh();
    this.drawBlocks();
    this.segments.drawRows();
    this.sayView();
  },

  recolour() {
    this.drawBlocks();
    this.segments.drawRows();
  },

  drawPinned() {
    this.timeline.redraw();
    this.segments.drawRows();
  },

  drawBlocks() {
    if (this.run()) this.colouring().arrange(...this.view);
    this.timeline.draw();
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
    this.eventList.draw(run);
  },

  whyNoMemory() {
    const run = this.device.runs[this.runNumber];
    if (run.why_no_places) return run.why_no_places;
    if (this.events === 0) {
      return "The recording has no events, only a state; below is what explain says of it.";
    }
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
      return `${name} peaks at ${humanSize(most)} at event ${humanCount(this.peak(name))}`;
    });
    const text = `${run.name}: ${peaks.join(", ")}, ${plural(run.ooms.length, "OOM")}, ` +
        `${plural(run.retries.length, "event")} with retries.`;
    const curves = "Curves of requested, allocated and reserved memory.";
    byId("curves").setAttribute("aria-label", `${curves} ${text}`);
    byId("blocks").setAttribute("aria-label", `Live blocks over events, stacked by age. ${text}`);
    byId("run-facts").textContent = text;
  },
};
Object.assign(Page.prototype, kDrawing);

function withOoms({name, runs}) {
  return runs.length && runs[0].ooms.length ? `${name}, out of memory` : name;
}

function start() {
  setTheme(kDarkWanted.matches);
  document.querySelectorAll("pre").forEach((pre) => pre.replaceWith(answerOf(pre.textContent)));
  const page = new Page(JSON.parse(byId("page-data").textContent));
  const {devices} = page.data;
  const names = devices.map((device, i) => element("option", {value: i}, withOoms(device)));
  byId("device").replaceChildren(...names);
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
