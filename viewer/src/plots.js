// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Small plots of the log, one below the other with one axis of frames. Many steps on a pixel are drawn as the span of their values, so no
// peak is lost.
import { compact, duration, number, ticks } from "./format.js";

const percent = (value) => `${number(value, 3)}\u2009%`;
const si = (unit) => (value) => `${compact(value)}\u2009${unit}`;

// Read: from a step; perFrame: summed over the steps of a frame.
const PLOTS = [
  { id: "volume_error", title: "Volume error", read: (s) => 100 * s.volume_error, show: percent, zero: true },
  { id: "volume", title: "Volume", read: (s) => s.volume, show: (v) => `${number(v, 4)}\u2009m³`, axis: (v) => number(v, 4) },
  { id: "energy", title: "Energy", read: (s) => s.energy ?? (s.kinetic_energy !== undefined ? s.kinetic_energy + (s.potential_energy ?? 0) : undefined), show: si("J") },
  { id: "kinetic_energy", title: "Kinetic energy", read: (s) => s.kinetic_energy, show: si("J") },
  { id: "max_speed", title: "Highest speed", read: (s) => s.max_speed, show: si("m/s"), floor: 0 },
  { id: "particles", title: "Particles", read: (s) => s.particles, show: compact },
  { id: "iterations", title: "Iterations a step", read: (s) => s.iterations, show: (v) => number(v, 3), floor: 0 },
  { id: "frame_seconds", title: "Wall time a frame", read: (s) => s.seconds, show: duration, perFrame: true, floor: 0 },
  { id: "seconds", title: "Wall time a step", read: (s) => s.seconds, show: duration, floor: 0 },
  { id: "dt", title: "Time step", read: (s) => s.dt, show: duration, floor: 0 },
  { id: "memory", title: "Memory", read: (s) => s.memory, show: (v) => `${compact(v / 1e6)}\u2009MB`, floor: 0 },
];

export class Plots {
  constructor(holder) {
    this.holder = holder;
    this.steps = [];
    this.plots = [];
    this.titles = [];
    this.measured = [];
    this.probe = "";
    this.frame = 1;
    this.onseek = () => {};
    new ResizeObserver(() => this.draw()).observe(holder);
  }

  set({ first, last, fps }) { Object.assign(this, { first, last, fps }); this.draw(); }

