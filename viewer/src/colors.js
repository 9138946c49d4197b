// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Colour maps whose lightness rises (or, for signed values, mirrors) evenly. "Water" is the scale of `rheo render`, built in OKLab
// (B. Ottosson, "A perceptual color space for image processing", 2020).
import { interpolateCividis, interpolateInferno, interpolateMagma, interpolateViridis } from "d3-scale-chromatic";

const clamp = (x) => Math.min(1, Math.max(0, x));
const encode = (x) => Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));

function fromOklab(L, a, b) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3, m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    encode(clamp(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s)),
    encode(clamp(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s)),
    encode(clamp(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)),
  ];
}

function water(t) {
  const hue = ((264 - 62 * t) * Math.PI) / 180, chroma = 0.145 * (1 - 0.78 * t * t);
  return fromOklab(0.36 + 0.57 * t, chroma * Math.cos(hue), chroma * Math.sin(hue));
}

// Blue below the middle, orange above, the same lightness at the same distance from it.
function balance(t) {
  const side = 2 * t - 1, far = Math.abs(side), hue = ((side < 0 ? 255 : 55) * Math.PI) / 180;
  const chroma = 0.13 * Math.sin((Math.PI / 2) * Math.min(1, 1.3 * far));
  return fromOklab(0.94 - 0.5 * far, chroma * Math.cos(hue), chroma * Math.sin(hue));
}

const grey = (t) => fromOklab(0.25 + 0.72 * t, 0, 0);

function parse(text) {
  if (text[0] === "#") return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  return text.match(/[\d.]+/g).slice(0, 3).map((part) => Math.round(Number(part)));
}

const MAPS = {
  water, viridis: interpolateViridis, magma: interpolateMagma, inferno: interpolateInferno, cividis: interpolateCividis, grey, balance,
};
export const MAP_NAMES = { water: "Water", viridis: "Viridis", magma: "Magma", inferno: "Inferno", cividis: "Cividis", grey: "Grey", balance: "Balance (signed)" };

// 256 colours, four bytes each.
export function colorTable(name) {
  const table = new Uint8Array(1024), map = MAPS[name] ?? water;
  for (let i = 0; i < 256; i++) {
    const color = map(i / 255);
    table.set(typeof color === "string" ? parse(color) : color, 4 * i);
    table[4 * i + 3] = 255;
  }
  return table;
}
