"use strict";
// A flame graph of what is live: a bar for every frame, the outermost at the top, as wide as the
// bytes that its callees hold, in the colour of its blocks where they have one. A click on a bar
// makes it as wide as the picture.

const kFlameRow = 20;
const kLeastBar = 0.002;  // as a share of the width
const kMostBars = 800;
const kFoldedFrame = "…";
const kManyColours = Symbol("blocks of several colours");

class FlameGraph {
  constructor(page, host) {
    this.page = page;
    this.host = host;
    this.path = [];  // names from the root to what is as wide as the picture
    host.addEventListener("keydown", (event) => this.key(event));
    host.addEventListener("click", (event) => this.zoomTo(this.barAt(event)));
    host.addEventListener("focusin", (event) => this.say(this.barAt(event)));
    host.addEventListener("mouseover", (event) => this.say(this.barAt(event)));
    byId("flame-fold").addEventListener("change", () => this.refold());
  }

  refold() {
    this.path = [];
    this.drawTree();
  }

  draw(run, live) {
    this.run = run;
    this.live = live;
    this.drawTree();
  }

  drawTree() {
    if (!this.run) return;
    const {trace} = this.run;
    const colouring = this.page.colouring();
    const root = flameTree(trace, this.live, byId("flame-fold").checked, colouring);
    const chain = chainTo(root, this.path);
    this.path = chain.slice(1).map(({name}) => name);
    this.bars = this.barsOf(root, chain);
    const hadFocus = this.host.contains(document.activeElement);
    this.host.replaceChildren(...this.bars.map(({button}) => button));
    const depths = this.bars.reduce((most, {depth}) => Math.max(most, depth + 1), 0);
    this.host.style.height = `${depths * kFlameRow}px`;
    byId("flame-facts").textContent = this.sentence(trace, root);
    this.focused = null;
    this.focus(this.bars[chain.length - 1], hadFocus);
  }

  sentence(trace, root) {
    if (!this.live.length) return "Nothing is live at this event.";
    if (!trace.hasStacks) {
      return "The recording has no stacks: each bar is a call site or a tag, if it has one.";
    }
    return `${humanSize(root.bytes)} in ${
               plural(root.blocks, "live block")}, the outermost frames ` +
        `at the top${this.leavesOut ? "; narrow bars are left out: a click shows more" : ""}.`;
  }

  // The chain as wide as the picture; below it what is wide enough to be seen, the widest first.
  barsOf(root, chain) {
    const wide = chain.map((node, depth) => ({node, left: 0, width: 1, depth}));
    this.leavesOut = addCallees(wide, wide[wide.length - 1]);
    const shown = wide.sort((a, b) => b.width - a.width || a.depth - b.depth).slice(0, kMostBars);
    this.leavesOut = this.leavesOut || shown.length < wide.length;
    for (const bar of shown) this.makeButton(bar, root, this.page.colouring());
    return shown;
  }

  makeButton(bar, root, colouring) {
    const {node, left, width, depth} = bar;
    const label = `${node.name}, ${humanSize(node.bytes)}, ${humanShare(node.bytes, root.bytes)}`;
    const button = element(
        "button", {type: "button", title: label, "aria-label": label, tabindex: -1},
        shortFrame(node.name));
    button.style.cssText = `left:${left * 100}%;width:${width * 100}%;top:${depth * kFlameRow}px;` +
        (node.key === kManyColours ? "" : coloured(colouring.colourOfKey(node.key)));
    bar.button = button;
  }

  barAt({target}) {
    return this.bars.find(({button}) => button === target);
  }

  say(bar) {
    if (bar) byId("flame-bar").textContent = bar.button.title;
  }

  zoomTo(bar) {
    if (!bar) return;
    this.path = [];
    for (let at = bar.node; at.parent; at = at.parent) this.path.unshift(at.name);
    this.drawTree();
  }

