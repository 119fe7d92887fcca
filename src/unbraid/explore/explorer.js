// The page: its operations by pointer and by keyboard.
"use strict";

// Changes the code of a slot. The image is updated at once, the rest after a short pause.
function change(slot, act) {
  state.codes[slot] = act(state.codes[slot]);
  queue?.drop("traversal");
  showPicture(slot);
  showSliders();
  later(showTraversal);
  later(showNeighbors);
  remember();
}

// Resets a slot to an example.
function pick(row, slot = state.editing) {
  state.example[slot] = row;
  showSlots();
  change(slot, () => codesOf(row));
  announce(`The ${slot} ${noun} is example ${row + 1}: ${known(row)}.`);
}

// Selects the slot to edit.
function edit(slot) {
  state.editing = slot;
  showSlots();
  showSliders();
  showTraversal();
  showNeighbors();
  remember();
}

// Selects the dimension to traverse.
function choose(dim) {
  if (dim === state.dim) return;
  state.dim = dim;
  showSliders();
  showStrands();
  later(showTraversal);
  if (find("near").value === "") later(showNeighbors);
  remember();
}

const OPERATIONS = {
  swap() {
    const [first, second] = swap(state.codes.first, state.codes.second, dimsOf(state.strand));
    change("second", () => second);
    change("first", () => first);
    announce(`${strandLabel(state.strand)} swapped between both ${noun}s.`);
  },
  zero() {
    change(state.editing, (codes) => zero(codes, dimsOf(state.strand)));
    announce(`${strandLabel(state.strand)} of the ${state.editing} ${noun} set to zero.`);
  },
  randomize() {
    change(state.editing, (codes) => randomize(codes, dimsOf(state.strand), center, std));
    announce(`${strandLabel(state.strand)} of the ${state.editing} ${noun} drawn at random.`);
  },
  average() {
    const factor = content.factors[find("over").value];
    if (!factor) return announce("No classes to average over.");
    const value = factor.of[state.example[state.editing]];
    if (value < 0) return announce(`The value of ${factor.name} in this ${noun} is unknown.`);
    const mean = numbers(factor.means).subarray(value * size, (value + 1) * size);
    change(state.editing, (codes) => taken(codes, mean, dimsOf(state.strand)));
    const group = `${factor.name}: ${factor.values[value]}`;
    announce(`${strandLabel(state.strand)} of the ${state.editing} ${noun} set to the mean of ${group}.`);
  },
  reset() {
    pick(state.example[state.editing]);
  },
};

function announce(sentence) {
  find("message").textContent = sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function showError(error) {
  const what = content.served ? "The server did not answer as expected" : "The image could not be decoded";
  announce(`${what} (${error.message}).`);
}

function buildTools() {
  for (const button of document.querySelectorAll("[data-do]")) {
    button.addEventListener("click", () => OPERATIONS[button.dataset.do]());
  }
  content.factors.forEach(({ name, means }, index) => {
    if (means) find("over").append(element("option", { value: index, text: name, selected: name === content.label }));
  });
  document.querySelector(".joined").hidden = !find("over").options.length;
  find("strand").addEventListener("change", ({ target }) => { state.strand = target.value; remember(); });
  find("near").addEventListener("change", () => { showNeighbors(); remember(); });
  find("link").addEventListener("click", copyLink);
}

// The selectable strands; the last entry is the selected dimension.
function showStrands() {
  for (const id of ["strand", "near"]) {
    const select = find(id), chosen = select.options.length ? select.value : content.strand;
    if (!select.options.length) {
      for (const name of strands.keys()) select.append(element("option", { value: name, text: name }));
      if (decode) select.append(element("option", { value: "" }));
    }
    if (decode) select.options[select.options.length - 1].textContent = `dimension ${state.dim} only`;
    select.value = id === "strand" ? state.strand : chosen;
  }
}

async function copyLink() {
  writeAddress();
  try {
    await navigator.clipboard.writeText(location.href);
    announce("Link copied.");
  } catch {
    announce("Copy the address of this page as the link.");
  }
}

const KEYS = {
  1: () => edit("first"),
  2: () => edit("second"),
  s: OPERATIONS.swap,
  z: OPERATIONS.zero,
  r: OPERATIONS.randomize,
  a: OPERATIONS.average,
  0: OPERATIONS.reset,
  "[": () => step(-1),
  "]": () => step(1),
};

// Selects the previous or next dimension, in the order of the sliders.
function step(by) {
  const order = content.groups.flatMap(({ dims }) => dims);
  choose(order[Math.min(Math.max(order.indexOf(state.dim) + by, 0), order.length - 1)]);
  sliders.get(state.dim)?.input.focus();
}

function buildKeys() {
  document.addEventListener("keydown", (event) => {
    const act = decode && KEYS[event.key], other = event.ctrlKey || event.metaKey || event.altKey;
    if (!act || other || event.target.matches("select")) return;
    event.preventDefault();
    act();
  });
}

function showAll() {
  showStrands();
  showSlots();
  SLOTS.forEach(showPicture);
  showSliders();
  showTraversal();
  showNeighbors();
}

// Texts that depend on the model.
function buildTexts() {
  const query = decode ? `the edited ${noun}` : "the example";
  const where = decode
    ? "Decoded in your browser; no data is sent."
    : "This model has no decoder, so its codes can only be compared.";
  find("sentence").textContent = content.sentence;
  find("stage-heading").textContent = images ? "Images" : "Rows";
  find("note").textContent = content.note;
  find("note").hidden = !content.note;
  find("where").textContent = content.served ? "Decoded by the server of this page." : where;
  find("neighbors-note").textContent =
    `Nearest of ${total} observations to ${query}, with their distances.`;
  document.querySelector(".heat").hidden = !images;
}

document.body.classList.toggle("encoder", !decode);
buildTexts();
buildExamples();
buildSlots();
buildSliders();
buildTools();
buildStrip();
buildMatrix();
buildScores();
buildKeys();
addEventListener("hashchange", restore);
restore();
