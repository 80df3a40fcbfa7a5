"use strict";
// The view stands in the fragment of the page's address: to come back to, to send to somebody. A
// jump is a step back for the browser's "back"; small steps change the last entry.

class Link {
  constructor(page) {
    this.page = page;
    addEventListener("popstate", () => this.follow());
    addEventListener("hashchange", () => this.follow());
  }

  // What differs from what the page opens with.
  written() {
    const {page} = this;
    const search = new URLSearchParams();
    const block = page.pinnedBlock();
    const isWhole = page.view[0] === 0 && page.view[1] === page.events;
    if (page.deviceNumber !== page.data.worst) search.set("device", page.deviceNumber + 1);
    if (page.runNumber) search.set("strategy", page.runNumber + 1);
    search.set("event", page.event);
    if (!isWhole) search.set("view", page.view.join("-"));
    if (page.axis !== "events") search.set("over", page.axis);
    if (page.search) search.set("search", page.search);
    if (block >= 0) search.set("block", block);
    return `#${search}`;
  }

  save(kind) {
    clearTimeout(this.later);
    if (kind === "jump") {
      this.put("pushState");
    } else {
      this.later = setTimeout(() => this.put("replaceState"), 200);
    }
  }

  put(how) {
    const hash = this.written();
    if (hash === location.hash) return;
    try {
      history[how](null, "", hash);
    } catch {
      // A page inside of another may not change its address; the view is then not kept.
    }
  }

  read() {
    const search = new URLSearchParams(location.hash.slice(1));
    const number = (name, least) => {
      const text = search.get(name);
      return text !== null && /^\d+$/.test(text) ? Math.max(Number(text), least) : null;
    };
    const view = /^(\d+)-(\d+)$/.exec(search.get("view") || "");
    return {
      device: (number("device", 1) || this.page.data.worst + 1) - 1,
      strategy: (number("strategy", 1) || 1) - 1,
      event: number("event", 0),
      view: view ? [Number(view[1]), Number(view[2])] : null,
      axis: search.get("over") === "time" ? "time" : "events",
      search: search.get("search") || "",
      block: number("block", 0),
    };
  }

  follow() {
    clearTimeout(this.later);
    if (location.hash !== this.written()) this.page.restore(this.read());
  }
}
