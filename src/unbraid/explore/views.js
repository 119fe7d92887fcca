// Elements, images, and keyboard navigation of grids.
"use strict";

// A new element; text is never parsed as markup.
function element(kind, attributes = {}, ...children) {
  const built = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") built.textContent = value;
    else if (name.startsWith("on")) built.addEventListener(name.slice(2), value);
    else if (value === true) built.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) built.setAttribute(name, value);
  }
  built.append(...children);
  return built;
}

// A number with few digits and a minus sign.
function shown(value, digits = 2) {
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

function shownScore(value) {
  const text = Math.abs(value) >= 1000 ? value.toFixed(0) : Number(value.toPrecision(4)).toString();
  return text.replace("-", "−");
}

// The quantile of the values.
function quantile(values, share) {
  const sorted = values.slice().sort((one, other) => one - other);
  return Math.max(sorted[Math.floor(share * (sorted.length - 1))], 1e-9);
}

// Draws an observation: an image, or a row as bars.
function draw(canvas, values, shape, scale) {
  if (shape.length === 3) drawImage(canvas, values, shape);
  else drawBars(canvas, values, scale);
}

function drawImage(canvas, values, [channels, height, width]) {
  const area = height * width;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d"), pixels = context.createImageData(width, height);
  const level = (channel, i) => Math.min(Math.max(values[channel * area + i], 0), 1) * 255;
  for (let i = 0; i < area; i++) {
    let gray = 0;
    if (channels !== 3) for (let channel = 0; channel < channels; channel++) gray += level(channel, i) / channels;
    for (let channel = 0; channel < 3; channel++) {
      pixels.data[4 * i + channel] = Math.round(channels === 3 ? level(channel, i) : gray);
    }
    pixels.data[4 * i + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
}

// One bar per number, up or down from the middle; `scale` is the full height.
function drawBars(canvas, values, scale) {
  const side = 256, context = canvas.getContext("2d"), style = getComputedStyle(document.body);
  Object.assign(canvas, { width: side, height: side });
  const wide = side / values.length;
  context.fillStyle = style.getPropertyValue("--line");
  context.fillRect(0, side / 2 - 1, side, 2);
  context.fillStyle = style.getPropertyValue("--accent");
  values.forEach((value, index) => {
    const tall = Math.min(Math.max(value / scale, -1), 1) * (side / 2 - 8);
    context.fillRect(index * wide + wide * 0.15, side / 2 - Math.max(tall, 0), Math.max(wide * 0.7, 1), Math.abs(tall));
  });
}

// The values of a row in the units of its table.
function inUnits(values, { mean, std }) {
  return Array.from(values, (value, index) => value * std[index] + mean[index]);
}

// Lists the values of a row by the names of their columns.
function listValues(list, values, columns) {
  list.replaceChildren(...inUnits(values, columns).map((value, index) =>
    element("div", {}, element("dt", { text: columns.names[index] }), element("dd", { text: shownScore(value) }))));
}

// Where the images of a traversal differ: the standard deviation of each pixel divided by the largest, and the share of
// pixels above a tenth of the largest.
function affected(frames, [channels, height, width]) {
  const area = height * width, heat = new Float32Array(area);
  for (let i = 0; i < area; i++) {
    for (let channel = 0; channel < channels; channel++) {
      const index = channel * area + i;
      const mean = frames.reduce((sum, frame) => sum + frame[index], 0) / frames.length;
      const std = Math.sqrt(frames.reduce((sum, frame) => sum + (frame[index] - mean) ** 2, 0) / frames.length);
      heat[i] = Math.max(heat[i], std);
    }
  }
  const max = heat.reduce((a, b) => Math.max(a, b), 0);
  const share = heat.reduce((count, value) => count + (value > 0.1 * max && max > 1e-3), 0) / area;
  return { heat: heat.map((value) => (max > 1e-3 ? value / max : 0)), share, max };
}

// The heat map over a faint gray version of the image, from transparent to orange to yellow.
function drawHeat(canvas, heat, image, [channels, height, width]) {
  const area = height * width, context = canvas.getContext("2d");
  Object.assign(canvas, { width, height });
  const pixels = context.createImageData(width, height);
  for (let i = 0; i < area; i++) {
    let gray = 0;
    for (let channel = 0; channel < channels; channel++) {
      gray += Math.min(Math.max(image[channel * area + i], 0), 1) / channels;
    }
    const base = 30 + 90 * gray, amount = Math.min(heat[i], 1);
    const color = [255, 90 + 150 * amount * amount, 40 + 60 * amount * amount];
    for (let c = 0; c < 3; c++) pixels.data[4 * i + c] = base + (color[c] - base) * Math.sqrt(amount);
    pixels.data[4 * i + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
}

// One tab stop for a grid of buttons; arrow keys, Home and End move within.
function roving(container, across) {
  const items = () => [...container.querySelectorAll("button")];
  const stop = (chosen) => items().forEach((item) => { item.tabIndex = item === chosen ? 0 : -1; });
  stop(items()[0]);
  container.onfocusin = ({ target }) => { if (items().includes(target)) stop(target); };
  container.onkeydown = (event) => {
    const all = items(), index = all.indexOf(document.activeElement);
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across(), ArrowUp: -across() };
    const next = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : index + (steps[event.key] ?? 0);
    if (index < 0 || next === index || !all[next]) return;
    event.preventDefault();
    all[next].focus();
  };
}

// Number of items per row of a wrapping container.
function columnsOf(container) {
  const items = [...container.children];
  const top = items[0]?.offsetTop;
  return Math.max(1, items.filter((item) => item.offsetTop === top).length);
}
