// Traversal of one dimension, and where the image changes.
"use strict";

const FRAMES = 9;
const strip = [];

function buildStrip() {
  for (let index = 0; index < FRAMES; index++) {
    const canvas = element("canvas", { "aria-hidden": "true" }), words = element("small");
    const attributes = { type: "button", class: "thumb", onclick: () => setTo(valueAt(index)) };
    const button = element("button", attributes, canvas, words);
    find("strip").append(button);
    strip.push({ canvas, words, button });
  }
  roving(find("strip"), () => columnsOf(find("strip")));
}

function setTo(value) {
  change(state.editing, (codes) => codes.with(state.dim, value));
  announce(`Dimension ${state.dim} of the ${state.editing} ${noun} set to ${shown(value)}.`);
}

// Values of the traversal, within the range of the slider.
function valueAt(index) {
  const low = ranges[state.dim], high = ranges[size + state.dim];
  return low + (high - low) * (0.08 + 0.84 * index / (FRAMES - 1));
}

function showTraversal() {
  if (!decode) return;
  const codes = state.codes[state.editing], condition = conditionOf(state.editing), frames = [];
  find("traversed").textContent = `dimension ${state.dim}`;
  queue.drop("traversal");
  strip.forEach(({ canvas, words, button }, index) => {
    const value = valueAt(index);
    words.textContent = shown(value, 1);
    button.setAttribute("aria-label", `Set dim ${state.dim} to ${shown(value)}`);
    queue.ask(`traversal ${index}`, 2 + index, codes.with(state.dim, value), condition, (values) => {
      draw(canvas, values, shape, largest);
      frames.push(values);
      if (frames.length === FRAMES && images) showHeat(frames);
    });
  });
}

function showHeat(frames) {
  const { heat, share, max } = affected(frames, shape), percent = Math.max(1, Math.round(100 * share));
  const sentence = max < 1e-3
    ? `Dimension ${state.dim} does not change the image visibly.`
    : `Dimension ${state.dim} changes ${percent} % of the image. Bright: large change.`;
  drawHeat(find("heat"), heat, frames[(FRAMES - 1) / 2], shape);
  find("heat").setAttribute("aria-label", sentence);
  find("heat-note").textContent = sentence;
}
