// What codes tell: neighbours, what each has to do with each factor, and scores.
"use strict";

const NEIGHBOURS = 10;

// Of a model that decodes, the neighbours in the strand that is chosen; of any other, those in every strand.
function showNeighbours() {
  const names = decode ? [find("near").value] : [...strands.keys()];
  const codes = state.codes[state.editing], own = state.example[state.editing];
  find("neighbours").replaceChildren(...names.map((name) => {
    const found = nearest(codes, table, placesOf(name), NEIGHBOURS, own);
    const attributes = { class: "thumbs", role: "group", "aria-label": `Nearest by ${calledStrand(name)}` };
    const line = element("div", attributes, ...found.map(({ row, gap }) => thumbnail(row, shown(gap), () => pick(row))));
    roving(line, () => columnsOf(line));
    return element("div", {}, ...(decode ? [] : [element("h3", { text: name })]), line);
  }));
}

function buildMatrix() {
  const matrix = content.matrix;
  if (!matrix) return;
  const turned = matrix.factors.length > 6 ? "turned" : null;
  const head = [element("th", { scope: "col", text: "code" })];
  for (const name of matrix.factors) {
    head.push(element("th", { scope: "col", class: turned }, element("span", { text: name })));
  }
  find("matrix").append(element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...matrixRows(matrix)));
  roving(find("matrix"), () => matrix.factors.length);
  find("matrix-heading").textContent = matrix.heading;
  find("matrix-note").textContent = matrix.meaning;
  find("cell").textContent = "Point at a cell, or go there with the keys, to have it explained.";
  find("knowledge").hidden = false;
}

// A row for each code, under the name of its strand where there are several.
function matrixRows(matrix) {
  const home = (row) => content.groups.find(({ codes }) => codes.includes(row.codes[0])).name;
  const several = new Set(matrix.rows.map(home)).size > 1, made = [];
  matrix.rows.forEach((row, place) => {
    if (several && (place === 0 || home(row) !== home(matrix.rows[place - 1]))) {
      const across = { scope: "colgroup", colspan: matrix.factors.length + 1, class: "strand" };
      made.push(element("tr", {}, element("th", { ...across, text: home(row) })));
    }
    const heading = element("th", { scope: "row", text: row.name.replace(/^code /, "") });
    made.push(element("tr", {}, heading, ...matrix.factors.map((_, column) => cell(matrix, place, column))));
  });
  return made;
}

function cell(matrix, place, column) {
  const value = matrix.values[place][column];
  const explain = () => { find("cell").textContent = explained(matrix, place, column); };
  const act = () => { explain(); if (decode) choose(matrix.rows[place].codes[0]); };
  const button = element("button", { type: "button", text: value.toFixed(2), onfocus: explain, onclick: act });
  const made = element("td", { class: "share", onpointerenter: explain }, button);
  made.style.setProperty("--share", value.toFixed(3));
  return made;
}

// One cell in words: what the number says, and how it stands in its row and column.
function explained(matrix, place, column) {
  const percent = (share) => `${Math.round(100 * share)} %`;
  const row = matrix.rows[place].name, factor = matrix.factors[column], here = matrix.values[place];
  const value = here[column], best = here.indexOf(Math.max(...here));
  const next = Math.max(0, ...matrix.values.filter((_, other) => other !== place).map((values) => values[column]));
  const start = `${row.charAt(0).toUpperCase() + row.slice(1)} holds ${percent(value)} ${matrix.unit} ${factor}`;
  if (value < 0.01) return `${start}: next to nothing.`;
  const first = `more than any other (the next has ${percent(next)})`;
  const standing = value >= next ? first : `another has ${percent(next)}`;
  const mostly = best === column ? "" : ` It has more to do with ${matrix.factors[best]}.`;
  return `${start}: ${standing}.${mostly}`;
}

function buildScores() {
  find("unscored").hidden = content.scores.length > 0;
  for (const { metric, value, meaning, protocol, n, on } of content.scores) {
    const further = metric.includes("."), how = [protocol, `n = ${n}`, on].filter(Boolean).join(", ");
    const words = element("small", { class: "soft", text: `${meaning} (${how})`.trim() });
    const number = element("strong", { text: shownScore(value) });
    const entry = element("div", {}, element("dt", { text: metric }), element("dd", {}, number, words));
    find(further ? "further-list" : "score-list").append(entry);
    if (further) find("further-scores").hidden = false;
  }
}
