"use strict";
// How the reserved curves of strategies look: every strategy has a colour, a dash and its number,
// which is drawn on its line, so that lines that lie on each other are told apart too.

const kLineColours = 8;
const kDashes = [
  [8, 3],
  [2, 3],
  [10, 3, 2, 3],
  [4, 4],
  [14, 4],
  [10, 3, 2, 3, 2, 3],
  [6, 2, 2, 2],
];

function lineOf(number) {
  return {
    colour: themeColour(`line-${number % kLineColours}`),
    dash: kDashes[number % kDashes.length],
    text: String(number + 1),
  };
}

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A piece of the line as it is drawn.
function lineSample({colour, dash, text}) {
  const line = {x1: 0, x2: 44, y1: 8, y2: 8, stroke: colour, "stroke-width": 2};
  const label =
      {x: 22, y: 11.5, fill: themeColour("back"), "text-anchor": "middle", "font-size": 10};
  return svg(
      "svg", {width: 44, height: 16, "aria-hidden": "true"},
      svg("line", {...line, "stroke-dasharray": dash.join(" ")}),
      svg("circle", {cx: 22, cy: 8, r: 7, fill: colour}), svg("text", label, text));
}

// Steps in one path, so that dashes go on from step to step.
function drawSteps(canvas, points, {colour, dash, width}) {
  canvas.save();
  canvas.strokeStyle = colour;
  canvas.lineWidth = width;
  canvas.setLineDash(dash);
  canvas.beginPath();
  points.forEach(({canvasx, canvasy}, i) => {
    if (i) canvas.lineTo(canvasx, points[i - 1].canvasy);
    canvas.lineTo(canvasx, canvasy);
  });
  canvas.stroke();
  canvas.restore();
}

// The number of the line, the `i`th of `count`, twice: where no other line has it.
function drawMarks(canvas, points, line, area, i, count) {
  for (const spot of [i, i + count]) {
    const x = area.x + (area.w * (spot + 0.5)) / (2 * count);
    const behind = firstIndex(points.length, (at) => points[at].canvasx > x);
    if (behind)
      drawMark(canvas, x, Math.min(points[behind - 1].canvasy, area.y + area.h - 7), line);
  }
}

function drawMark(canvas, x, y, {colour, text}) {
  canvas.save();
  canvas.fillStyle = colour;
  canvas.beginPath();
  canvas.arc(x, y, 7, 0, 2 * Math.PI);
  canvas.fill();
  canvas.fillStyle = themeColour("back");
  canvas.font = "10px system-ui, sans-serif";
  canvas.textAlign = "center";
  canvas.fillText(text, x, y + 3.5);
  canvas.restore();
}

// The others by their lines; a click shows one of them.
function drawLineLegend(page) {
  const entries = othersShown(page).map((number) => {
    const run = page.device.runs[number];
    const title = "show this strategy";
    const choose = () => page.chooseRun(number, "jump");
    const name =
        element("button", {type: "button", class: "plain", title, onclick: choose}, run.name);
    return element("li", {}, lineSample(lineOf(number)), " ", name);
  });
  byId("other-legend").replaceChildren(...entries);
}
