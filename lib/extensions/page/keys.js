"use strict";
// What the keyboard does.

function keyUses(page) {
  const [from, to] = page.view;
  const far = Math.max(Math.round((to - from) / 50), 1);
  const step = (by) => page.choose(page.event + by, "step");
  return {
    "ArrowLeft": () => step(-1),
    "ArrowRight": () => step(1),
    "Shift ArrowLeft": () => step(-far),
    "Shift ArrowRight": () => step(far),
    "Home": () => page.choose(from, "jump"),
    "End": () => page.choose(to - 1, "jump"),
    "+": () => page.zoom(0.5),
    "=": () => page.zoom(0.5),
    "-": () => page.zoom(2),
    "0": () => page.show(0, page.events, "jump"),
    "p": () => page.choosePeak("allocated"),
    "r": () => page.choosePeak("reserved"),
    "e": () => page.choose(page.device.explained, "jump"),
    "o": () => page.nextOom(),
    "/": () => byId("search").focus(),
    "t": () => byId("theme").click(),
  };
}

function pressed(page, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    page.letGo();
    return;
  }
  if (["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement.tagName)) return;
  const arrow = event.shiftKey && event.key.startsWith("Arrow") ? "Shift " : "";
  const uses = keyUses(page);
  const number = Number(event.key);
  if (number >= 1 && number <= page.device.runs.length) {
    page.chooseRun(number - 1, "jump");
  } else if (uses[arrow + event.key]) {
    uses[arrow + event.key]();
  } else {
    return;
  }
  event.preventDefault();
}

function listenToControls(page) {
  const on = (id, kind, use) => byId(id).addEventListener(kind, use);
  on("device", "change", () => page.open(Number(byId("device").value), 0, "jump"));
  on("strategy", "change", () => page.chooseRun(Number(byId("strategy").value), "jump"));
  on("axis-events", "change", () => page.setAxis("events"));
  on("axis-time", "change", () => page.setAxis("time"));
  on("colour-by", "change", () => page.recolour());
  on("areas", "change", () => page.drawBlocks());
  on("show-others", "change", () => page.drawAll());
  on("event-slider", "input", () => page.choose(Number(byId("event-slider").value), "step"));
  on("event", "change", () => page.choose(Number(byId("event").value), "jump"));
  on("segment-order", "change", () => page.drawMemory());
  on("show-pins", "change", () => page.drawMemory());
  on("search", "input", () => page.searchSoon());
  on("theme", "click", () => page.setTheme(!isDark()));
  on("zoom-in", "click", () => page.zoom(0.5));
  on("zoom-out", "click", () => page.zoom(2));
  on("zoom-all", "click", () => page.show(0, page.events, "jump"));
  on("to-explained", "click", () => page.choose(page.device.explained, "jump"));
  on("to-peak", "click", () => page.choosePeak("reserved"));
  on("to-oom", "click", () => page.nextOom());
  document.addEventListener("keydown", (event) => pressed(page, event));
}

// What is drawn as a page is printed goes to the paper as lines, and some readers of PDF clip those of
// a chart wrongly: their picture instead, until it is drawn again.
function flatten(host) {
  for (const canvas of host.querySelectorAll("canvas")) {
    const picture = canvas.cloneNode();
    picture.getContext("2d", {willReadFrequently: true}).drawImage(canvas, 0, 0);
    canvas.replaceWith(picture);
  }
}

function listenToSurroundings(page) {
  let dark = false;
  let sizing = 0;
  addEventListener("resize", () => {
    clearTimeout(sizing);
    sizing = setTimeout(() => page.drawAll(), 120);
  });
  kDarkWanted.addEventListener("change", () => page.setTheme(kDarkWanted.matches));
  const print = (begins) => {
    if (begins) dark = isDark();
    document.documentElement.classList.toggle("printed", begins);
    page.setTheme(!begins && dark);
    if (begins) flatten(byId("curves"));
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
}
