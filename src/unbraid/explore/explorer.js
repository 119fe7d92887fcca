// The page: what is chosen, what is shown of it, and how the two stay together.
"use strict";

const content = JSON.parse(document.getElementById("content").textContent);
const numbers = (array) => (array === null ? null : unpack(array));
const size = content.centre.shape[0], shape = content.shape, images = shape.length === 3;
const centre = numbers(content.centre), spread = numbers(content.spread), ranges = numbers(content.ranges);
const amounts = numbers(content.activity.amounts);
const table = numbers(content.examples.codes), conditions = numbers(content.examples.given);
const rows = numbers(content.examples.rows), total = content.examples.codes.shape[0];
const strands = new Map(content.strands.map(({ name, codes }) => [name, codes]));
const largest = rows ? quantile(rows.map(Math.abs), 0.98) : 1, noun = images ? "image" : "row";
const decode = decoderOf(content), queue = decode && new Queue(decode, complain);
const SLOTS = decode ? ["first", "second"] : ["first"];
const FRAMES = 9, NEIGHBOURS = 10, OPENED = 24, FOLDED = 40;
const find = (id) => document.getElementById(id);

const state = {
  example: { first: 0, second: Math.min(1, total - 1) },
  codes: { first: codesOf(0), second: codesOf(Math.min(1, total - 1)) },
  editing: "first",
  code: (content.groups.find(({ name }) => name === content.strand) ?? content.groups[0]).codes[0],
  strand: decode && strands.get(content.strand).length === size ? "" : content.strand, // "" is the chosen code alone
};

function codesOf(row) {
  return table.slice(row * size, (row + 1) * size);
}

function givenOf(slot) {
  if (!conditions) return new Float32Array(0);
  const columns = conditions.length / total, row = state.example[slot];
  return conditions.slice(row * columns, (row + 1) * columns);
}

// The places of a strand, or of the one code that is chosen.
function placesOf(name) {
  return name === "" ? [state.code] : strands.get(name);
}

function calledStrand(name) {
  return name === "" ? `code ${state.code}` : `strand ${name}`;
}

// What is known of an example, in words.
function known(row) {
  const words = content.factors
    .filter(({ of }) => of[row] >= 0)
    .map(({ name, values, of }) => `${name}: ${values[of[row]]}`);
  return words.join(", ") || `example ${row + 1}`;
}

// ---- pictures of examples, cut from one sheet

const sheet = new Image();
const loaded = content.examples.sheet
  ? new Promise((resolve) => { sheet.onload = resolve; sheet.src = content.examples.sheet; })
  : Promise.resolve();

async function drawExample(canvas, row) {
  await loaded;
  if (!images) return drawBars(canvas, rows.subarray(row * shape[0], (row + 1) * shape[0]), largest);
  const [, height, width] = shape, across = content.examples.across;
  Object.assign(canvas, { width, height });
  canvas.getContext("2d").drawImage(
    sheet, (row % across) * width, Math.floor(row / across) * height, width, height, 0, 0, width, height);
}

function thumbnail(row, caption, act) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  drawExample(canvas, row);
  const words = caption ? [element("small", { text: caption })] : [];
  return element("button", { type: "button", class: "thumb", "aria-label": `Example ${row + 1}: ${known(row)}${caption ? `, ${caption}` : ""}`, title: known(row), "data-row": row, onclick: act }, canvas, ...words);
}

// ---- the two images

const pictures = {};

function buildSlots() {
  for (const slot of SLOTS) {
    const canvas = element("canvas", { role: "img", class: "live" });
    const original = element("canvas", { "aria-hidden": "true" });
    const words = element("span", { class: "soft" });
    const input = element("input", { type: "radio", name: "editing", value: slot, class: "hidden", onchange: () => edit(slot) });
    const heading = element("span", { class: "name", text: decode ? `${slot === "first" ? "First" : "Second"} ${noun}` : "The example" });
    const parts = decode ? [canvas, element("span", { class: "origin" }, original, words)] : [original, words];
    if (!decode) original.className = "live";
    find("stage-heading").nextElementSibling.append(element("label", { class: "slot", "data-slot": slot }, input, heading, ...parts));
    pictures[slot] = { canvas, original, words, input };
  }
}

function edit(slot) {
  state.editing = slot;
  showSlots();
  showSliders();
  showSweep();
  showNeighbours();
  remember();
}

