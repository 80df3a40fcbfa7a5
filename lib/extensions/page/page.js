"use strict";
// The page's state and what changes it: device, strategy, view, chosen event, what is pinned,
// search. A change is a "jump" or a "step": see link.js.

const kDarkWanted = matchMedia("(prefers-color-scheme: dark)");
const kCurves = ["requested", "allocated", "reserved"];

class Page {
  constructor(data) {
    this.data = data;
    this.axis = "events";
    this.search = "";
    this.matches = null;         // by block: 1 where the search found it
    this.models = new Map();     // "device-run" -> RunModel
    this.traces = new Map();     // device -> TraceModel
    this.overviews = new Map();  // device -> curves of every run
    this.colourings = new Map();
    this.curveChart = new CurveChart(this, byId("curves"));
    this.timeline = new BlockTimeline(this, byId("blocks"));
    this.segments = new SegmentMap(this, byId("memory"));
    this.eventList = new EventList(this, byId("events"));
    this.flame = new FlameGraph(this, byId("flame"));
    this.panel = new Panel(this);
    this.link = new Link(this);
  }

  get device() {
    return this.data.devices[this.deviceNumber];
  }
  get events() {
    return this.device.events;
  }
  get hasHistory() {
    return this.events > 0;
  }

  async open(deviceNumber, runNumber, kind = null) {
    this.deviceNumber = deviceNumber;
    this.runNumber = runNumber;
    this.panel.pinned = null;
    this.showDevice();
    const {runs} = this.device;
    if (!this.overviews.has(deviceNumber)) {
      this.overviews.set(deviceNumber, await Promise.all(runs.map(overviewOf)));
    }
    this.view = [0, this.events];
    this.event = this.firstEvent();
    await this.chooseRun(runNumber, kind);
  }

  showDevice() {
    document.querySelectorAll("[data-device]").forEach((part) => {
      part.hidden = Number(part.dataset.device) !== this.deviceNumber;
    });
    const names = this.device.runs.map((run, i) => `${i + 1}  ${run.name}`);
    const options = names.map((name, i) => element("option", {value: i}, name));
    byId("strategy").replaceChildren(...options);
    byId("device").value = this.deviceNumber;
    if (!this.device.has_times) this.axis = "events";
    byId("axis-time").disabled = !this.device.has_times;
    byId("strategy-choice").hidden = byId("others-choice").hidden = this.device.runs.length < 2;
    document.body.classList.toggle("without-history", !this.hasHistory);
    // The segments are the picture of fragmentation.
    const below = byId(this.device.fragmented ? "blocks-part" : "flame-part");
    below.before(byId("memory-part"));
  }

  // The picture of the whole first; then, when they are unpacked, the details.
  async chooseRun(runNumber, kind = null) {
    this.runNumber = runNumber;
    this.colourings.clear();
    byId("strategy").value = runNumber;
    this.drawAll();
    await pause();
    await this.unpackRun(this.deviceNumber, runNumber);
    await pause();
    this.find(this.search);
    this.drawAll();
    this.sayWhatIsShown();
    if (kind) this.link.save(kind);
    document.body.dataset.ready = `${this.deviceNumber}-${runNumber}`;
  }

  async unpackRun(deviceNumber, runNumber) {
    const key = `${deviceNumber}-${runNumber}`;
    const device = this.data.devices[deviceNumber];
    const run = device.runs[runNumber];
    if (!this.traces.has(deviceNumber)) {
      const trace = new TraceModel(device, await Columns.of(device.trace));
      this.traces.set(deviceNumber, trace);
      byId("colour-by").value = trace.names.places.length > 1 ? "stack" : "size";
    }
    if (!this.models.has(key) && run.places) {
      await pause();
      const columns = await Columns.of(run.places);
      this.models.set(key, new RunModel(this.traces.get(deviceNumber), run, columns));
    }
  }

  // The details of the chosen run; nothing while they are not there, or not in the page.
  run() {
    return this.models.get(`${this.deviceNumber}-${this.runNumber}`) || null;
  }
  trace() {
    return this.traces.get(this.deviceNumber) || null;
  }
  curves() {
    return this.overviews.get(this.deviceNumber);
  }
  colouring() {
    const kind = byId("colour-by").value;
    if (!this.colourings.has(kind)) this.colourings.set(kind, new Colouring(this.run(), kind));
    return this.colourings.get(kind);
  }

  // Grey where a search did not find it.
  blockColour(block) {
    const found = !this.matches || this.matches[block];
    return found ? this.colouring().colour(block) : greyOfUnfound();
  }

  // --- places on the axis
  xOf(event) {
    const trace = this.trace();
    return this.axis === "time" && trace ? trace.timeAt(event) : event;
  }
  eventAtX(x) {
    const trace = this.trace();
    const isTime = this.axis === "time" && trace;
    const {length} = isTime ? trace.time : [];
    const event =
        isTime ? trace.from + firstIndex(length, (i) => trace.time[i] >= x) : Math.round(x);
    return Math.min(Math.max(event, 0), this.events - 1);
  }
  // Round numbers, the same under every chart.
  xTicks(low, high, pixels) {
    const isTime = this.axis === "time";
    const ticks = decimalTicks(low, high, pixels / 90, isTime ? 0 : 1);
    return ticks.map((v) => ({v, label: isTime ? roundTime(v, high) : humanCount(v)}));
  }
  xView() {
    const from = this.xOf(this.view[0]);
    const to = this.xOf(Math.max(this.view[1] - 1, this.view[0]));
    return to > from ? [from, to] : [from, from + 1];
  }
  axisName() {
    return this.axis === "time" ? "time" : "event";
  }
  axisWidth() {
    return innerWidth < 700 ? 60 : 72;
  }
  timeText(event) {
    const trace = this.trace();
    const time = trace ? trace.timeAt(event) : null;
    return time === null ? "" : ` (${humanTime(time)})`;
  }

