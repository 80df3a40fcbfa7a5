"use strict";
// The page's state and what changes it: device, strategy, view, chosen event, search, keys.

const kDarkWanted = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

class Page {
  constructor(data) {
    this.data = data;
    this.axis = "events";
    this.curveChart = new CurveChart(this, byId("curves"));
    this.fragmentationChart = new FragmentationChart(this, byId("fragmentation"));
    this.timeline = new BlockTimeline(this, byId("blocks"));
    this.segments = new SegmentMap(this, byId("memory"));
    this.models = new Map();     // "device-run" -> RunModel
    this.traces = new Map();     // device -> TraceModel
    this.overviews = new Map();  // device -> curves of every run
    this.colourings = new Map();
    this.matches = null;
  }

  get device() {
    return this.data.devices[this.deviceNumber];
  }
  get events() {
    return this.device.events;
  }

  async open(deviceNumber, runNumber) {
    this.deviceNumber = deviceNumber;
    this.runNumber = runNumber;
    this.colourings.clear();
    document.querySelectorAll("[data-device]").forEach((part) => { part.hidden = Number(part.dataset.device) !== deviceNumber; });
    const {runs} = this.device;
    byId("strategy").replaceChildren(...runs.map((run, i) => element("option", {value: i}, `${i + 1}  ${run.name}`)));
    this.view = [0, this.events];
    this.axis = this.device.has_times ? this.axis : "events";
    byId("axis-time").disabled = !this.device.has_times;
    if (!this.overviews.has(deviceNumber)) {
      this.overviews.set(deviceNumber, await Promise.all(runs.map((run) => this.overviewOf(run))));
    }
    const peak = this.peakOf(this.curves()[runNumber].allocated);
    this.event = runs[runNumber].ooms.length ? runs[runNumber].ooms[0][0] : peak;
    await this.chooseRun(runNumber);
  }

  async overviewOf(run) {
    const columns = await Columns.of(run.curves);
    const curve = (name) => ({events: columns.steps(`${name}_events`), values: columns.steps(`${name}_values`)});
    return {requested: curve("requested"), allocated: curve("allocated"), reserved: curve("reserved"), fragmentation: curve("fragmentation")};
  }

  // The picture of the whole first; then, when they are unpacked, the details.
  async chooseRun(runNumber) {
    this.runNumber = runNumber;
    byId("strategy").value = runNumber;
    this.drawAll();
    await new Promise((resolve) => setTimeout(resolve, 0));
    await this.unpackRun(this.deviceNumber, runNumber);
    if (this.search) this.find(this.search);
    this.drawAll();
    this.sayWhatIsShown();
    document.body.dataset.ready = `${this.deviceNumber}-${runNumber}`;
  }

  async unpackRun(deviceNumber, runNumber) {
    const key = `${deviceNumber}-${runNumber}`, device = this.data.devices[deviceNumber], run = device.runs[runNumber];
    if (!this.traces.has(deviceNumber)) {
      const trace = new TraceModel(device, await Columns.of(device.trace));
      this.traces.set(deviceNumber, trace);
      byId("colour-by").value = trace.names.places.length > 1 ? "stack" : "size";
    }
    if (!this.models.has(key) && run.places) {
      this.models.set(key, new RunModel(this.traces.get(deviceNumber), run, await Columns.of(run.places)));
    }
  }

  // The details of the chosen run; nothing while they are not there, or not in the page.
  run() {
    return this.models.get(`${this.deviceNumber}-${this.runNumber}`) || null;
  }
  curves() {
    return this.overviews.get(this.deviceNumber);
  }
  colouring() {
    const kind = byId("colour-by").value;
    if (!this.colourings.has(kind)) this.colourings.set(kind, new Colouring(this.run().trace, kind));
    return this.colourings.get(kind);
  }

  // --- places on the axis
  xOf(event) {
    const trace = this.traces.get(this.deviceNumber);
    return this.axis === "time" && trace ? trace.timeAt(event) : event;
  }
  eventAtX(x) {
    const trace = this.traces.get(this.deviceNumber);
    const event = this.axis === "time" && trace ? trace.from + firstIndex(trace.time.length, (i) => trace.time[i] >= x) : Math.round(x);
    return Math.min(Math.max(event, 0), this.events - 1);
  }
  xText(x) {
    return this.axis === "time" ? humanTime(x) : humanCount(x);
  }
  xView() {
    const [from, to] = [this.xOf(this.view[0]), this.xOf(Math.max(this.view[1] - 1, this.view[0]))];
    return to > from ? [from, to] : [from, from + 1];
  }
  timeText(event) {
    const trace = this.traces.get(this.deviceNumber), time = trace ? trace.timeAt(event) : null;
    return time === null ? "" : ` (${humanTime(time)})`;
  }
  peakOf({events, values}) {
    let best = 0;
    values.forEach((value, i) => { if (value > values[best]) best = i; });
    return events.length ? events[best] : 0;
  }

