// Images: the examples, and the two images whose codes are edited.
"use strict";

const sheet = new Image(); // all examples side by side
const loaded = content.examples.sheet
  ? new Promise((resolve) => { sheet.onload = resolve; sheet.src = content.examples.sheet; })
  : Promise.resolve();

// The values of an example of a table.
function rowOf(row) {
  return rows.subarray(row * shape[0], (row + 1) * shape[0]);
}

async function drawExample(canvas, row) {
  await loaded;
  if (!images) return drawBars(canvas, rowOf(row), largest);
  const [, height, width] = shape, across = content.examples.across;
  const left = (row % across) * width, top = Math.floor(row / across) * height;
  Object.assign(canvas, { width, height });
  canvas.getContext("2d").drawImage(sheet, left, top, width, height, 0, 0, width, height);
}

function thumbnail(row, caption, act) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  drawExample(canvas, row);
  const called = `Example ${row + 1}: ${[known(row), caption].filter(Boolean).join(", ")}`;
  const attributes = { class: "thumb", "aria-label": called, title: known(row), "data-row": row, onclick: act };
  const words = caption ? [element("small", { text: caption })] : [];
  return element("button", { type: "button", ...attributes }, canvas, ...words);
}

function buildExamples() {
  for (let row = 0; row < content.examples.shown; row++) {
    find("examples").append(thumbnail(row, "", () => pick(row)));
  }
  roving(find("examples"), () => columnsOf(find("examples")));
}

const pictures = {};

function buildSlots() {
  for (const slot of SLOTS) {
    const canvas = element("canvas", { role: "img", class: "live" });
    const original = element("canvas", { "aria-hidden": "true", class: decode ? null : "live" });
    const words = element("span", { class: "soft" });
    const input = element("input", {
      type: "radio", name: "editing", value: slot, class: "hidden", onchange: () => edit(slot),
    });
    const name = decode ? `${slot === "first" ? "First" : "Second"} ${noun}` : "The example";
    const heading = element("span", { class: "name", text: name });
    const parts = decode ? [canvas, element("span", { class: "origin" }, original, words)] : [original, words];
    const values = element("dl", { class: "values", "aria-label": `Values of the ${slot} ${noun}` });
    const label = element("label", { class: "slot", "data-slot": slot }, input, heading, ...parts);
    find("slots").append(columns ? element("div", {}, label, values) : label);
    pictures[slot] = { canvas, original, words, input, values };
  }
}

function showSlots() {
  for (const slot of SLOTS) {
    const { original, words, input } = pictures[slot], row = state.example[slot];
    input.checked = slot === state.editing;
    drawExample(original, row);
    if (columns && !decode) listValues(pictures[slot].values, rowOf(row), columns);
    words.textContent = known(row);
  }
  for (const button of find("examples").children) {
    const current = Number(button.dataset.row) === state.example[state.editing];
    if (current) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

// Decodes and shows the code of a slot; the edited slot has priority.
function showPicture(slot) {
  if (!decode) return;
  const { canvas } = pictures[slot], urgency = slot === state.editing ? 0 : 1;
  queue.ask(slot, urgency, state.codes[slot].slice(), conditionOf(slot), (values) => {
    draw(canvas, values, shape, largest);
    if (columns) listValues(pictures[slot].values, values, columns);
    canvas.dataset.shown = Number(canvas.dataset.shown ?? 0) + 1;
    canvas.setAttribute("aria-label", `The ${slot} ${noun} decoded, ${described(slot)}`);
  });
}

// The changes of a slot relative to its example, as text.
function described(slot) {
  const changed = changedDims(slot), start = `from ${known(state.example[slot])}`;
  if (!changed.length) return `${start}, unchanged`;
  if (changed.length > 3) return `${start}, ${changed.length} dimensions changed`;
  return `${start}, ${changed.map((dim) => `dimension ${dim} at ${shown(state.codes[slot][dim])}`).join(", ")}`;
}
