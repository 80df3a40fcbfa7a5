"use strict";
// What is dropped, what is asked of it, and where the answers stand.

const kAnswerFile = "answer.json";
const kPageFile = "page.html";
const kFirstFile = "first.svg";
const kOutputs = [kAnswerFile, kPageFile, kFirstFile];

// As an argument: no name is an option.
function argumentOf(path) {
  return path.startsWith("-") ? `./${path}` : path;
}

// `always`: asked for without the tab being opened. `args`: the command, for files and wishes.
const kTabs = [
  {id: "picture", title: "Picture", always: true},
  {
    id: "why",
    title: "Why",
    always: true,
    args: (w) => ["explain", ...w.files, ...w.device, ...w.setting]
  },
  {id: "ranks", title: "Ranks", many: true, always: true, args: (w) => ["ranks", ...w.files]},
  {
    id: "tune",
    title: "Which setting",
    always: true,
    args: (w) => ["tune", ...w.files, ...w.device]
  },
  {
    id: "fit",
    title: "Which card",
    args: (w) => ["fit", ...w.files, ...w.beside, "--device-name", w.cards.join(",")],
  },
  {
    id: "compare",
    title: "Other allocators",
    args: (w) => ["compare", ...w.files, ...w.device, ...w.beside],
  },
];

