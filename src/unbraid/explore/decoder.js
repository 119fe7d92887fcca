// The decoder: the operations of program.py on typed arrays. It runs in a worker, so the page stays responsive.
"use strict";

const product = (shape) => shape.reduce((all, side) => all * side, 1);

function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes.buffer;
}

// An array as written by packing.py: float32, or int16 with a scale per row.
function unpack(array) {
  if (array.numbers !== undefined) return new Float32Array(bytesOf(array.numbers));
  const integers = new Int16Array(bytesOf(array.int16));
  const scale = new Float32Array(bytesOf(array.scale));
  const columns = integers.length / scale.length;
  const numbers = new Float32Array(integers.length);
  for (let row = 0, i = 0; row < scale.length; row++) {
    for (const end = i + columns; i < end; i++) numbers[i] = integers[i] * scale[row];
  }
  return numbers;
}

// For each element of a result, the index of its source element. `locate` maps coordinates of the result to those of
// the source, or to null for a zero.
function positions(shape, source, locate) {
  const sources = new Int32Array(product(shape));
  const at = shape.map(() => 0);
  for (let i = 0; i < sources.length; i++) {
    const from = locate(at);
    sources[i] = from === null ? -1 : source.reduce((sum, side, axis) => sum * side + from[axis], 0);
    for (let axis = shape.length - 1; axis >= 0 && ++at[axis] === shape[axis]; axis--) at[axis] = 0;
  }
  return sources;
}

// Source indices of an operand that is broadcast to a shape; null if it has that shape.
function broadcast(source, shape) {
  const full = [...Array(shape.length - source.length).fill(1), ...source];
  if (full.every((side, axis) => side === shape[axis])) return null;
  return positions(shape, full, (at) => at.map((index, axis) => (full[axis] === 1 ? 0 : index)));
}

const ONE = {
  relu: () => (x) => (x > 0 ? x : 0),
  leaky: ({ slope }) => (x) => (x > 0 ? x : slope * x),
  tanh: () => Math.tanh,
  sigmoid: () => (x) => 1 / (1 + Math.exp(-x)),
  exp: () => Math.exp,
  rsqrt: () => (x) => 1 / Math.sqrt(x),
  atan: () => Math.atan,
  negative: () => (x) => -x,
  clamp: ({ min, max }) => (x) => Math.min(Math.max(x, min ?? -Infinity), max ?? Infinity),
};

const TWO = {
  add: (x, y) => x + y,
  subtract: (x, y) => x - y,
  times: (x, y) => x * y,
  divide: (x, y) => x / y,
  equal: (x, y) => (x === y ? 1 : 0),
};

// Product of a (m × k) and b (k × n). Two rows of a and four rows of b at a time, so that each value read is used more
// than once.
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
  if (even < m) { // the last row if m is odd
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

// Product with a single column: four independent sums at a time.
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

// For each element of the columns (channel and position in the patch, by patch), the index of its pixel; -1 beyond the
// border.
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

// Source indices of operations that only move elements.
const MOVED = {
  permute: (step, [source]) =>
    positions(step.shape, source, (at) => source.map((_, axis) => at[step.params.order.indexOf(axis)])),
  take: (step, [source]) => {
    const { axis, indices } = step.params;
    const shape = source.map((length, index) => (index === axis ? indices.length : length));
    return positions(shape, source, (at) => at.map((index, a) => (a === axis ? indices[index] : index)));
  },
  pad: (step, [source]) => {
    const before = source.map((_, axis) => step.params.amounts[2 * (source.length - 1 - axis)] ?? 0);
    return positions(step.shape, source, (at) => {
      const from = at.map((index, axis) => index - before[axis]);
      return from.some((index, axis) => index < 0 || index >= source[axis]) ? null : from;
    });
  },
  unfold: (step, [source]) => {
    const image = source.slice(-3);
    return patches(image, [side(image[1], step.params), side(image[2], step.params)], step.params);
  },
};

// An operation as a result array and a function that fills it.
function prepare(step, of, shapes) {
  const out = new Float32Array(product(step.shape));
  const [x, y] = of;
  if (step.operation === "reshape") return [x, () => {}];
  if (step.operation in ONE) {
    const change = ONE[step.operation](step.params);
    return [out, () => { for (let i = 0; i < out.length; i++) out[i] = change(x[i]); }];
  }
  if (step.operation in TWO) {
    const join = TWO[step.operation];
    const [xs, ys] = shapes.map((shape) => broadcast(shape, step.shape));
    return [out, () => {
      for (let i = 0; i < out.length; i++) out[i] = join(x[xs ? xs[i] : i], y[ys ? ys[i] : i]);
    }];
  }
  if (step.operation === "multiply") {
    const [m, k] = shapes[0], n = shapes[1][1];
    return [out, () => multiply(x, y, out, m, k, n)];
  }
  if (step.operation in MOVED) {
    const from = MOVED[step.operation](step, shapes);
    return [out, () => { for (let i = 0; i < out.length; i++) out[i] = from[i] < 0 ? 0 : x[from[i]]; }];
  }
  if (step.operation === "fold") {
    const [height, width] = step.params.sides;
    const image = [out.length / (height * width), height, width];
    const to = patches(image, [side(height, step.params), side(width, step.params)], step.params);
    return [out, () => {
      out.fill(0);
      for (let i = 0; i < x.length; i++) if (to[i] >= 0) out[to[i]] += x[i];
    }];
  }
  if (step.operation === "mean") {
    const { axis } = step.params, length = shapes[0][axis];
    const inner = product(shapes[0].slice(axis + 1));
    return [out, () => {
      for (let i = 0; i < out.length; i++) {
        let sum = 0;
        const start = Math.floor(i / inner) * length * inner + (i % inner);
        for (let index = 0; index < length; index++) sum += x[start + index * inner];
        out[i] = sum / length;
      }
    }];
  }
  if (step.operation === "join") {
    const { axis } = step.params, inner = product(step.shape.slice(axis + 1));
    const widths = shapes.map((shape) => shape[axis] * inner);
    const whole = step.shape[axis] * inner;
    return [out, () => {
      let start = 0;
      of.forEach((part, index) => {
        for (let row = 0; row * widths[index] < part.length; row++) {
          const from = row * widths[index];
          out.set(part.subarray(from, from + widths[index]), row * whole + start);
        }
        start += widths[index];
      });
    }];
  }
  throw new Error(`Unknown operation: ${step.operation}.`);
}

// A program as a function from a code and its condition to an observation.
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
    const of = step.inputs.map((name) => values[name]);
    const [out, act] = prepare(step, of, step.inputs.map((name) => shapes[name]));
    values[step.name] = out;
    shapes[step.name] = step.shape;
    actions.push(act);
  }
  return (codes, condition) => {
    values.codes.set(codes);
    if (values.condition) values.condition.set(condition);
    for (const act of actions) act();
    return values[program.output];
  };
}

// Answers each request for codes with their observations.
function listen(program) {
  const decode = compile(program), columns = program.inputs.codes, conditions = program.inputs.condition ?? 0;
  self.onmessage = ({ data: { number, codes, condition } }) => {
    const rows = codes.length / columns, started = performance.now();
    let out = null;
    for (let row = 0; row < rows; row++) {
      const dim = codes.subarray(row * columns, (row + 1) * columns);
      const one = decode(dim, condition.subarray(row * conditions, (row + 1) * conditions));
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
