"use strict";
// The list of events around the chosen one: what happened at each.

const kEventsAround = 30;

class EventList {
  constructor(page, body) {
    this.page = page;
    this.body = body;
    this.scroller = byId("event-rows");
    body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row) this.choose(Number(row.dataset.event));
    });
  }

  choose(event) {
    const {page} = this;
    const block = page.run().trace.blockOf[event - page.run().trace.from];
    if (block >= 0) page.pin({kind: "block", block, event}, "with the event");
    page.choose(event, "jump");
  }

  draw(run) {
    const {trace} = run;
    const hadFocus = this.body.contains(document.activeElement);
    const from = Math.max(this.page.event - kEventsAround, trace.from);
    const to = Math.min(this.page.event + kEventsAround + 1, trace.to);
    const events = Array.from({length: to - from}, (_, i) => from + i);
    this.body.replaceChildren(...events.map((event) => this.row(run, event)));
    const chosen = this.body.querySelector("[aria-current]");
    if (hadFocus) chosen.querySelector("button").focus({preventScroll: true});
    this.showInTheMiddle(chosen);
  }

  showInTheMiddle(row) {
    const {scroller} = this;
    scroller.scrollTop = row.offsetTop - (scroller.clientHeight - row.offsetHeight) / 2;
  }

  row(run, event) {
    const {trace} = run;
    const facts = trace.factsOf(event);
    const isChosen = event === this.page.event;
    const attributes = {"data-event": event, ...(isChosen ? {"aria-current": "true"} : {})};
    const known = (value, text) => (value === null || value === undefined ? "" : text(value));
    const number = element("button", {type: "button", class: "plain"}, humanCount(event));
    const place = [facts.place, facts.text].filter(Boolean).join(", ");
    return element(
        "tr", attributes, element("td", {}, number),
        element("td", {class: "left"}, whatHappened(run, event, facts)),
        element("td", {}, known(facts.size, humanSize)),
        element("td", {class: "address"}, known(addressOf(run, facts), (address) => address)),
        element("td", {class: "left"}, known(facts.lane, (lane) => trace.laneName(lane))),
        element("td", {class: "left"}, place));
  }
}

// The recorded address, else where the strategy placed it.
function addressOf(run, {address, block}) {
  if (address !== null && address !== undefined) return hexAddress(address);
  return block >= 0 && run.isPlaced(block) ? run.address(run.place[block]) : null;
}

function whatHappened(run, event, {op, block}) {
  const recorded = op >= kOps.segmentAlloc ? " (recorded)" : "";
  const unserved = op === kOps.allocate && !run.isPlaced(block) ? ", not served" : "";
  const unknown = op !== kOps.allocate && op <= kOps.freeCompleted && block < 0;
  const calls = run.callsAt(event).map(([call, bytes]) => `${kOpNames[call]} ${humanSize(bytes)}`);
  const replayed = calls.length ? `; replayed: ${summed(calls)}` : "";
  return kOpNames[op] + recorded + unserved + (unknown ? " of an unknown block" : "") + replayed;
}

function summed(calls) {
  const shown = calls.slice(0, 2).join(", ");
  return calls.length > 2 ? `${shown} and ${calls.length - 2} more` : shown;
}
