// Operations on strands, as in strands.py. Codes are arrays, a strand is a list of dimensions.
"use strict";

// Two codes with one strand exchanged.
function swap(a, b, strand) {
  const first = a.slice(), second = b.slice();
  for (const dim of strand) [first[dim], second[dim]] = [b[dim], a[dim]];
  return [first, second];
}

// The code with one strand replaced by that of another code.
function taken(codes, other, strand) {
  return swap(codes, other, strand)[0];
}

function zero(codes, strand) {
  return taken(codes, new Float32Array(codes.length), strand);
}

// The strand sampled from a normal distribution with its mean and standard deviation over the data.
function randomize(codes, strand, center, std) {
  const other = codes.slice();
  for (const dim of strand) other[dim] = center[dim] + std[dim] * normal();
  return other;
}

// A standard normal sample (Box–Muller).
function normal() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

// The nearest rows of a table of codes in one strand, with their distances, without the row `own`.
function nearest(codes, table, strand, count, own) {
  const rows = table.length / codes.length;
  const gaps = Array.from({ length: rows }, (_, row) => {
    let sum = 0;
    for (const dim of strand) sum += (table[row * codes.length + dim] - codes[dim]) ** 2;
    return { row, gap: Math.sqrt(sum) };
  });
  const others = gaps.filter(({ row }) => row !== own);
  return others.sort((one, other) => one.gap - other.gap || one.row - other.row).slice(0, count);
}