  // --- what is shown
  show(from, to) {
    const least = Math.min(8, this.events);
    from = Math.min(Math.max(Math.floor(from), 0), this.events - least);
    to = Math.max(Math.min(Math.ceil(to), this.events), from + least);
    this.view = [from, to];
    this.refresh();
  }
  zoom(factor, around = this.event) {
    const [from, to] = this.view;
    const centre = Math.min(Math.max(around, from), to);
    const size = (to - from) * factor;
    const share = (centre - from) / (to - from);
    this.show(centre - size * share, centre + size * (1 - share));
  }
  choose(event) {
    this.event = Math.min(Math.max(event, 0), this.events - 1);
    const [from, to] = this.view;
    if (this.event < from || this.event >= to) {
      this.show(this.event - (to - from) / 2, this.event + (to - from) / 2);
    } else {
      this.curveChart.redraw();
      this.timeline.draw();
    }
    this.drawMemory();
  }
  drawAll() {
    this.curveChart.draw();
    this.fragmentationChart.draw();
    this.timeline.draw();
    this.drawLegend();
    this.drawMemory();
    this.sayView();
    this.hover(null);
  }
  refresh() {
    this.curveChart.refresh();
    this.fragmentationChart.refresh();
    this.timeline.draw();
    this.sayView();
  }
  sayView() {
    byId("view-facts").textContent = `events [${humanCount(this.view[0])}, ${humanCount(this.view[1])}) of ${humanCount(this.events)} in view`;
  }
  drawMemory() {
    byId("event").max = byId("event-slider").max = this.events - 1;
    byId("event").value = byId("event-slider").value = this.event;
    const run = this.run();
    const known = run && this.event >= run.trace.from && this.event < run.trace.to;
    byId("memory-part").classList.toggle("without-details", !known);
    if (known) describeMemory(this, run, this.segments.draw(run));
    else byId("memory-facts").textContent = this.whyNoMemory();
  }
  whyNoMemory() {
    const run = this.device.runs[this.runNumber];
    if (run.why_no_places) return run.why_no_places;
    if (this.events === 0) return "The recording has no events, only a state; below is what explain says of it.";
    const [from, to] = this.device.window;
    return this.run() ? `The page has details of events [${humanCount(from)}, ${humanCount(to)}) only.` : "unpacking …";
  }
  drawLegend() {
    const legend = this.run() ? this.colouring().legend(14) : [];
    byId("block-legend").replaceChildren(...legend.map(({colour, name}) =>
      element("li", {}, element("span", {class: "swatch", style: `background:${colour}`}), name)));
    const others = this.device.runs.map((run, i) => ({run, i})).filter(({i}) => i !== this.runNumber);
    byId("other-legend").replaceChildren(...others.map(({run, i}) => element("li", {}, `${i + 1} ${run.name}`)));
  }
  hover(event) {
    const at = event === null ? this.event : event;
    const own = this.curves()[this.runNumber], run = this.run();
    const exact = run && at >= run.trace.from && at < run.trace.to;
    const i = exact ? at - run.trace.from : 0;
    const [requested, allocated, reserved] = exact ? [run.requested[i], run.allocated[i], run.reserved[i]]
      : ["requested", "allocated", "reserved"].map((name) => valueAt(own[name], at));
    byId("curve-facts").textContent = `${event === null ? "chosen" : "under the pointer"}: event ${humanCount(at)}${this.timeText(at)}: ` +
      `requested ${humanSize(requested)}, allocated ${humanSize(allocated)}, reserved ${humanSize(reserved)}, gap ${humanSize(Math.max(reserved - allocated, 0))}` +
      (exact ? "" : " (reduced)");
  }
  showBlock(block, event) {
    const run = this.run();
    if (run && block >= 0) byId("block-facts").replaceChildren(...describeBlock(this, run, block, event));
    else byId("block-facts").replaceChildren(element("p", {class: "quiet"}, "Point at a block to see its size, its life and its stack."));
  }
  sayWhatIsShown() {
    const run = this.device.runs[this.runNumber];
    const peaks = ["allocated", "reserved"].map((name) => {
      const curve = this.curves()[this.runNumber][name];
      return `${name} peaks at ${humanSize(Math.max(0, ...curve.values))} at event ${humanCount(this.peakOf(curve))}`;
    });
    const text = `${run.name}: ${peaks.join(", ")}, ${plural(run.ooms.length, "OOM")}, ${plural(run.retries.length, "event")} with retries.`;
    byId("curves").setAttribute("aria-label", `Curves of requested, allocated and reserved memory. ${text}`);
    byId("blocks").setAttribute("aria-label", `Live blocks over events, stacked by age. ${text}`);
    byId("run-facts").textContent = text;
  }

