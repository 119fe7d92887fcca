// One slider per dimension, grouped by strand.
"use strict";

const OPENED = 24; // sliders of a group that are built at once
const FOLDED = 40; // larger groups are folded, except the default strand
const sliders = new Map();

function buildSliders() {
  const measure = content.activity.unit === "nats" ? "KL divergence in nats" : "variance";
  find("codes-note").textContent = `Grouped by strand, most active first. Bars: ${measure} per dimension.`;
  for (const { name, dims } of content.groups) find("groups").append(group(name, dims));
}

function group(name, dims) {
  const count = ` ${dims.length} ${dims.length === 1 ? "dimension" : "dimensions"}`;
  const words = element("span", { class: "soft", text: count });
  const heading = element("summary", {}, element("strong", { text: name }), words);
  const list = element("div", { class: "sliders" });
  const more = element("button", { type: "button", class: "quiet", onclick: () => grow() });
  const open = dims.length <= FOLDED || content.groups.length === 1 || name === content.strand;
  const built = element("details", { open }, heading, list, more);
  let next = 0;
  const grow = () => {
    for (const dim of dims.slice(next, next + OPENED)) list.append(slider(dim, name));
    next = Math.min(next + OPENED, dims.length);
    const left = dims.length - next;
    more.textContent = left > OPENED ? `Show ${OPENED} more (${left} hidden)` : `Show the other ${left}`;
    more.hidden = next === dims.length;
    showSliders();
  };
  built.addEventListener("toggle", () => { if (built.open && !next) grow(); });
  if (open) grow();
  return built;
}

function slider(dim, strand) {
  const low = ranges[dim], high = ranges[size + dim], output = element("output");
  const initial = () => codesOf(state.example[state.editing])[dim];
  const set = (value) => change(state.editing, (codes) => codes.with(dim, value));
  const input = element("input", {
    type: "range", min: low, max: high, step: (high - low) / 240,
    "aria-label": `Dimension ${dim} of ${strand}`, "data-code": dim,
    onfocus: () => choose(dim),
    oninput: () => { choose(dim); set(Number(input.value)); },
    ondblclick: () => set(initial()),
  });
  const amount = `${content.activity.unit === "nats" ? "KL" : "variance"} ${shown(amounts[dim])}`;
  const bar = element("i", { "aria-hidden": "true" });
  bar.style.setProperty("--share", Math.max(amounts[dim], 0) / amounts.reduce((a, b) => Math.max(a, b), 1e-9));
  const attributes = { type: "button", class: "code", tabindex: -1, title: `Traverse dimension ${dim}: ${amount}` };
  const words = element("span", { text: `dimension ${dim}` });
  const label = element("button", { ...attributes, onclick: () => input.focus() }, words, bar);
  const row = element("div", { class: "slider" }, label, input, output);
  sliders.set(dim, { input, output, row });
  return row;
}

function showSliders() {
  const codes = state.codes[state.editing], from = codesOf(state.example[state.editing]);
  for (const [dim, { input, output, row }] of sliders) {
    const moved = document.activeElement === input && Math.abs(Number(input.value) - codes[dim]) <= Number(input.step);
    if (!moved) input.value = codes[dim]; // a slider that is being dragged keeps its own position
    input.setAttribute("aria-valuetext", shown(codes[dim]));
    output.textContent = shown(codes[dim]);
    row.classList.toggle("changed", codes[dim] !== from[dim]);
    row.classList.toggle("chosen", dim === state.dim);
  }
}
