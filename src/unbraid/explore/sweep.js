// The sweep of one code, and where it changes the image.
"use strict";

const FRAMES = 9;
const strip = [];

function buildStrip() {
  for (let place = 0; place < FRAMES; place++) {
    const canvas = element("canvas", { "aria-hidden": "true" }), words = element("small");
    const attributes = { type: "button", class: "thumb", onclick: () => setTo(valueAt(place)) };
    const button = element("button", attributes, canvas, words);
    find("strip").append(button);
    strip.push({ canvas, words, button });
  }
  roving(find("strip"), () => columnsOf(find("strip")));
}

function setTo(value) {
  change(state.editing, (codes) => codes.with(state.code, value));
  say(`Code ${state.code} of the ${state.editing} ${noun} set to ${shown(value)}.`);
}

// The values of a sweep lie within the slider's range.
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
    const value = valueAt(place);
    words.textContent = shown(value, 1);
    button.setAttribute("aria-label", `Set code ${state.code} to ${shown(value)}`);
    queue.ask(`sweep ${place}`, 2 + place, codes.with(state.code, value), given, (values) => {
      draw(canvas, values, shape, largest);
      frames.push(values);
      if (frames.length === FRAMES && images) showHeat(frames);
    });
  });
}

function showHeat(frames) {
  const { heat, share, most } = affected(frames, shape), percent = Math.max(1, Math.round(100 * share));
  const sentence = most < 1e-3
    ? `Code ${state.code} changes nothing that can be seen.`
    : `Code ${state.code} changes ${percent} % of the image, the brightest places most.`;
  drawHeat(find("heat"), heat, frames[(FRAMES - 1) / 2], shape);
  find("heat").setAttribute("aria-label", sentence);
  find("heat-note").textContent = sentence;
}
