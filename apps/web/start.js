"use strict";
// What a person does to the page.

// Files of one name get a folder each; no name leaves the folder, and none is that of an output.
function withPaths(files) {
  const taken = new Set(kOutputs);
  return files.map((file, i) => {
    let path = (file.path || file.name)
                   .split("/")
                   .filter((part) => part && part !== "." && part !== "..")
                   .join("/");
    while (taken.has(path) || taken.has(path.split("/")[0])) path = `${i}/${path}`;
    taken.add(path);
    return {path, content: file.content || file};
  });
}

function saveButton(title, name, bytes, type) {
  const button = element("button", {type: "button", class: "save"}, title);
  button.addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([bytes], {type}));
    element("a", {href: address, download: name}).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  });
  return button;
}

// Files of a dropped folder too, in the order of their paths, which tell ranks apart.
async function filesIn(entry) {
  if (entry.isFile) {
    const content = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{path: entry.fullPath, content}];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    found.push(...some);
  }
  const nested = await Promise.all(found.map(filesIn));
  return nested.flat();
}

async function filesOf(transfer) {
  const entries =
      [...transfer.items].map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry());
  const files = entries.some((entry) => entry && entry.isDirectory) ?
      (await Promise.all(entries.filter(Boolean).map(filesIn))).flat() :
      [...transfer.files];
  const name = (file) => file.path || file.name;
  return files.sort((a, b) => name(a).localeCompare(name(b), "en", {numeric: true}));
}

function textFile(text) {
  return new File([text], "pasted.txt", {type: "text/plain"});
}

function listenToFiles(shell) {
  const over = (is) => document.body.classList.toggle("over", is);
  addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  addEventListener("dragleave", (event) => event.relatedTarget || over(false));
  addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    filesOf(event.dataTransfer)
        .then(
            (files) => shell.read(files),
            () => shell.refuse("The browser does not open this folder: drop the files that are in it."));
  });
  addEventListener("paste", (event) => {
    if (/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
    const {files} = event.clipboardData;
    const text = event.clipboardData.getData("text/plain");
    if (files.length)
      shell.read([...files]);
    else if (text.trim())
      shell.read([textFile(text)]);
  });
  byId("choose").addEventListener("click", () => byId("chosen").click());
  byId("chosen").addEventListener("change", () => {
    shell.read([...byId("chosen").files]);
    byId("chosen").value = "";
  });
  byId("paste").addEventListener("click", () => {
    byId("pasting").hidden = !byId("pasting").hidden;
    if (!byId("pasting").hidden) byId("pasted").focus();
  });
  byId("pasting").addEventListener("submit", (event) => {
    event.preventDefault();
    if (byId("pasted").value.trim()) shell.read([textFile(byId("pasted").value)]);
  });
  byId("example").addEventListener("click", async () => {
    const bytes = await unpackedPart("example-recording");
    shell.read([new File([bytes], "gpt_train_oom.pickle")]);
  });
}

function startShell() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches);
  if (typeof DecompressionStream === "undefined" || typeof WebAssembly === "undefined") {
    byId("loading").textContent = "This browser is too old to unpack the program.";
    return null;
  }
  const shell = new Shell();
  shell.ready.catch(
      (error) => (byId("loading").textContent = `The program cannot be started:  ${error.message}`));
  const change = (to) => {
    setTheme(to);
    shell.dress();
  };
  dark.addEventListener("change", () => change(dark.matches));
  byId("theme").addEventListener("click", () => change(!isDark()));
  byId("home").addEventListener("click", () => shell.home());
  byId("stop").addEventListener("click", () => shell.program.stop());
  byId("capacity").addEventListener("input", () => shell.wishSoon());
  byId("setting").addEventListener("input", () => shell.lint());
  byId("what-if").addEventListener("submit", (event) => {
    event.preventDefault();
    shell.answer();
  });
  listenToFiles(shell);
  return shell;
}

const shell = startShell();