// Without control characters and what turns the direction of a text.
function visible(name) {
  const hidden = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
  return name.replace(hidden, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

class Shell {
  constructor() {
    this.files = [];
    this.cards = [];
    this.tabs = new Tabs(kTabs, (id) => this.opened(id));
    this.answers = 0;  // given so far, for those who wait for one
    this.ready = this.load();
  }

  async load() {
    this.program = await Program.load();
    // Others answer while the first, which is begun here, is at work.
    this.aside = new Program(this.program.module);
    this.linter = new Program(this.program.module);
    byId("loading").textContent = "";
    const listed = await this.program.run(
        ["list", "cards", `--json=${kAnswerFile}`], {outputs: [kAnswerFile]});
    const {cards} = JSON.parse(new TextDecoder().decode(listed.outputs[kAnswerFile]));
    this.cards = cards.map(({card}) => card);
    const options = cards.map(
        ({card, total}) => element("option", {value: total.replace(" ", ""), label: card}));
    byId("cards").replaceChildren(...options);
    document.body.dataset.ready = "loaded";
  }

  // What is asked, as the words of a command line.
  wishes() {
    const capacity = byId("capacity").value.replace(/\s+/g, "");
    const setting = byId("setting").value.trim();
    return {
      files: this.files.map(({path}) => argumentOf(path)),
      cards: this.cards,
      device: capacity ? [`--capacity=${capacity}`] : [],
      setting: setting ? [`--alloc-conf=${setting}`] : [],
      beside: setting ? ["-s", "recorded", `--alloc-conf=${setting}`] : [],
    };
  }

  async read(files) {
    if (!files.length) return;
    await this.ready;
    clearTimeout(this.wishing);
    this.files = withPaths(files);
    document.body.classList.remove("welcoming");
    byId("welcome").hidden = true;
    byId("answers").hidden = false;
    byId("capacity").value = "";
    byId("setting").value = "";
    byId("lint").textContent = "";
    const names =
        this.files.map(({path, content}) => `${visible(path)} (${humanSize(content.size)})`);
    byId("files").textContent = names.length > 3 ?
        `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` :
        names.join(", ");
    document.title = `${visible(this.files[0].path)} – memreplay`;
    this.showTabs();
    await this.answer();
  }

  showTabs() {
    this.hasOneTab = false;
    this.tabs.show((tab) => !tab.many || this.files.length > 1);
    this.tabs.choose("picture");
  }

  // What was dropped cannot be read at all.
  refuse(message) {
    byId(this.files.length ? "files" : "loading").textContent = message;
  }

  // Everything anew, for these files and wishes: first what is read first.
  async answer() {
    const run = (this.current = {began: performance.now()});
    this.program.stop();
    this.aside.stop();
    this.tabs.clear();
    if (this.hasOneTab) this.showTabs();
    byId("verdict").textContent = "…";
    byId("verdict").classList.remove("failed");
    byId("best").hidden = true;
    byId("tabs").hidden = byId("panels").hidden = false;
    const several = this.files.length > 1;
    try {
      const isDrawn = await this.draw();
      const first = await this.ask(several && isDrawn ? "ranks" : "why", "explaining");
      this.verdict(first);
      if (isDrawn && first.status !== 2) {
        await this.ask("tune", "trying settings");
        if (several) await this.ask("why", "explaining");
      }
    } catch (error) {
      if (run !== this.current) return;
      this.fail(error instanceof Stopped ? "Stopped." : error.message, error instanceof Stopped);
    }
    if (run !== this.current) return;
    byId("working").hidden = true;
    document.body.dataset.seconds = ((performance.now() - run.began) / 1000).toFixed(2);
    document.body.dataset.answers = ++this.answers;
  }

  // The answer of a tab's command.
  async ask(id, doing, program = this.program) {
    const tab = kTabs.find((one) => one.id === id);
    const options = {
      files: this.files,
      outputs: [kAnswerFile],
      progress: (line) => program === this.program && this.show(line, doing),
    };
    if (program === this.program) this.show("", doing);
    const args = [...tab.args(this.wishes()), `--json=${kAnswerFile}`];
    const result = await program.run(args, options);
    const json = result.outputs[kAnswerFile];
    this.tabs.fill(id, [
      answerOf(result.text),
      ...result.notes.trim() ? [element("p", {class: "quiet"}, result.notes.trim())] : [],
      ...json ? [saveButton("save as JSON", `${id}.json`, json, "application/json")] : [],
    ]);
    if (id === "tune" && json) this.showBest(result, JSON.parse(new TextDecoder().decode(json)));
    return result;
  }

  verdict(result) {
    if (result.status === 2) return this.fail(result.notes.trim().replace(/^memreplay: /, ""));
    byId("verdict").textContent = firstParagraph(result.text);
  }

  // What was found before the end stays.
  fail(message, isStopped = false) {
    const keeps = isStopped && this.tabs.isFilled("picture");
    for (const {id, always} of keeps ? kTabs : []) {
      if (always && !this.tabs.isFilled(id)) this.tabs.fill(id, [element("p", {}, message)]);
    }
    if (keeps && byId("verdict").textContent !== "…") return;
    byId("verdict").textContent = message;
    byId("verdict").classList.add("failed");
    byId("tabs").hidden = byId("panels").hidden = !keeps;
  }

  // What tune says first, with the line to paste.
  showBest(result, {best}) {
    const line = best && best.helps && best.env;
    byId("best").hidden = !line;
    if (line) {
      byId("best").replaceChildren(element("p", {}, firstParagraph(result.text)), commandOf(line));
    }
  }

  // False where there is nothing to draw, as of a message: then the words are all there is.
  async draw() {
    const {files, device, beside} = this.wishes();
    this.show("", "reading");
    const result = await this.program.run(
        [
          "report", ...files, ...device, ...beside, "--runs", "0", "--svg", kFirstFile, "-o",
          kPageFile
        ],
        {
          files: this.files,
          outputs: [kPageFile, kFirstFile],
          progress: (line) => this.show(line, "drawing"),
          written: (path, bytes) => path === kFirstFile && this.showFirst(bytes),
        });
    const html = result.outputs[kPageFile];
    if (!html) {
      this.hasOneTab = true;
      this.tabs.show(({id}) => id === "why");
      this.tabs.choose("why");
      return false;
    }
    const frame = element("iframe", {title: "Pictures of the recording"});
    frame.srcdoc = new TextDecoder().decode(html).replace(
        "<body>",
        "<body><style>body { padding: 0; } header h1, header .headline, header .answer > p:first-child " +
            "{ display: none; }</style>");
    frame.addEventListener("load", () => {
      this.dress();
      const headline = frame.contentDocument.querySelector(
          "header .answer p, header div:not([hidden]) .headline");
      if (headline && byId("verdict").textContent === "…")
        byId("verdict").textContent = headline.textContent;
      document.querySelector("#panels .first")?.remove();
      document.body.dataset.drawn = "1";
    });
    this.tabs.fill("picture", [
      ...document.querySelectorAll("#panels .first"),
      frame,
      saveButton("save this picture as a page", "memreplay.html", html, "text/html"),
    ]);
    return true;
  }

  // What needs no replay: until the page is there, which has it too.
  showFirst(bytes) {
    const address = URL.createObjectURL(new Blob([bytes], {type: "image/svg+xml"}));
    const image = element("img", {src: address, class: "first", alt: "Live blocks over events"});
    image.addEventListener("load", () => {
      URL.revokeObjectURL(address);
      document.body.dataset.first = "1";
    });
    this.tabs.fill("picture", [image]);
  }

  // The picture in the colours of the page around it, and as wide: it is drawn where it is seen.
  dress() {
    const frame = document.querySelector("#panels iframe");
    if (!frame || !frame.contentDocument || !frame.offsetWidth) return;
    const inner = frame.contentDocument;
    const theme = inner.getElementById("theme");
    if (!theme) return;
    if (inner.documentElement.dataset.theme !== document.documentElement.dataset.theme)
      theme.click();
    theme.hidden = true;
    frame.contentWindow.dispatchEvent(new Event("resize"));
  }

  // A tab whose answer nobody asked for yet.
  async opened(id) {
    const tab = kTabs.find((one) => one.id === id);
    if (id === "picture") this.dress();
    if (tab.always || this.tabs.isFilled(id)) return;
    this.tabs.fill(id, [element("p", {class: "quiet"}, "…")]);
    try {
      await this.ask(id, "", this.aside);
    } catch (error) {
      if (!(error instanceof Stopped)) this.tabs.fill(id, [element("p", {}, error.message)]);
    }
  }

  // How far the program is: "12 % replaying", or what is done without a number.
  show(line, doing) {
    const [, share, what] = /^(\d+) % (.*)$/.exec(line) || [null, null, doing];
    byId("working").hidden = false;
    byId("doing").textContent = what || doing;
    if (share === null) {
      byId("share").removeAttribute("value");
    } else {
      byId("share").value = Number(share);
    }
  }

  // --- what if
  wishSoon() {
    clearTimeout(this.wishing);
    this.wishing = setTimeout(() => this.answer(), 700);
  }
  async lint() {
    const setting = byId("setting").value.trim();
    const said = byId("lint");
    if (!setting) {
      said.textContent = "";
      return this.wishSoon();
    }
    clearTimeout(this.wishing);
    try {
      const {status, text, notes} = await this.linter.run(["lint", "--", setting]);
      if (byId("setting").value.trim() !== setting) return;
      said.textContent = (text || notes).trim();
      said.classList.toggle("failed", status !== 0);
      if (status === 0) this.wishSoon();
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
  }

  home() {
    this.current = null;
    clearTimeout(this.wishing);
    this.program.stop();
    this.aside.stop();
    this.files = [];
    byId("answers").hidden = true;
    byId("welcome").hidden = false;
    document.body.classList.add("welcoming");
    document.title = "memreplay: why did it run out of GPU memory?";
  }
}