  clear() { this.steps = []; this.#prepare(); }

  add(steps) {
    for (const step of steps) {
      // A step that was done again after a resume counts once.
      while (this.steps.length && this.steps[this.steps.length - 1].step >= step.step) this.steps.pop();
      this.steps.push(step);
    }
    this.#prepare();
  }

  // --- probes: rows of numbers under titles like "P1.pressure [Pa]", the time first. Those of one probe are shown.
  setTitles(titles) { this.titles = titles; this.measured = []; this.#prepare(); }
  addRows(rows) { for (const row of rows) this.measured.push(row); this.#prepare(); }
  setProbe(name) { this.probe = name; this.#prepare(); }
  probeNames() { return [...new Set(this.titles.slice(1).map((title) => title.split(".")[0]))]; }

  #probePlots() {
    const plots = [];
    this.titles.forEach((title, column) => {
      const [, name, what, unit] = /^([^.]*)\.(.*) \[(.*)\]$/.exec(title) ?? [];
      if (column > 0 && name === this.probe) plots.push({ id: title, title: `${name}: ${what.replaceAll("_", " ")}`, column, show: si(unit), zero: true });
    });
    return plots;
  }

  #prepare() {
    const known = [...this.#probePlots(), ...PLOTS.filter((plot) => this.steps.some((step) => Number.isFinite(plot.read(step))))];
    if (known.map((plot) => plot.id).join() !== this.plots.map((plot) => plot.id).join()) this.#build(known);
    for (const plot of this.plots) plot.rows = plot.column ? this.measured.map((row) => [row[0] * this.fps + this.first, row[plot.column]]) : plot.perFrame ? this.#perFrame(plot) : this.#perStep(plot);
    this.draw();
  }

  #perStep(plot) {
    return this.steps.map((step) => [step.time * this.fps + this.first, plot.read(step)]).filter(([, value]) => Number.isFinite(value));
  }

  #perFrame(plot) {
    const sums = new Map();
    for (const step of this.steps) sums.set(step.frame, (sums.get(step.frame) ?? 0) + plot.read(step));
    return [...sums];
  }

  #build(known) {
    this.holder.replaceChildren();
    this.plots = known.map((plot) => {
      const box = document.createElement("figure"), head = document.createElement("figcaption"), name = document.createElement("span");
      const value = document.createElement("output"), canvas = document.createElement("canvas");
      name.textContent = plot.title;
      head.append(name, value);
      box.append(head, canvas);
      box.dataset.plot = plot.id;
      this.holder.append(box);
      const made = { ...plot, canvas, value, rows: [] };
      canvas.addEventListener("pointermove", (event) => this.#hover(made, event));
      canvas.addEventListener("pointerleave", () => { this.hovered = null; this.draw(); });
      canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); this.#seek(made, event); });
      canvas.addEventListener("pointermove", (event) => { if (event.buttons & 1) this.#seek(made, event); });
      return made;
    });
  }

  #frameAt(plot, event) {
    const width = plot.canvas.clientWidth, { left, right } = this.#margins();
    return this.first + ((event.offsetX - left) / Math.max(1, width - left - right)) * (this.#end() - this.first);
  }

  #hover(plot, event) { this.hovered = this.#frameAt(plot, event); this.draw(); }
  #seek(plot, event) { this.onseek(Math.round(this.#frameAt(plot, event))); }

  #margins() { return { left: 54, right: 6, top: 6, bottom: 6 }; }
  #end() { return Math.max(this.first + 1, this.last, this.steps.at(-1)?.frame ?? 0); }

  setFrame(frame) { if (frame !== this.frame) { this.frame = frame; this.draw(); } }

  draw() {
    if (this.queued || this.holder.offsetParent === null) return;
    this.queued = true;
    requestAnimationFrame(() => { this.queued = false; for (const plot of this.plots) this.#drawPlot(plot); });
  }

  #drawPlot(plot) {
    const { canvas, rows } = plot, ratio = Math.min(window.devicePixelRatio, 2), width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const to = canvas.getContext("2d"), style = getComputedStyle(canvas), color = (name) => style.getPropertyValue(name);
    to.scale(ratio, ratio);
    const m = this.#margins(), wide = width - m.left - m.right, high = height - m.top - m.bottom;
    let [low, top] = rows.reduce(([a, b], [, value]) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
    if (plot.zero) [low, top] = [Math.min(low, 0), Math.max(top, 0)];
    if (plot.floor !== undefined) low = Math.min(low, plot.floor);
    if (!(top > low)) [low, top] = [low - Math.abs(low || 1) * 0.01, top + Math.abs(top || 1) * 0.01];
    const end = this.#end(), x = (frame) => m.left + ((frame - this.first) / (end - this.first)) * wide;
    const y = (value) => m.top + (1 - (value - low) / (top - low)) * high;
    const line = (at, name) => { to.fillStyle = color(name); to.fillRect(m.left, Math.round(at) - 0.5, wide, 1); };
    for (const mark of ticks(low, top, 3)) line(y(mark), mark === 0 ? "--faint" : "--line");
    this.#trace(to, rows, x, y, wide, m, color("--plot"));
    const at = this.hovered ?? this.frame, cursor = Math.min(width - m.right, Math.max(m.left, x(at)));
    to.fillStyle = color("--accent");
    to.globalAlpha = this.hovered ? 0.6 : 1;
    to.fillRect(Math.round(cursor) - 0.5, m.top, 1, high);
    to.globalAlpha = 1;
    to.font = "10px " + getComputedStyle(document.body).fontFamily;
    to.fillStyle = color("--dim");
    to.textAlign = "right";
    to.textBaseline = "top";
    to.fillText((plot.axis ?? plot.show)(top), m.left - 6, m.top - 1);
    to.textBaseline = "bottom";
    to.fillText((plot.axis ?? plot.show)(low), m.left - 6, height - m.bottom + 2);
    plot.value.textContent = this.#valueAt(rows, at, plot);
  }

  // The last value at or before a frame; the state at a frame is the one its last step left.
  #valueAt(rows, frame, plot) {
    let low = 0, high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle][0] <= frame + 1e-6) low = middle + 1; else high = middle;
    }
    return low > 0 ? plot.show(rows[low - 1][1]) : "–";
  }

  #trace(to, rows, x, y, wide, m, stroke) {
    to.strokeStyle = stroke;
    to.lineWidth = 1.4;
    to.lineJoin = "round";
    to.beginPath();
    if (rows.length <= 2 * wide) {
      rows.forEach(([frame, value], i) => (i ? to.lineTo(x(frame), y(value)) : to.moveTo(x(frame), y(value))));
    } else {
      let column = null, low = 0, high = 0, first = true;
      const flush = () => { const at = column + 0.5; if (first) to.moveTo(at, y(low)); first = false; to.lineTo(at, y(low)); to.lineTo(at, y(high)); };
      for (const [frame, value] of rows) {
        const at = Math.floor(x(frame));
        if (at !== column) { if (column !== null) flush(); column = at; low = high = value; }
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      if (column !== null) flush();
    }
    to.stroke();
    if (rows.length === 1) { to.fillStyle = stroke; to.fillRect(x(rows[0][0]) - 1.5, y(rows[0][1]) - 1.5, 3, 3); }
  }
}
