// The page: what can be done on it, by pointer and by keys.
"use strict";

// Changes the code of a slot; the picture comes first, the rest when nothing moves for a moment.
function change(slot, act) {
  state.codes[slot] = act(state.codes[slot]);
  queue?.drop("sweep");
  showPicture(slot);
  showSliders();
  later(showSweep);
  later(showNeighbours);
  remember();
}

// Starts a slot anew from an example.
function pick(row, slot = state.editing) {
  state.example[slot] = row;
  showSlots();
  change(slot, () => codesOf(row));
  say(`The ${slot} ${noun} is example ${row + 1}: ${known(row)}.`);
}

// Chooses the slot that is edited.
function edit(slot) {
  state.editing = slot;
  showSlots();
  showSliders();
  showSweep();
  showNeighbours();
  remember();
}

// Chooses the code that is swept.
function choose(code) {
  if (code === state.code) return;
  state.code = code;
  showSliders();
  showStrands();
  later(showSweep);
  if (find("near").value === "") later(showNeighbours);
  remember();
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
    const factor = content.factors[find("over").value];
    if (!factor) return say("There are no classes to average over.");
    const value = factor.of[state.example[state.editing]];
    if (value < 0) return say(`What ${factor.name} is in this ${noun} is not known.`);
    const mean = numbers(factor.means).subarray(value * size, (value + 1) * size);
    change(state.editing, (codes) => taken(codes, mean, placesOf(state.strand)));
    const whose = `${factor.name}: ${factor.values[value]}`;
    say(`${calledStrand(state.strand)} of the ${state.editing} ${noun} set to the mean of ${whose}.`);
  },
  reset() {
    pick(state.example[state.editing]);
  },
};

function say(sentence) {
  find("said").textContent = sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function complain(error) {
  const what = content.served ? "The server does not answer as it should" : "The image could not be decoded";
  say(`${what} (${error.message}).`);
}

function buildTools() {
  for (const button of document.querySelectorAll("[data-do]")) {
    button.addEventListener("click", () => OPERATIONS[button.dataset.do]());
  }
  content.factors.forEach(({ name, means }, place) => {
    if (means) find("over").append(element("option", { value: place, text: name, selected: name === content.label }));
  });
  document.querySelector(".joined").hidden = !find("over").options.length;
  find("strand").addEventListener("change", ({ target }) => { state.strand = target.value; remember(); });
  find("near").addEventListener("change", () => { showNeighbours(); remember(); });
  find("link").addEventListener("click", copyLink);
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

async function copyLink() {
  writeAddress();
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link was copied.");
  } catch {
    say("The address of this page is the link.");
  }
}

const KEYS = {
  1: () => edit("first"),
  2: () => edit("second"),
  s: OPERATIONS.swap,
  z: OPERATIONS.zero,
  r: OPERATIONS.randomise,
  a: OPERATIONS.average,
  0: OPERATIONS.reset,
  "[": () => step(-1),
  "]": () => step(1),
};

// Goes to the code before or after the chosen one, in the order of the sliders.
function step(by) {
  const order = content.groups.flatMap(({ codes }) => codes);
  choose(order[Math.min(Math.max(order.indexOf(state.code) + by, 0), order.length - 1)]);
  sliders.get(state.code)?.input.focus();
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
  showSweep();
  showNeighbours();
}

// The words that depend on the model.
function buildWords() {
  const whose = decode ? `the ${noun} that is edited` : "the example";
  const where = decode
    ? "Decoded in this page: nothing leaves it."
    : "This model has no decoder: its codes can be compared, and not turned into images.";
  find("sentence").textContent = content.sentence;
  find("stage-heading").textContent = images ? "Images" : "Rows";
  find("note").textContent = content.note;
  find("note").hidden = !content.note;
  find("where").textContent = content.served ? "Decoded by the server of this page." : where;
  find("neighbours-note").textContent =
    `Of ${total} observations those whose codes lie nearest to that of ${whose}, with their distances.`;
  document.querySelector(".heat").hidden = !images;
}

document.body.classList.toggle("encoder", !decode);
buildWords();
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
