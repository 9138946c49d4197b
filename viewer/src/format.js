// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Numbers for people.

const THIN = "\u2009";

// As few digits as a reader needs to tell neighbours apart.
export function number(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(Math.max(0, digits - 2)).replace("e+", "e").replace("-", "−").replace("e-", "e−");
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return String(Number(value.toFixed(Math.min(places, 8)))).replace("-", "−");
}

export const count = (value) => String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, THIN);

export function compact(value) {
  const size = Math.abs(value);
  if (size >= 1e9) return number(value / 1e9, 3) + "G";
  if (size >= 1e6) return number(value / 1e6, 3) + "M";
  if (size >= 1e4) return number(value / 1e3, 3) + "k";
  return number(value, 3);
}

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 1) return `${Math.round(1000 * seconds)}${THIN}ms`;
  if (seconds < 100) return `${number(seconds, 3)}${THIN}s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes}${THIN}min` : `${Math.floor(minutes / 60)}${THIN}h ${minutes % 60}${THIN}min`;
}

// Round steps for an axis: at most `most` intervals.
export function ticks(low, high, most) {
  if (!(high > low)) return [low];
  const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  const out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) out.push(i * step);
  return out;
}

const UNITS = { v: "m/s", P: "m", radius: "m", age: "s", temperature: "K", density: "kg/m³", mass: "kg", vorticity: "1/s", pressure: "Pa" };
const NAMES = { v: "speed", P: "position", id: "number of birth", radius: "radius" };

export function unitOf(attribute) { return UNITS[attribute.split(".")[0]] ?? ""; }

export function titleOf(attribute, type) {
  const [stem, component] = attribute.split(".");
  if (component) return stem === "P" && component === "y" ? "height" : `${stem} along ${component}`;
  return NAMES[stem] ?? (type === "vec3f" ? `length of ${stem}` : stem);
}
