// What the page knows and what is chosen on it, and how the address holds the latter.
"use strict";

const content = JSON.parse(document.getElementById("content").textContent);
const numbers = (array) => (array === null ? null : unpack(array));
const find = (id) => document.getElementById(id);

const shape = content.shape, images = shape.length === 3, noun = images ? "image" : "row";
const size = content.centre.shape[0], total = content.examples.codes.shape[0];
const centre = numbers(content.centre), spread = numbers(content.spread);
const ranges = numbers(content.ranges), amounts = numbers(content.activity.amounts);
const table = numbers(content.examples.codes), conditions = numbers(content.examples.given);
const rows = numbers(content.examples.rows), largest = rows ? quantile(rows.map(Math.abs), 0.98) : 1;
const strands = new Map(content.strands.map(({ name, codes }) => [name, codes]));

const decode = decoderOf(content), queue = decode && new Queue(decode, (error) => complain(error));
const SLOTS = decode ? ["first", "second"] : ["first"]; // the images that are shown at once

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

// What a conditional model is given with the code of a slot: that of its example.
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

// Which codes of a slot are not those of its example.
function changedCodes(slot) {
  const from = codesOf(state.example[slot]), now = state.codes[slot];
  return [...now.keys()].filter((code) => now[code] !== from[code]);
}

// What is known of an example, in words.
function known(row) {
  const words = content.factors
    .filter(({ of }) => of[row] >= 0)
    .map(({ name, values, of }) => `${name}: ${values[of[row]]}`);
  return words.join(", ") || `example ${row + 1}`;
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
    const value = (code) => Number(state.codes[slot][code].toPrecision(9)); // as many digits as float32 has
    const changed = changedCodes(slot).map((code) => `${code}:${value(code)}`);
    words.set(slot, state.example[slot] + 1);
    if (changed.length) words.set(`${slot}-codes`, changed.join(","));
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
  const strand = (name) => strands.has(words.get(name)) || (decode && words.get(name) === "");
  for (const slot of SLOTS) {
    const row = whole(slot, total + 1);
    if (row) state.example[slot] = row - 1;
    state.codes[slot] = codesOf(state.example[slot]);
    for (const entry of (words.get(`${slot}-codes`) ?? "").split(",")) {
      const [code, value] = entry.split(":").map(Number);
      const fits = Number.isInteger(code) && code >= 0 && code < size && Number.isFinite(value);
      if (fits) state.codes[slot][code] = value;
    }
  }
  if (SLOTS.includes(words.get("edit"))) state.editing = words.get("edit");
  state.code = whole("code", size) ?? state.code;
  if (strand("strand")) state.strand = words.get("strand");
  showStrands();
  if (strand("near")) find("near").value = words.get("near");
  showAll();
}