function showSlots() {
  for (const slot of SLOTS) {
    const { original, words, input } = pictures[slot], row = state.example[slot];
    input.checked = slot === state.editing;
    drawExample(original, row);
    words.textContent = known(row);
  }
  for (const button of find("examples").children) {
    const current = Number(button.dataset.row) === state.example[state.editing];
    if (current) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

function showPicture(slot) {
  if (!decode) return;
  const { canvas } = pictures[slot];
  queue.ask(slot, slot === state.editing ? 0 : 1, state.codes[slot].slice(), givenOf(slot), (values) => {
    draw(canvas, values, shape, largest);
    canvas.dataset.shown = Number(canvas.dataset.shown ?? 0) + 1;
    canvas.setAttribute("aria-label", `The ${slot} ${noun} decoded, ${described(slot)}`);
  });
}

// How a slot's code differs from its example's, in words.
function described(slot) {
  const from = codesOf(state.example[slot]), now = state.codes[slot];
  const changed = [...now.keys()].filter((code) => now[code] !== from[code]);
  const start = `from ${known(state.example[slot])}`;
  if (!changed.length) return `${start}, unchanged`;
  if (changed.length > 3) return `${start}, ${changed.length} codes changed`;
  return `${start}, ${changed.map((code) => `code ${code} at ${shown(now[code])}`).join(", ")}`;
}

// ---- sliders

const sliders = new Map();

function buildSliders() {
  const measure = content.activity.unit === "nats" ? "KL divergence in nats" : "variance";
  find("codes-note").textContent = `Grouped by strand, the busiest first; bars show each code’s ${measure}.`;
  const most = Math.max(...amounts, 1e-9);
  for (const { name, codes } of content.groups) {
    const list = element("div", { class: "sliders" });
    const heading = element("summary", {}, element("strong", { text: name }), element("span", { class: "soft", text: ` ${codes.length} ${codes.length === 1 ? "code" : "codes"}` }));
    const group = element("details", { open: codes.length <= FOLDED || content.groups.length === 1 || name === content.strand }, heading, list);
    let next = 0;
    const more = element("button", { type: "button", class: "quiet", onclick: () => grow() });
    const grow = () => {
      for (const code of codes.slice(next, next + OPENED)) list.append(slider(code, most));
      next = Math.min(next + OPENED, codes.length);
      more.textContent = `Show more of ${codes.length - next}`;
      more.hidden = next === codes.length;
      showSliders();
    };
    group.append(more);
    group.addEventListener("toggle", () => { if (group.open && !next) grow(); });
    if (group.open) grow();
    find("groups").append(group);
  }
}

function slider(code, most) {
  const low = ranges[code], high = ranges[size + code];
  const output = element("output");
  const input = element("input", {
    type: "range", min: low, max: high, step: (high - low) / 240, "aria-label": `Code ${code}`, "data-code": code,
    onfocus: () => choose(code),
    oninput: () => { choose(code); change(state.editing, (codes) => { codes[code] = Number(input.value); return codes; }); },
    ondblclick: () => change(state.editing, (codes) => { codes[code] = codesOf(state.example[state.editing])[code]; return codes; }),
  });
  const bar = element("i", { "aria-hidden": "true" });
  bar.style.setProperty("--share", Math.max(amounts[code], 0) / most);
  const label = element("button", { type: "button", class: "code", tabindex: -1, title: `Sweep code ${code}: ${content.activity.unit === "nats" ? "KL" : "variance"} ${shown(amounts[code])}`, onclick: () => { choose(code); input.focus(); } }, element("span", { text: `code ${code}` }), bar);
  const row = element("div", { class: "slider" }, label, input, output);
  sliders.set(code, { input, output, row });
  return row;
}

function showSliders() {
  const codes = state.codes[state.editing], from = codesOf(state.example[state.editing]);
  for (const [code, { input, output, row }] of sliders) {
    if (document.activeElement !== input || Math.abs(Number(input.value) - codes[code]) > Number(input.step)) input.value = codes[code];
    input.setAttribute("aria-valuetext", shown(codes[code]));
    output.textContent = shown(codes[code]);
    row.classList.toggle("changed", codes[code] !== from[code]);
    row.classList.toggle("chosen", code === state.code);
  }
}

function choose(code) {
  if (code === state.code) return;
  state.code = code;
  showSliders();
  showStrands();
  showSweep();
  if (find("near").value === "") showNeighbours();
  remember();
}

// ---- what is done to codes

function change(slot, act) {
  state.codes[slot] = act(state.codes[slot].slice());
  queue?.drop("sweep"); // the picture comes first
  showPicture(slot);
  showSliders();
  later(showSweep);
  later(showNeighbours);
  remember();
}

// Calls a function once nothing has asked for it for a moment.
const delays = new Map();

function later(act, delay = 80) {
  clearTimeout(delays.get(act));
  delays.set(act, setTimeout(() => {
    delays.delete(act);
    act();
  }, delay));
}

function pick(row, slot = state.editing) {
  state.example[slot] = row;
  showSlots();
  change(slot, () => codesOf(row));
  say(`The ${slot} ${noun} is example ${row + 1}: ${known(row)}.`);
}

const OPERATIONS = {
  swap() {
    const [first, second] = swap(state.codes.first, state.codes.second, placesOf(state.strand));
    change("second", () => second);
    change("first", () => first);
    say(`${calledStrand(state.strand)} swapped between both ${noun}s.`);
  },
  zero() {
    change(state.editing, (codes) => zero(codes, placesOf(state.strand)));
    say(`${calledStrand(state.strand)} of the ${state.editing} ${noun} set to zero.`);
  },
  randomise() {
    change(state.editing, (codes) => randomise(codes, placesOf(state.strand), centre, spread));
    say(`${calledStrand(state.strand)} of the ${state.editing} ${noun} drawn at random.`);
  },
  average() {
    const factor = content.factors[Number(find("over").value)];
    const value = factor.of[state.example[state.editing]];
    if (value < 0) return say(`What ${factor.name} is in this ${noun} is not known.`);
    const means = numbers(factor.means).subarray(value * size, (value + 1) * size);
    change(state.editing, (codes) => taken(codes, means, placesOf(state.strand)));
    say(`${calledStrand(state.strand)} of the ${state.editing} ${noun} set to the mean of ${factor.name} ${factor.values[value]}.`);
  },
  reset() {
    pick(state.example[state.editing]);
  },
};

function complain(error) {
  say(`${content.served ? "The server does not answer as it should" : "The image could not be decoded"} (${error.message}).`);
}

function say(sentence) {
  find("said").textContent = sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function buildTools() {
  for (const button of document.querySelectorAll("[data-do]")) {
    button.addEventListener("click", () => OPERATIONS[button.dataset.do]());
  }
  const averaged = content.factors.map((factor, place) => ({ factor, place })).filter(({ factor }) => factor.means);
  for (const { factor, place } of averaged) {
    find("over").append(element("option", { value: place, text: factor.name, selected: factor.name === content.label }));
  }
  document.querySelector(".joined").hidden = !averaged.length;
  find("strand").addEventListener("change", ({ target }) => { state.strand = target.value; remember(); });
  find("near").addEventListener("change", () => { showNeighbours(); remember(); });
  const whose = decode ? `the ${noun} that is edited` : "the example";
  find("neighbours-note").textContent = `Of ${total} observations those whose codes lie nearest to that of ${whose}, with their distances.`;
}

// The strands to choose from; the last is the code that is chosen.
function showStrands() {
  for (const id of ["strand", "near"]) {
    const select = find(id), chosen = select.options.length ? select.value : content.strand;
    if (!select.options.length) {
      for (const name of strands.keys()) select.append(element("option", { value: name, text: name }));
      if (decode) select.append(element("option", { value: "" }));
    }
    if (decode) select.options[select.options.length - 1].textContent = `code ${state.code} alone`;
    select.value = id === "strand" ? state.strand : chosen;
  }
}

// ---- the sweep of one code

const strip = [];

function buildStrip() {
  for (let place = 0; place < FRAMES; place++) {
    const canvas = element("canvas", { "aria-hidden": "true" }), words = element("small");
    const button = element("button", { type: "button", class: "thumb", onclick: () => {
      change(state.editing, (codes) => { codes[state.code] = valueAt(place); return codes; });
      say(`Code ${state.code} of the ${state.editing} ${noun} set to ${shown(valueAt(place))}.`);
    } }, canvas, words);
    find("strip").append(button);
    strip.push({ canvas, words, button });
  }
  roving(find("strip"), () => columnsOf(find("strip")));
}

function valueAt(place) {
  const low = ranges[state.code], high = ranges[size + state.code];
  return low + (high - low) * (0.08 + 0.84 * place / (FRAMES - 1));
}

function showSweep() {
  if (!decode) return;
  const codes = state.codes[state.editing], given = givenOf(state.editing), frames = [];
  find("swept").textContent = `code ${state.code}`;
  queue.drop("sweep");
  strip.forEach(({ canvas, words, button }, place) => {
    const swept = codes.slice(), value = valueAt(place);
    swept[state.code] = value;
    words.textContent = shown(value, 1);
    button.setAttribute("aria-label", `Set code ${state.code} to ${shown(value)}`);
    queue.ask(`sweep ${place}`, 2 + place, swept, given, (values) => {
      draw(canvas, values, shape, largest);
      frames.push(values);
      if (frames.length === FRAMES) showHeat(frames);
    });
  });
}

function showHeat(frames) {
  if (!images) {
    find("heat").hidden = true;
    return;
  }
  const { heat, share, most } = affected(frames, shape);
  drawHeat(find("heat"), heat, frames[(FRAMES - 1) / 2], shape);
  const sentence = most < 1e-3
    ? `Code ${state.code} changes nothing that can be seen.`
    : `Code ${state.code} changes ${Math.max(1, Math.round(100 * share))} % of the image, the brightest places most.`;
  find("heat-note").textContent = sentence;
  find("heat").setAttribute("aria-label", sentence);
}

// ---- neighbours

// Of a model that decodes, the neighbours in the strand that is chosen; of any other, those in every strand.
function showNeighbours() {
  const names = decode ? [find("near").value] : [...strands.keys()];
  find("neighbours").replaceChildren(...names.map((name) => {
    const found = nearest(state.codes[state.editing], table, placesOf(name), NEIGHBOURS);
    const line = element("div", { class: "thumbs", role: "group", "aria-label": `Nearest by ${calledStrand(name)}` },
      ...found.map(({ row, gap }) => thumbnail(row, shown(gap), () => pick(row))));
    roving(line, () => columnsOf(line));
    return element("div", {}, ...(decode ? [] : [element("h3", { text: name })]), line);
  }));
}

// ---- what each code knows, and scores

function buildMatrix() {
  const matrix = content.matrix;
  if (!matrix) return;
  find("knowledge").hidden = false;
  find("matrix-heading").textContent = matrix.heading;
  find("matrix-note").textContent = matrix.meaning;
  const turned = matrix.factors.length > 6 ? "turned" : null;
  const head = element("tr", {}, element("th", { scope: "col", text: "code" }),
    ...matrix.factors.map((name) => element("th", { scope: "col", class: turned }, element("span", { text: name }))));
  const home = (row) => content.groups.find(({ codes }) => codes.includes(row.codes[0])).name;
  const several = new Set(matrix.rows.map(home)).size > 1;
  const body = matrix.rows.flatMap((row, place) => {
    const begins = several && (place === 0 || home(row) !== home(matrix.rows[place - 1]));
    const heading = element("th", { scope: "colgroup", colspan: matrix.factors.length + 1, class: "strand", text: home(row) });
    return [...(begins ? [element("tr", {}, heading)] : []), element("tr", {},
      element("th", { scope: "row", text: row.name.replace(/^code /, "") }),
      ...matrix.factors.map((_, column) => cell(matrix, place, column)))];
  });
  find("matrix").append(element("thead", {}, head), element("tbody", {}, ...body));
  roving(find("matrix"), () => matrix.factors.length);
  find("cell").textContent = "Point at a cell, or go there with the keys, to have it explained.";
}

function cell(matrix, place, column) {
  const value = matrix.values[place][column], row = matrix.rows[place];
  const explain = () => { find("cell").textContent = explained(matrix, place, column); };
  const button = element("button", { type: "button", text: value.toFixed(2), onfocus: explain, onclick: () => { explain(); if (decode) choose(row.codes[0]); } });
  const made = element("td", { class: "share", onpointerenter: explain }, button);
  made.style.setProperty("--share", value.toFixed(3));
  return made;
}

// One cell in words: what the number says, and how it stands in its row and column.
function explained(matrix, place, column) {
  const row = matrix.rows[place].name, factor = matrix.factors[column], value = matrix.values[place][column];
  const rest = matrix.values.map((values) => values[column]).filter((_, other) => other !== place);
  const next = rest.length ? Math.max(...rest) : 0;
  const here = matrix.values[place], best = here.indexOf(Math.max(...here));
  const start = `${row.charAt(0).toUpperCase() + row.slice(1)} holds ${Math.round(100 * value)} % ${matrix.unit} ${factor}`;
  const standing = value < 0.01 ? "next to nothing" : value >= next ? `more than any other (the next has ${Math.round(100 * next)} %)` : `another has ${Math.round(100 * next)} %`;
  const mostly = value < 0.01 || best === column ? "" : ` It has more to do with ${matrix.factors[best]}.`;
  return `${start}: ${standing}.${mostly}`;
}

function buildScores() {
  find("unscored").hidden = content.scores.length > 0;
  for (const score of content.scores) {
    const further = score.metric.includes(".");
    const where = [score.protocol, `n = ${score.n}`, score.on].filter(Boolean).join(", ");
    find(further ? "further-list" : "score-list").append(element("div", {},
      element("dt", { text: score.metric }),
      element("dd", {}, element("strong", { text: shownScore(score.value) }), element("small", { class: "soft", text: `${score.meaning} ${where ? `(${where})` : ""}`.trim() }))));
    if (further) find("further-scores").hidden = false;
  }
}

// ---- the state in the address

function remember() {
  later(writeAddress, 120);
}

function writeAddress() {
  history.replaceState(null, "", `#${written()}`);
}

// The state as text: examples, what is chosen, and each code that was changed.
function written() {
  const words = new URLSearchParams();
  for (const slot of SLOTS) {
    words.set(slot, state.example[slot] + 1);
    const from = codesOf(state.example[slot]);
    const changed = [...state.codes[slot].keys()].filter((code) => state.codes[slot][code] !== from[code]);
    if (changed.length) words.set(`${slot}-codes`, changed.map((code) => `${code}:${Number(state.codes[slot][code].toPrecision(7))}`).join(","));
  }
  if (decode) {
    words.set("edit", state.editing);
    words.set("code", state.code);
  }
  words.set("strand", state.strand);
  words.set("near", find("near").value);
  return words.toString();
}

// Takes from the address what makes sense, and leaves the rest as it is.
function restore() {
  const words = new URLSearchParams(location.hash.slice(1));
  const whole = (name, most) => {
    const value = Number(words.get(name) ?? NaN);
    return Number.isInteger(value) && value >= 0 && value < most ? value : null;
  };
  for (const slot of SLOTS) {
    const row = whole(slot, total + 1);
    if (row) state.example[slot] = row - 1;
    state.codes[slot] = codesOf(state.example[slot]);
    for (const entry of (words.get(`${slot}-codes`) ?? "").split(",")) {
      const [code, value] = entry.split(":").map(Number);
      if (Number.isInteger(code) && code >= 0 && code < size && Number.isFinite(value)) state.codes[slot][code] = value;
    }
  }
  if (SLOTS.includes(words.get("edit"))) state.editing = words.get("edit");
  state.code = whole("code", size) ?? state.code;
  const strand = words.get("strand");
  if (strands.has(strand) || (decode && strand === "")) state.strand = strand;
  showStrands();
  const near = words.get("near");
  if (strands.has(near) || (decode && near === "")) find("near").value = near;
  showAll();
}

function showAll() {
  showStrands();
  showSlots();
  SLOTS.forEach(showPicture);
  showSliders();
  showSweep();
  showNeighbours();
}

// ---- keys and the rest of the page

const KEYS = {
  1: () => edit("first"),
  2: () => decode && edit("second"),
  s: OPERATIONS.swap,
  z: OPERATIONS.zero,
  r: OPERATIONS.randomise,
  a: OPERATIONS.average,
  0: OPERATIONS.reset,
  "[": () => step(-1),
  "]": () => step(1),
};

function step(by) {
  const order = content.groups.flatMap(({ codes }) => codes);
  choose(order[Math.min(Math.max(order.indexOf(state.code) + by, 0), order.length - 1)]);
  sliders.get(state.code)?.input.focus();
}

function buildKeys() {
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("select, input:not([type=range], [type=radio])");
    const act = KEYS[event.key];
    if (!act || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!decode && !["0"].includes(event.key)) return;
    event.preventDefault();
    act();
  });
}

async function copyLink() {
  writeAddress();
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link was copied.");
  } catch {
    say("The address of this page is the link.");
  }
}

function begin() {
  document.body.classList.toggle("encoder", !decode);
  find("sentence").textContent = content.sentence;
  find("stage-heading").textContent = images ? "Images" : "Rows";
  find("note").textContent = content.note;
  find("note").hidden = !content.note;
  find("where").textContent = content.served
    ? "Decoded by the server of this page."
    : decode ? "Decoded in this page: nothing leaves it." : "This model has no decoder: its codes can be compared, and not turned into images.";
  buildSlots();
  buildSliders();
  buildTools();
  buildStrip();
  buildMatrix();
  buildScores();
  buildKeys();
  for (let row = 0; row < content.examples.shown; row++) find("examples").append(thumbnail(row, "", () => pick(row)));
  roving(find("examples"), () => columnsOf(find("examples")));
  find("link").addEventListener("click", copyLink);
  addEventListener("hashchange", restore);
  restore();
}

begin();
