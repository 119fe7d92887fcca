// The decoder: the steps that program.py describes, on plain arrays. It runs in a worker, so that the page never stalls.
"use strict";

const product = (shape) => shape.reduce((all, side) => all * side, 1);

function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes.buffer;
}

// An array as packing.py wrote it: float32, or whole numbers with what one of them is worth in each row.
function unpack(array) {
  if (array.numbers !== undefined) return new Float32Array(bytesOf(array.numbers));
  const wholes = new Int16Array(bytesOf(array.wholes));
  const worth = new Float32Array(bytesOf(array.worth));
  const columns = wholes.length / worth.length;
  const numbers = new Float32Array(wholes.length);
  for (let row = 0, i = 0; row < worth.length; row++) {
    for (const end = i + columns; i < end; i++) numbers[i] = wholes[i] * worth[row];
  }
  return numbers;
}

// For each number of a result, which number of a source it comes from: `place` gets the result's coordinates, and
// answers with the source's, or null for a zero.
function positions(shape, source, place) {
  const found = new Int32Array(product(shape));
  const at = shape.map(() => 0);
  for (let i = 0; i < found.length; i++) {
    const from = place(at);
    found[i] = from === null ? -1 : source.reduce((sum, side, axis) => sum * side + from[axis], 0);
    for (let axis = shape.length - 1; axis >= 0 && ++at[axis] === shape[axis]; axis--) at[axis] = 0;
  }
  return found;
}

// Where a smaller operand's numbers go when it is repeated to fill a shape; null where it has that shape.
function repeated(source, shape) {
  const full = [...Array(shape.length - source.length).fill(1), ...source];
  if (full.every((side, axis) => side === shape[axis])) return null;
  return positions(shape, full, (at) => at.map((place, axis) => (full[axis] === 1 ? 0 : place)));
}

const ONE = {
  relu: () => (x) => (x > 0 ? x : 0),
  leaky: ({ slope }) => (x) => (x > 0 ? x : slope * x),
  tanh: () => Math.tanh,
  sigmoid: () => (x) => 1 / (1 + Math.exp(-x)),
  exp: () => Math.exp,
  atan: () => Math.atan,
  negative: () => (x) => -x,
  clamp: ({ least, most }) => (x) => Math.min(Math.max(x, least ?? -Infinity), most ?? Infinity),
};

const TWO = {
  add: (x, y) => x + y,
  subtract: (x, y) => x - y,
  times: (x, y) => x * y,
  divide: (x, y) => x / y,
  equal: (x, y) => (x === y ? 1 : 0),
};

// Matrices a (m × k) and b (k × n). Two rows of a meet four rows of b at a time, so that each number that is read is
// used more than once.
function multiply(a, b, out, m, k, n) {
  if (n === 1) return multiplyVector(a, b, out, m, k);
  out.fill(0);
  const even = m - (m % 2), whole = k - (k % 4);
  for (let i = 0; i < even; i += 2) {
    const first = i * n, second = first + n;
    for (let p = 0; p < whole; p += 4) {
      const q = i * k + p, r = q + k;
      const q0 = a[q], q1 = a[q + 1], q2 = a[q + 2], q3 = a[q + 3];
      const r0 = a[r], r1 = a[r + 1], r2 = a[r + 2], r3 = a[r + 3];
      const b0 = p * n, b1 = b0 + n, b2 = b1 + n, b3 = b2 + n;
      for (let j = 0; j < n; j++) {
        const x0 = b[b0 + j], x1 = b[b1 + j], x2 = b[b2 + j], x3 = b[b3 + j];
        out[first + j] += q0 * x0 + q1 * x1 + q2 * x2 + q3 * x3;
        out[second + j] += r0 * x0 + r1 * x1 + r2 * x2 + r3 * x3;
      }
    }
  }
  if (even < m) { // a last row alone, as a fully connected layer has
    const last = even * n;
    for (let p = 0; p < whole; p += 4) {
      const q = even * k + p, q0 = a[q], q1 = a[q + 1], q2 = a[q + 2], q3 = a[q + 3];
      const b0 = p * n, b1 = b0 + n, b2 = b1 + n, b3 = b2 + n;
      for (let j = 0; j < n; j++) out[last + j] += q0 * b[b0 + j] + q1 * b[b1 + j] + q2 * b[b2 + j] + q3 * b[b3 + j];
    }
  }
  for (let p = whole; p < k; p++) { // the last rows of b
    for (let i = 0; i < m; i++) {
      const factor = a[i * k + p];
      for (let j = 0; j < n; j++) out[i * n + j] += factor * b[p * n + j];
    }
  }
}

// The same with a single column: four sums at a time, which need not wait for each other.
function multiplyVector(a, b, out, m, k) {
  const whole = k - (k % 4);
  for (let i = 0, q = 0; i < m; i++) {
    let s0 = 0, s1 = 0, s2 = 0, s3 = 0, p = 0;
    for (; p < whole; p += 4, q += 4) {
      s0 += a[q] * b[p];
      s1 += a[q + 1] * b[p + 1];
      s2 += a[q + 2] * b[p + 2];
      s3 += a[q + 3] * b[p + 3];
    }
    for (; p < k; p++, q++) s0 += a[q] * b[p];
    out[i] = s0 + s1 + s2 + s3;
  }
}

// For each number of the columns (channel and place in the patch, by patch), which pixel it is; -1 beyond the border.
function patches([channels, height, width], sides, { kernel, stride, padding }) {
  const shape = [channels, kernel, kernel, ...sides];
  return positions(shape, [channels, height, width], ([channel, row, column, i, j]) => {
    const y = i * stride + row - padding, x = j * stride + column - padding;
    return y < 0 || x < 0 || y >= height || x >= width ? null : [channel, y, x];
  });
}