  focus(bar, really) {
    if (!bar) return;
    if (this.focused) this.focused.button.tabIndex = -1;
    this.focused = bar;
    bar.button.tabIndex = 0;
    if (really) bar.button.focus();
  }

  // Arrows go from bar to bar, Enter widens, Backspace takes the parent.
  key(event) {
    const barOf = (node) => this.bars.find((bar) => bar.node === node);
    const {node} = this.focused;
    const uses = {
      ArrowUp: () => barOf(node.parent),
      ArrowDown: () => this.bars.find((bar) => bar.node.parent === node),
      ArrowLeft: () => this.sibling(-1),
      ArrowRight: () => this.sibling(1),
    };
    if (event.key === "Backspace") {
      this.path.pop();
      this.drawTree();
    } else if (uses[event.key]) {
      this.focus(uses[event.key](), true);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  sibling(step) {
    const siblings = this.bars.filter(({depth}) => depth === this.focused.depth);
    siblings.sort((a, b) => a.left - b.left);
    return siblings[siblings.indexOf(this.focused) + step];
  }
}

// Adds the callees of the bar to the bars, and theirs; whether some were too narrow.
function addCallees(bars, {node, left, width, depth}) {
  const callees = [...node.children.values()].sort((a, b) => b.bytes - a.bytes);
  let leavesOut = false;
  let from = left;
  for (const callee of callees) {
    const share = (width * callee.bytes) / node.bytes;
    if (share < kLeastBar) return true;
    const bar = {node: callee, left: from, width: share, depth: depth + 1};
    bars.push(bar);
    leavesOut = addCallees(bars, bar) || leavesOut;
    from += share;
  }
  return leavesOut;
}

function flameTree(trace, live, folds, {kind}) {
  const root = flameNode("all live memory", null);
  const sums = new Map();  // stack -> [bytes, blocks, key of their colour]
  for (const block of live) {
    const key = kind.key(trace, block);
    const sum = sums.get(trace.stack[block]) || [0, 0, key];
    const common = sum[2] === key ? key : kManyColours;
    sums.set(trace.stack[block], [sum[0] + trace.size[block], sum[1] + 1, common]);
  }
  for (const [stack, sum] of sums) {
    let node = root;
    grow(node, sum);
    for (const name of flamePath(trace, stack, folds)) {
      node = childOf(node, name);
      grow(node, sum);
    }
  }
  return root;
}

function flameNode(name, parent) {
  return {name, parent, bytes: 0, blocks: 0, key: null, children: new Map()};
}

function childOf(node, name) {
  if (!node.children.has(name)) node.children.set(name, flameNode(name, node));
  return node.children.get(name);
}

function grow(node, [bytes, blocks, key]) {
  node.key = node.blocks === 0 || node.key === key ? key : kManyColours;
  node.bytes += bytes;
  node.blocks += blocks;
}

// Names from the outermost frame on. Folded: between the program's own frames one bar stands for
// all others, inside of the innermost and outside of the outermost none does.
function flamePath(trace, stack, folds) {
  const frames = trace.framesOf(stack);
  if (!frames.length) return [trace.placeOfStack(stack)];
  const outermostFirst = frames.reverse();
  if (!folds || frames.every(({noise}) => noise)) return outermostFirst.map(({text}) => text);
  const names = [];
  let skipped = false;
  for (const {text, noise} of outermostFirst) {
    if (!noise && skipped && names.length) names.push(kFoldedFrame);
    if (!noise) names.push(text);
    skipped = noise;
  }
  return names;
}

// The nodes from the root along the names, as far as they are there.
function chainTo(root, names) {
  const chain = [root];
  for (const name of names) {
    const next = chain[chain.length - 1].children.get(name);
    if (!next) break;
    chain.push(next);
  }
  return chain;
}

// "/home/me/model.py:41 forward" without its folders.
function shortFrame(name) {
  return name.replace(/^\S*[/\\](?=[^/\\\s]+:\d+ )/, "");
}