  find(text) {
    this.search = text;
    const run = this.run();
    this.matches = run && text ? foundBlocks(run, text) : null;
    byId("found").hidden = !this.matches;
    if (this.matches) describeFound(this, run, this.matches);
    this.timeline.draw();
    this.drawMemory();
  }

  nextOom() {
    const {ooms} = this.device.runs[this.runNumber];
    const next = ooms.find(([event]) => event > this.event) || ooms[0];
    if (next) this.choose(next[0]);
  }

  listen() {
    const on = (id, kind, use) => byId(id).addEventListener(kind, use);
    on("device", "change", () => this.open(Number(byId("device").value), 0));
    on("strategy", "change", () => this.chooseRun(Number(byId("strategy").value)));
    for (const axis of ["events", "time"]) {
      on(`axis-${axis}`, "change", () => { this.axis = axis; this.drawAll(); });
    }
    on("colour-by", "change", () => { this.timeline.draw(); this.drawLegend(); this.drawMemory(); });
    on("event-slider", "input", () => this.choose(Number(byId("event-slider").value)));
    on("event", "change", () => this.choose(Number(byId("event").value)));
    on("segment-order", "change", () => this.drawMemory());
    on("show-pins", "change", () => this.drawMemory());
    on("search", "input", () => { clearTimeout(this.typing); this.typing = setTimeout(() => this.find(byId("search").value.trim()), 150); });
    on("theme", "click", () => { setTheme(!isDark()); this.drawAll(); });
    on("zoom-in", "click", () => this.zoom(0.5));
    on("zoom-out", "click", () => this.zoom(2));
    on("zoom-all", "click", () => this.show(0, this.events));
    on("to-peak", "click", () => this.choose(this.peakOf(this.curves()[this.runNumber].reserved)));
    on("to-oom", "click", () => this.nextOom());
    addEventListener("resize", () => { clearTimeout(this.sizing); this.sizing = setTimeout(() => this.drawAll(), 120); });
    kDarkWanted.addEventListener("change", () => { setTheme(kDarkWanted.matches); this.drawAll(); });
    this.listenToPrinting();
    document.addEventListener("keydown", (event) => this.key(event));
  }

  listenToPrinting() {
    let dark = false;
    addEventListener("beforeprint", () => { dark = isDark(); setTheme(false); this.drawAll(); });
    addEventListener("afterprint", () => { setTheme(dark); this.drawAll(); });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      document.activeElement.blur();
      byId("search").value = "";
      return this.find("");
    }
    if (["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement.tagName)) return;
    const step = event.shiftKey ? Math.max(Math.round((this.view[1] - this.view[0]) / 50), 1) : 1;
    const uses = {
      ArrowLeft: () => this.choose(this.event - step), ArrowRight: () => this.choose(this.event + step),
      Home: () => this.choose(this.view[0]), End: () => this.choose(this.view[1] - 1),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.show(0, this.events),
      p: () => this.choose(this.peakOf(this.curves()[this.runNumber].allocated)),
      r: () => this.choose(this.peakOf(this.curves()[this.runNumber].reserved)),
      o: () => this.nextOom(), "/": () => byId("search").focus(), t: () => byId("theme").click(),
    };
    const number = Number(event.key);
    if (number >= 1 && number <= this.device.runs.length) this.chooseRun(number - 1);
    else if (uses[event.key]) uses[event.key]();
    else return;
    event.preventDefault();
  }
}

setTheme(kDarkWanted.matches);
const page = new Page(JSON.parse(byId("page-data").textContent));
byId("device").replaceChildren(...page.data.devices.map((device, i) => element("option", {value: i}, device.name)));
byId("device-choice").hidden = page.data.devices.length < 2;
if (typeof DecompressionStream === "undefined") {
  byId("run-facts").textContent = "This browser is too old to unpack the pictures; the tables below are complete.";
} else {
  page.listen();
  page.open(0, 0).then(() => page.showBlock(-1, null));
}
