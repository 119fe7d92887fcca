// Neighbors, importance of dimensions for factors, and scores.
"use strict";

const NEIGHBORS = 10;

// Neighbors in the selected strand; for a model without a decoder, in every strand.
function showNeighbors() {
  const names = decode ? [find("near").value] : [...strands.keys()];
  const codes = state.codes[state.editing], row = state.example[state.editing];
  find("neighbors").replaceChildren(...names.map((name) => {
    const neighbors = nearest(codes, table, dimsOf(name), NEIGHBORS, row);
    const attributes = { class: "thumbs", role: "group", "aria-label": `Nearest neighbors by ${strandLabel(name)}` };
    const line = element("div", attributes, ...neighbors.map(({ row, gap }) => thumbnail(row, shown(gap), () => pick(row))));
    roving(line, () => columnsOf(line));
    return element("div", {}, ...(decode ? [] : [element("h3", { text: name })]), line);
  }));
}

function buildMatrix() {
  const matrix = content.matrix;
  if (!matrix) return;
  const turned = matrix.factors.length > 6 ? "turned" : null;
  const head = [element("th", { scope: "col", text: "dimension" })];
  for (const name of matrix.factors) {
    head.push(element("th", { scope: "col", class: turned }, element("span", { text: name })));
  }
  find("matrix").append(element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...matrixRows(matrix)));
  roving(find("matrix"), () => matrix.factors.length);
  find("matrix-heading").textContent = matrix.heading;
  find("matrix-note").textContent = matrix.description;
  find("cell").textContent = "Hover over or focus a cell for an explanation.";
  find("importance").hidden = false;
}

// One row per dimension, under the name of its strand if there are several.
function matrixRows(matrix) {
  const home = (row) => content.groups.find(({ dims }) => dims.includes(row.dims[0])).name;
  const several = new Set(matrix.rows.map(home)).size > 1, built = [];
  matrix.rows.forEach((row, index) => {
    if (several && (index === 0 || home(row) !== home(matrix.rows[index - 1]))) {
      const across = { scope: "colgroup", colspan: matrix.factors.length + 1, class: "strand" };
      built.push(element("tr", {}, element("th", { ...across, text: home(row) })));
    }
    const heading = element("th", { scope: "row", text: row.name.replace(/^dimension /, "") });
    built.push(element("tr", {}, heading, ...matrix.factors.map((_, column) => cell(matrix, index, column))));
  });
  return built;
}

function cell(matrix, index, column) {
  const value = matrix.values[index][column];
  const explain = () => { find("cell").textContent = explained(matrix, index, column); };
  const act = () => { explain(); if (decode) choose(matrix.rows[index].dims[0]); };
  const button = element("button", { type: "button", text: value.toFixed(2), onfocus: explain, onclick: act });
  const built = element("td", { class: "share", onpointerenter: explain }, button);
  built.style.setProperty("--share", value.toFixed(3));
  return built;
}

// Explanation of one cell and its rank in its row and column.
function explained(matrix, index, column) {
  const percent = (share) => `${Math.round(100 * share)} %`;
  const row = matrix.rows[index].name, factor = matrix.factors[column], shares = matrix.values[index];
  const value = shares[column], best = shares.indexOf(Math.max(...shares));
  const next = Math.max(0, ...matrix.values.filter((_, other) => other !== index).map((values) => values[column]));
  const start = `${row.charAt(0).toUpperCase() + row.slice(1)}: ${percent(value)} ${matrix.unit} ${factor}`;
  if (value < 0.01) return `${start}, negligible.`;
  const first = `the largest share (second: ${percent(next)})`;
  const standing = value >= next ? first : `the largest share is ${percent(next)}`;
  const mostly = best === column ? "" : ` Its largest share is for ${matrix.factors[best]}.`;
  return `${start}, ${standing}.${mostly}`;
}

function buildScores() {
  find("unscored").hidden = content.scores.length > 0;
  for (const { metric, value, description, protocol, n, on } of content.scores) {
    const further = metric.includes("."), settings = [protocol, `n = ${n}`, on].filter(Boolean).join(", ");
    const text = element("small", { class: "soft", text: `${description} (${settings})`.trim() });
    const number = element("strong", { text: shownScore(value) });
    const entry = element("div", {}, element("dt", { text: metric }), element("dd", {}, number, text));
    find(further ? "further-list" : "score-list").append(entry);
    if (further) find("further-scores").hidden = false;
  }
}
