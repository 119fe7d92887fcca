// A slider for every code, grouped by strand.
"use strict";

const OPENED = 24; // sliders of a group that are made at once
const FOLDED = 40; // a group of more is folded, unless it is the one to begin with
const sliders = new Map();

function buildSliders() {
  const measure = content.activity.unit === "nats" ? "KL divergence in nats" : "variance";
  find("codes-note").textContent = `Grouped by strand, the busiest first; bars show each code’s ${measure}.`;
  for (const { name, codes } of content.groups) find("groups").append(group(name, codes));
}

function group(name, codes) {
  const count = ` ${codes.length} ${codes.length === 1 ? "code" : "codes"}`;
  const words = element("span", { class: "soft", text: count });
  const heading = element("summary", {}, element("strong", { text: name }), words);
  const list = element("div", { class: "sliders" });
  const more = element("button", { type: "button", class: "quiet", onclick: () => grow() });
  const open = codes.length <= FOLDED || content.groups.length === 1 || name === content.strand;
  const made = element("details", { open }, heading, list, more);
  let next = 0;
  const grow = () => {
    for (const code of codes.slice(next, next + OPENED)) list.append(slider(code, name));
    next = Math.min(next + OPENED, codes.length);
    const left = codes.length - next;
    more.textContent = left > OPENED ? `Show ${OPENED} more of the other ${left}` : `Show the other ${left}`;
    more.hidden = next === codes.length;
    showSliders();
  };
  made.addEventListener("toggle", () => { if (made.open && !next) grow(); });
  if (open) grow();
  return made;
}

function slider(code, strand) {
  const low = ranges[code], high = ranges[size + code], output = element("output");
  const own = () => codesOf(state.example[state.editing])[code];
  const set = (value) => change(state.editing, (codes) => codes.with(code, value));
  const input = element("input", {
    type: "range", min: low, max: high, step: (high - low) / 240,
    "aria-label": `Code ${code} of ${strand}`, "data-code": code,
    onfocus: () => choose(code),
    oninput: () => { choose(code); set(Number(input.value)); },
    ondblclick: () => set(own()),
  });
  const amount = `${content.activity.unit === "nats" ? "KL" : "variance"} ${shown(amounts[code])}`;
  const bar = element("i", { "aria-hidden": "true" });
  bar.style.setProperty("--share", Math.max(amounts[code], 0) / amounts.reduce((a, b) => Math.max(a, b), 1e-9));
  const attributes = { type: "button", class: "code", tabindex: -1, title: `Sweep code ${code}: ${amount}` };
  const words = element("span", { text: `code ${code}` });
  const label = element("button", { ...attributes, onclick: () => input.focus() }, words, bar);
  const row = element("div", { class: "slider" }, label, input, output);
  sliders.set(code, { input, output, row });
  return row;
}

function showSliders() {
  const codes = state.codes[state.editing], from = codesOf(state.example[state.editing]);
  for (const [code, { input, output, row }] of sliders) {
    const moved = document.activeElement === input && Math.abs(Number(input.value) - codes[code]) <= Number(input.step);
    if (!moved) input.value = codes[code]; // a hand that holds it knows better than its steps
    input.setAttribute("aria-valuetext", shown(codes[code]));
    output.textContent = shown(codes[code]);
    row.classList.toggle("changed", codes[code] !== from[code]);
    row.classList.toggle("chosen", code === state.code);
  }
}
