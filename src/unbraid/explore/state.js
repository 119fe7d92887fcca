// Content and state of the page, and the state in its address.
"use strict";

const content = JSON.parse(document.getElementById("content").textContent);
const numbers = (array) => (array === null ? null : unpack(array));
const find = (id) => document.getElementById(id);

const shape = content.shape, images = shape.length === 3, noun = images ? "image" : "row";
const size = content.center.shape[0], total = content.examples.codes.shape[0];
const center = numbers(content.center), std = numbers(content.std);
const ranges = numbers(content.ranges), amounts = numbers(content.activity.amounts);
const table = numbers(content.examples.codes), conditions = numbers(content.examples.condition);
const rows = numbers(content.examples.rows), largest = rows ? quantile(rows.map(Math.abs), 0.98) : 1;
const columns = content.columns; // of a table: their names, means and standard deviations
const strands = new Map(content.strands.map(({ name, dims }) => [name, dims]));

const decode = decoderOf(content), queue = decode && new Queue(decode, (error) => showError(error));
const SLOTS = decode ? ["first", "second"] : ["first"]; // the images that are shown at once

const state = {
  example: { first: 0, second: Math.min(1, total - 1) },
  codes: { first: codesOf(0), second: codesOf(Math.min(1, total - 1)) },
  editing: "first",
  dim: (content.groups.find(({ name }) => name === content.strand) ?? content.groups[0]).dims[0],
  strand: decode && strands.get(content.strand).length === size ? "" : content.strand, // "": the selected dimension
};

function codesOf(row) {
  return table.slice(row * size, (row + 1) * size);
}

// Condition of a slot for a conditional model: that of its example.
function conditionOf(slot) {
  if (!conditions) return new Float32Array(0);
  const columns = conditions.length / total, row = state.example[slot];
  return conditions.slice(row * columns, (row + 1) * columns);
}

// The dimensions of a strand; "" is the selected dimension.
function dimsOf(name) {
  return name === "" ? [state.dim] : strands.get(name);
}

function strandLabel(name) {
  return name === "" ? `dimension ${state.dim}` : `strand ${name}`;
}

// The dimensions of a slot that differ from its example.
function changedDims(slot) {
  const from = codesOf(state.example[slot]), now = state.codes[slot];
  return [...now.keys()].filter((dim) => now[dim] !== from[dim]);
}

// The known factors of an example as text.
function known(row) {
  const words = content.factors
    .filter(({ of }) => of[row] >= 0)
    .map(({ name, values, of }) => `${name}: ${values[of[row]]}`);
  return words.join(", ") || `example ${row + 1}`;
}

// Calls a function after a pause without further requests.
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

// The state as text: examples, selections, and changed dimensions.
function written() {
  const words = new URLSearchParams();
  for (const slot of SLOTS) {
    const value = (dim) => Number(state.codes[slot][dim].toPrecision(9)); // digits of float32
    const changed = changedDims(slot).map((dim) => `${dim}:${value(dim)}`);
    words.set(slot, state.example[slot] + 1);
    if (changed.length) words.set(`${slot}-codes`, changed.join(","));
  }
  if (decode) {
    words.set("edit", state.editing);
    words.set("dim", state.dim);
  }
  words.set("strand", state.strand);
  words.set("near", find("near").value);
  return words.toString();
}

// Reads the valid entries of the address and ignores the rest.
function restore() {
  const words = new URLSearchParams(location.hash.slice(1));
  const integer = (name, end) => {
    const value = Number(words.get(name) ?? NaN);
    return Number.isInteger(value) && value >= 0 && value < end ? value : null;
  };
  const strand = (name) => strands.has(words.get(name)) || (decode && words.get(name) === "");
  for (const slot of SLOTS) {
    const row = integer(slot, total + 1);
    if (row) state.example[slot] = row - 1;
    state.codes[slot] = codesOf(state.example[slot]);
    for (const entry of (words.get(`${slot}-codes`) ?? "").split(",")) {
      const [dim, value] = entry.split(":").map(Number);
      const fits = Number.isInteger(dim) && dim >= 0 && dim < size && Number.isFinite(value);
      if (fits) state.codes[slot][dim] = value;
    }
  }
  if (SLOTS.includes(words.get("edit"))) state.editing = words.get("edit");
  state.dim = integer("dim", size) ?? state.dim;
  if (strand("strand")) state.strand = words.get("strand");
  showStrands();
  if (strand("near")) find("near").value = words.get("near");
  showAll();
}
