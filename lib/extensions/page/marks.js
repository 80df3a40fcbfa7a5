"use strict";
// Rows above the curves: the program's phases, OOMs, retries and the event that is explained, each
// in a row of its own with its name in the margin.

const kMarkRow = 15;
const kMostMarks = 500;
const kMostPhases = 400;
const kMostPhaseRows = 3;
const kMostPhaseNames = 12;

// What is marked in a run, with the name of its colour.
function marksOf(page) {
  const {ooms, retries} = page.device.runs[page.runNumber];
  const oomText = ([event, asked]) => ({event, text: asked === null ? "" : humanSize(asked)});
  return [
    {name: "oom", title: "OOM", dash: [], events: ooms.slice(0, kMostMarks).map(oomText)},
    {
      name: "retry",
      title: "retry",
      dash: [2, 3],
      events: retries.slice(0, kMostMarks).map((event) => ({event, text: ""}))
    },
    {
      name: "told",
      title: "explained",
      dash: [6, 3],
      events: [{event: page.device.explained, text: humanCount(page.device.explained)}]
    },
  ].filter(({events}) => events.length);
}

class MarkRows {
  constructor(page, canvas) {
    this.page = page;
    this.canvas = canvas;
  }

  draw(chart) {
    const {page, canvas} = this;
    const {x, w} = chart.getArea();
    const phases =
        page.device.phases.filter(([, , , depth]) => depth < kMostPhaseRows).slice(0, kMostPhases);
    const depths = phases.reduce((most, [, , , depth]) => Math.max(most, depth + 1), 0);
    const marks = marksOf(page);
    const width = canvas.parentElement.clientWidth;
    const {context} = prepared(canvas, width, (depths + marks.length) * kMarkRow + 2);
    context.font = "11px system-ui, sans-serif";
    const place =
        {context, left: x, right: x + w, at: (event) => chart.toDomXCoord(page.xOf(event))};
    phases.forEach((phase, i) => this.drawPhase(place, phase, phases.slice(i + 1)));
    marks.forEach((mark, i) => this.drawMarks(place, mark, (depths + i) * kMarkRow));
    const names = marks.map(({title, events}) => `${title}: ${events.length}`);
    canvas.setAttribute("aria-label", `Marks over the curves. ${names.join(", ")}.`);
  }

  drawPhase({context, left, right, at}, [name, from, to, depth], later) {
    const begin = Math.max(at(from), left);
    const end = Math.min(at(to), right);
    if (end <= begin) return;
    const top = depth * kMarkRow;
    context.fillStyle = phaseColour(this.page, name);
    context.fillRect(begin, top + 1, end - begin, kMarkRow - 2);
    const next = later.find(([, , , other]) => other === depth);
    const room = Math.min(next ? at(next[1]) : right, right) - begin - 6;
    const text = endsOf(name).find((part) => context.measureText(part).width <= room);
    context.fillStyle = themeColour("text");
    context.textAlign = "left";
    context.fillText(text || "", begin + 3, top + 11);
  }

  // A text stands beside its mark where it reaches no further than the next one.
  drawMarks({context, left, right, at}, {name, title, events}, top) {
    context.fillStyle = themeColour(name);
    context.textAlign = "right";
    context.fillText(title, left - 5, top + 11);
    context.fillStyle = themeColour("grid");
    context.fillRect(left, top + kMarkRow / 2, right - left, 1);
    const places = events.map(({event, text}) => ({x: at(event), text}))
                       .filter(({x}) => x >= left && x <= right);
    let taken = left;  // up to here texts stand
    places.forEach(({x, text}, i) => {
      context.fillStyle = themeColour(name);
      context.fillRect(x - 1.5, top + 2, 3, kMarkRow - 4);
      const {width} = context.measureText(text);
      const next = i + 1 < places.length ? places[i + 1].x - 3 : right;
      const after = x + 5 + width <= next;
      const fits = after || (x - 5 - width > taken);
      if (text && fits) this.write(context, text, after ? x + 5 : x - 5 - width, top, width);
      taken = after ? x + 5 + width : x + 3;
    });
  }

  write(context, text, x, top, width) {
    const {fillStyle} = context;
    context.fillStyle = themeColour("back");
    context.fillRect(x - 2, top + 1, width + 4, kMarkRow - 2);
    context.fillStyle = fillStyle;
    context.textAlign = "left";
    context.fillText(text, x, top + 11);
  }
}

// The whole name, then what follows on each of its separators: a short one is read better than the
// beginning of a long one.
function endsOf(name) {
  const ends = [...name.matchAll(/[.#/:]+(?=[^.#/:])/g)].map(
      (found) => name.slice(found.index + found[0].length));
  return [name, ...ends];
}

// Translucent, the same for every phase of a name.
function phaseColour(page, name) {
  const number = phaseNames(page).indexOf(name);
  return `rgba(${kPalette[number % kPalette.length]},0.35)`;
}

function phaseNames({device}) {
  const shown = device.phases.filter(([, , , depth]) => depth < kMostPhaseRows);
  return [...new Set(shown.slice(0, kMostPhases).map(([name]) => name))];
}

function drawPhaseLegend(page) {
  const names = phaseNames(page);
  const entry = (name) => element(
      "li", {}, element("i", {class: "area", style: `background:${phaseColour(page, name)}`}),
      name);
  const more = names.length - kMostPhaseNames;
  const rest = more > 0 ? [element("li", {class: "quiet"}, plural(more, "more phase"))] : [];
  byId("phase-legend").replaceChildren(...names.slice(0, kMostPhaseNames).map(entry), ...rest);
}
