"use strict";
// What the program says at a terminal, as paragraphs, tables and lines to copy.

const kGap = /\s{2,}/;
const kTerminal = 100;  // columns

// The cells of a line with where they begin.
function cellsOf(line) {
  return [...line.matchAll(/\S+(?: \S+)*/g)].map((match) => ({
                                                   from: match.index,
                                                   to: match.index + match[0].length,
                                                   text: match[0],
                                                 }));
}

function isCommand(line) {
  return /^\s*(memreplay [a-z]|export [A-Z_]+=)/.test(line);
}

function isRow(line) {
  return kGap.test(line.trim());
}

// Where columns are: what no row of several cells leaves blank, joined.
function columnsOf(rows) {
  const spans = [];
  for (const {from, to} of rows.flat()) spans.push([from, to]);
  spans.sort((a, b) => a[0] - b[0]);
  const columns = [];
  for (const [from, to] of spans) {
    const last = columns[columns.length - 1];
    if (last && from <= last[1]) {
      last[1] = Math.max(last[1], to);
    } else {
      columns.push([from, to]);
    }
  }
  return columns;
}

function columnAt(columns, {from, to}) {
  const at = columns.findIndex(([begin, end]) => from < end && to > begin);
  return at < 0 ? columns.length - 1 : at;
}

// Rows as texts by column; a line that only goes on with its neighbour is put into it.
function gridOf(lines) {
  const cells = lines.map(cellsOf);
  const most = Math.max(...cells.map((row) => row.length));
  // A cell that is too long for its column says nothing of where columns are.
  const columns = columnsOf(cells.filter((row) => row.length === most));
  const grid = [];
  let above = [];  // the row that a line below its last cell goes on with
  for (const row of cells) {
    const begun = row.length === 1 ? above.findIndex(({from}) => from === row[0].from) : -1;
    if (begun > 0) {
      grid[grid.length - 1][begun] += ` ${row[0].text}`;
      continue;
    }
    if (row.length === most) above = row;
    const texts = Array(columns.length).fill("");
    row.forEach((cell) => {
      const at = row.length === most ? row.indexOf(cell) : columnAt(columns, cell);
      texts[at] = texts[at] ? `${texts[at]} ${cell.text}` : cell.text;
    });
    const last = grid[grid.length - 1];
    const fills = last && row.length < most && texts.every((text, i) => !text || !last[i]);
    const goesOn = row.length === 1 && last && texts[columns.length - 1];
    const isHead = grid.length === 1 && last.filter(Boolean).length === 1 && !last[0];
    if (fills || goesOn || isHead) {
      texts.forEach((text, i) => {
        if (text) last[i] = last[i] ? `${last[i]} ${text}` : text;
      });
    } else {
      grid.push(texts);
    }
  }
  return grid;
}

function isNumber(text) {
  return /^(at least )?[-+]?[\d,.]+( ?[KMGT]iB| B| %| s| ms| to .*)?$/.test(text) || text === "-";
}

function tableOf(lines) {
  const grid = gridOf(lines);
  const width = grid[0].length;
  const numeric = Array.from({length: width}, (_, i) => {
    const texts = grid.slice(1).map((row) => row[i]).filter(Boolean);
    return i > 0 && texts.length > 0 && texts.filter(isNumber).length * 2 > texts.length;
  });
  const hasHead =
      numeric.includes(true) && !grid[0].some((text, i) => numeric[i] && isNumber(text));
  const body = hasHead ? grid.slice(1) : grid;
  const kindOf = (text) => (/\S{24}/.test(text) ? "left long" : "left");
  const cell = (tag, text, i) => element(tag, numeric[i] ? {} : {class: kindOf(text)}, text);
  const made = (tag, row) => element("tr", {}, ...row.map((text, i) => cell(tag, text, i)));
  const table = element("table");
  if (hasHead) table.append(element("thead", {}, made("th", grid[0])));
  table.append(element("tbody", {}, ...body.map((row) => made("td", row))));
  return element("div", {class: "scrolls-wide"}, table);
}

function copyButton(text) {
  const button =
      element("button", {type: "button", class: "copy", "aria-label": `copy: ${text}`}, "copy");
  button.addEventListener("click", async () => {
    await copyText(text);
    button.textContent = "copied";
    setTimeout(() => (button.textContent = "copy"), 1500);
  });
  return button;
}

// Where the browser does not offer its clipboard, what is selected is copied.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", {class: "away"}, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// Lines break between its words alone.
function commandOf(text) {
  const words = text.split(" ").flatMap((word) => [element("span", {}, word), " "]);
  words.pop();
  return element("p", {class: "command"}, element("code", {}, ...words), copyButton(text));
}

// Lines as sentences: one begins anew where its first word, or its size with the unit, had found
// room on the line before.
function paragraphsOf(lines) {
  const paragraphs = [];
  lines.forEach((line, i) => {
    const [word] = line.trim().match(/^[\d.,]+ (?:[KMGT]i)?B\b|^\S+/);
    const had = i > 0 && lines[i - 1].length + 1 + word.length <= kTerminal;
    if (i === 0 || had) {
      paragraphs.push(line.trim());
    } else {
      paragraphs[paragraphs.length - 1] += ` ${line.trim()}`;
    }
  });
  return paragraphs;
}

// Stretches of lines of one kind.
function stretches(lines) {
  const kindOf = (line) => isCommand(line) ? "command" : isRow(line) ? "row" : "text";
  const found = [];
  lines.forEach((line, i) => {
    let kind = kindOf(line);
    const last = found[found.length - 1];
    const next = lines.slice(i + 1).find((other) => kindOf(other) !== "text");
    // One long cell between the rows of a table belongs to it, as do one that goes on, and the
    // first line of a head of two.
    const inside = last && last.kind === "row" && (/^ {3,}\S/.test(line) || (next && isRow(next)));
    const above = /^ {20,}\S/.test(line) && next && isRow(next);
    if (kind === "text" && (inside || above)) kind = "row";
    if (last && last.kind === kind && kind !== "command") {
      last.lines.push(line);
    } else {
      found.push({kind, lines: [line]});
    }
  });
  return found;
}

function answerOf(text) {
  const answer = element("div", {class: "answer"});
  for (const block of text.replace(/\s+$/, "").split(/\n\s*\n/)) {
    const lines = block.split("\n").filter((line) => line.trim());
    for (const {kind, lines: some} of stretches(lines)) {
      if (kind === "command") answer.append(commandOf(some[0].trim()));
      if (kind === "row") answer.append(tableOf(some));
      if (kind === "text")
        answer.append(...paragraphsOf(some).map((line) => element("p", {}, line)));
    }
  }
  return answer;
}

function firstParagraph(text) {
  return text.trim().split(/\n\s*\n/)[0].replace(/\s+/g, " ");
}