  // --- what is shown
  show(from, to, kind) {
    const least = Math.min(8, this.events);
    const first = Math.min(Math.max(Math.floor(from), 0), this.events - least);
    this.view = [first, Math.max(Math.min(Math.ceil(to), this.events), first + least)];
    this.refresh();
    if (kind) this.link.save(kind);
  }
  zoom(factor, kind = "jump", around = this.event) {
    const [from, to] = this.view;
    const centre = Math.min(Math.max(around, from), to);
    const size = (to - from) * factor;
    const share = (centre - from) / (to - from);
    this.show(centre - size * share, centre + size * (1 - share), kind);
  }
  setAxis(axis) {
    this.axis = axis;
    this.drawAll();
    this.link.save("jump");
  }
  setTheme(dark) {
    setTheme(dark);
    this.drawAll();
  }

  // --- the chosen event
  // What the first sentence speaks of, else the peak, where the page has no details of that.
  firstEvent() {
    const {explained, window: [from, to]} = this.device;
    if (from <= explained && explained < to) return explained;
    return this.inside(peakOf(this.curves()[this.runNumber].allocated));
  }
  inside(event) {
    return Math.max(Math.min(event, this.events - 1), 0);
  }
  choose(event, kind = "step") {
    this.event = this.inside(Math.round(event) || 0);
    const [from, to] = this.view;
    const half = (to - from) / 2;
    if (this.event < from || this.event >= to) {
      this.show(this.event - half, this.event + half);
    } else {
      this.curveChart.redraw();
      this.timeline.redraw();
    }
    this.sayChosen();
    this.drawMemory();
    this.link.save(kind);
  }
  choosePeak(name) {
    this.choose(this.peak(name), "jump");
  }
  // Most may be reserved for long: the event with most allocated in that time.
  peak(name) {
    if (name === "reserved") return this.device.runs[this.runNumber].fullest;
    return peakOf(this.curves()[this.runNumber][name]);
  }
  nextOom() {
    const {ooms} = this.device.runs[this.runNumber];
    const next = ooms.find(([event]) => event > this.event) || ooms[0];
    if (next) this.choose(next[0], "jump");
  }

  // --- what is pointed at, and what is pinned
  point(subject) {
    this.panel.show(subject);
  }
  // `withEvent`: choosing an event follows, which draws the rest and keeps the link.
  pin(subject, withEvent) {
    this.panel.pinned = subject;
    this.panel.show(null);
    if (withEvent) return;
    this.drawPinned();
    this.link.save("jump");
  }
  unpin() {
    if (!this.panel.pinned) return;
    this.panel.pinned = null;
    this.panel.show(null);
    this.drawPinned();
    this.link.save("jump");
  }
  pinnedBlock() {
    const {pinned} = this.panel;
    return pinned && pinned.block !== undefined ? pinned.block : -1;
  }
  // Escape: the search first, then what is pinned.
  letGo() {
    document.activeElement.blur();
    if (this.search) {
      byId("search").value = "";
      this.searchFor("");
    } else {
      this.unpin();
    }
  }

  // --- search
  searchSoon() {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.searchFor(byId("search").value), 150);
  }
  searchFor(text) {
    this.find(text.trim());
    this.timeline.draw();
    this.segments.drawRows();
    this.link.save("step");
  }
  find(text) {
    this.search = text;
    const run = this.run();
    const result = run && text ? found(run, text) : null;
    this.matches = result ? result.any : null;
    byId("found").hidden = !result;
    if (result) describeFound(this, run, result);
  }

  // --- from a link
  async restore({device, strategy, event, view, axis, search, block}) {
    const deviceNumber = Math.min(device, this.data.devices.length - 1);
    const runs = this.data.devices[deviceNumber].runs.length;
    const runNumber = Math.min(strategy, runs - 1);
    this.axis = axis;
    this.search = search;
    byId("search").value = search;
    if (deviceNumber !== this.deviceNumber) {
      await this.open(deviceNumber, runNumber);
    } else if (runNumber !== this.runNumber) {
      await this.chooseRun(runNumber);
    }
    this.event = event === null ? this.firstEvent() : this.inside(event);
    this.view = view ? viewInside(view, this.events) : [0, this.events];
    this.find(search);
    const isKnown = this.run() && block !== null && block < this.run().trace.blocks;
    this.panel.pinned = isKnown ? {kind: "block", block, event: this.event} : null;
    this.drawAll();
  }
}

// Keys that were pressed meanwhile are answered.
function pause() {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

async function overviewOf(run) {
  const columns = await Columns.of(run.curves);
  return Object.fromEntries(kCurves.map(
      (name) =>
          [name,
           {events: columns.steps(`${name}_events`), values: columns.steps(`${name}_values`)},
  ]));
}

function peakOf({events, values}) {
  let best = 0;
  values.forEach((value, i) => {
    if (value > values[best]) best = i;
  });
  return events.length ? events[best] : 0;
}

function viewInside([from, to], events) {
  const first = Math.min(from, Math.max(events - 8, 0));
  return [first, Math.max(Math.min(to, events), Math.min(first + 8, events))];
}
