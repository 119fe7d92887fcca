// What can be done to the strands of a code, as strands.py has it. Codes are arrays, a strand is a list of places.
"use strict";

// Both codes with a strand exchanged between them.
function swap(a, b, strand) {
  const first = a.slice(), second = b.slice();
  for (const code of strand) [first[code], second[code]] = [b[code], a[code]];
  return [first, second];
}

// The code with a strand taken from another one.
function taken(codes, other, strand) {
  return swap(codes, other, strand)[0];
}

function zero(codes, strand) {
  return taken(codes, new Float32Array(codes.length), strand);
}

// The strand drawn anew, with the mean and the spread that its codes have over the data.
function randomise(codes, strand, centre, spread) {
  const other = codes.slice();
  for (const code of strand) other[code] = centre[code] + spread[code] * normal();
  return other;
}

// A number from the standard normal distribution, by Box and Muller.
function normal() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

// Which rows of a table of codes lie nearest to a code in one strand, nearest first, with their distances; its own row
// is left out.
function nearest(codes, table, strand, count, own) {
  const rows = table.length / codes.length;
  const gaps = Array.from({ length: rows }, (_, row) => {
    let sum = 0;
    for (const code of strand) sum += (table[row * codes.length + code] - codes[code]) ** 2;
    return { row, gap: Math.sqrt(sum) };
  });
  const others = gaps.filter(({ row }) => row !== own);
  return others.sort((one, other) => one.gap - other.gap || one.row - other.row).slice(0, count);
}