function side(length, { kernel, stride, padding }) {
  return Math.floor((length + 2 * padding - kernel) / stride) + 1;
}

// How a step that only moves numbers finds them.
const MOVED = {
  permute: (step, [source]) =>
    positions(step.shape, source, (at) => source.map((_, axis) => at[step.how.order.indexOf(axis)])),
  take: (step, [source]) => {
    const { axis, places } = step.how;
    const shape = source.map((length, place) => (place === axis ? places.length : length));
    return positions(shape, source, (at) => at.map((place, a) => (a === axis ? places[place] : place)));
  },
  pad: (step, [source]) => {
    const before = source.map((_, axis) => step.how.amounts[2 * (source.length - 1 - axis)] ?? 0);
    return positions(step.shape, source, (at) => {
      const from = at.map((place, axis) => place - before[axis]);
      return from.some((place, axis) => place < 0 || place >= source[axis]) ? null : from;
    });
  },
  unfold: (step, [source]) => {
    const image = source.slice(-3);
    return patches(image, [side(image[1], step.how), side(image[2], step.how)], step.how);
  },
};

// A step as a function that fills its result from the values before it.
function prepared(step, of, shapes) {
  const out = new Float32Array(product(step.shape));
  const [x, y] = of;
  if (step.do === "reshape") return [x, () => {}];
  if (step.do in ONE) {
    const change = ONE[step.do](step.how);
    return [out, () => { for (let i = 0; i < out.length; i++) out[i] = change(x[i]); }];
  }
  if (step.do in TWO) {
    const join = TWO[step.do];
    const [xs, ys] = shapes.map((shape) => repeated(shape, step.shape));
    return [out, () => {
      for (let i = 0; i < out.length; i++) out[i] = join(x[xs ? xs[i] : i], y[ys ? ys[i] : i]);
    }];
  }
  if (step.do === "multiply") {
    const [m, k] = shapes[0], n = shapes[1][1];
    return [out, () => multiply(x, y, out, m, k, n)];
  }
  if (step.do in MOVED) {
    const from = MOVED[step.do](step, shapes);
    return [out, () => { for (let i = 0; i < out.length; i++) out[i] = from[i] < 0 ? 0 : x[from[i]]; }];
  }
  if (step.do === "fold") {
    const [height, width] = step.how.sides;
    const image = [out.length / (height * width), height, width];
    const to = patches(image, [side(height, step.how), side(width, step.how)], step.how);
    return [out, () => {
      out.fill(0);
      for (let i = 0; i < x.length; i++) if (to[i] >= 0) out[to[i]] += x[i];
    }];
  }
  if (step.do === "mean") {
    const { axis } = step.how, length = shapes[0][axis];
    const inner = product(shapes[0].slice(axis + 1));
    return [out, () => {
      for (let i = 0; i < out.length; i++) {
        let sum = 0;
        const start = Math.floor(i / inner) * length * inner + (i % inner);
        for (let place = 0; place < length; place++) sum += x[start + place * inner];
        out[i] = sum / length;
      }
    }];
  }
  if (step.do === "join") {
    const { axis } = step.how, inner = product(step.shape.slice(axis + 1));
    const widths = shapes.map((shape) => shape[axis] * inner);
    const whole = step.shape[axis] * inner;
    return [out, () => {
      let start = 0;
      of.forEach((part, place) => {
        for (let row = 0; row * widths[place] < part.length; row++) {
          const from = row * widths[place];
          out.set(part.subarray(from, from + widths[place]), row * whole + start);
        }
        start += widths[place];
      });
    }];
  }
  throw new Error(`The page does not know how to ${step.do}.`);
}

// A program as a function from a code, and what is given with it, to an observation.
function compile(program) {
  const values = {}, shapes = {}, actions = [];
  for (const [name, columns] of Object.entries(program.inputs)) {
    values[name] = new Float32Array(columns);
    shapes[name] = [1, columns];
  }
  for (const [name, constant] of Object.entries(program.constants)) {
    values[name] = unpack(constant);
    shapes[name] = constant.shape;
  }
  for (const step of program.steps) {
    const of = step.of.map((name) => values[name]);
    const [out, act] = prepared(step, of, step.of.map((name) => shapes[name]));
    values[step.name] = out;
    shapes[step.name] = step.shape;
    actions.push(act);
  }
  return (codes, given) => {
    values.codes.set(codes);
    if (values.given) values.given.set(given);
    for (const act of actions) act();
    return values[program.output];
  };
}

// Asked for the observations of some codes, row by row, the worker answers with them, one after another.
function listen(program) {
  const decode = compile(program), columns = program.inputs.codes, beside = program.inputs.given ?? 0;
  self.onmessage = ({ data: { number, codes, given } }) => {
    const rows = codes.length / columns, started = performance.now();
    let out = null;
    for (let row = 0; row < rows; row++) {
      const own = codes.subarray(row * columns, (row + 1) * columns);
      const one = decode(own, given.subarray(row * beside, (row + 1) * beside));
      out ??= new Float32Array(rows * one.length);
      out.set(one, row * one.length);
    }
    self.postMessage({ number, out, took: performance.now() - started }, [out.buffer]);
  };
  self.postMessage({ ready: true });
}

if (typeof window === "undefined") {
  self.onmessage = ({ data }) => listen(data.program);
}
