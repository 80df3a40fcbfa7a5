"use strict";
// Answers side by side, one of them shown: arrow keys go from tab to tab.

class Tabs {
  constructor(tabs, opened) {
    this.tabs = tabs;
    this.opened = opened;
    this.filled = new Set();
    const buttons = tabs.map(({id, title}) => {
      const button = element(
          "button", {type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`},
          title);
      button.addEventListener("click", () => this.choose(id));
      return button;
    });
    const panels = tabs.map(({id}) => element("section", {
                              id: `panel-${id}`,
                              role: "tabpanel",
                              class: "panel",
                              tabindex: "0",
                              "aria-labelledby": `tab-${id}`
                            }));
    byId("tabs").replaceChildren(...buttons);
    byId("panels").replaceChildren(...panels);
    byId("tabs").addEventListener("keydown", (event) => this.key(event));
  }

  show(wanted) {
    for (const tab of this.tabs) byId(`tab-${tab.id}`).hidden = !wanted(tab);
  }

  choose(id) {
    for (const tab of this.tabs) {
      const chosen = tab.id === id;
      const button = byId(`tab-${tab.id}`);
      button.setAttribute("aria-selected", chosen);
      button.tabIndex = chosen ? 0 : -1;
      byId(`panel-${tab.id}`).hidden = !chosen;
    }
    this.chosen = id;
    this.opened(id);
  }

  key(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    const shown = this.tabs.filter(({id}) => !byId(`tab-${id}`).hidden);
    const at = shown.findIndex(({id}) => id === this.chosen);
    const {id} = shown[(at + step + shown.length) % shown.length];
    this.choose(id);
    byId(`tab-${id}`).focus();
    event.preventDefault();
  }

  isFilled(id) {
    return this.filled.has(id);
  }
  fill(id, parts) {
    this.filled.add(id);
    byId(`panel-${id}`).replaceChildren(...parts);
  }
  clear() {
    this.filled.clear();
    for (const {id} of this.tabs)
      byId(`panel-${id}`).replaceChildren(element("p", {class: "quiet"}, "…"));
    if (this.chosen) this.opened(this.chosen);
  }
}
