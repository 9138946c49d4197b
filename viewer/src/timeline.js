// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The strip under the picture: which frames the scene has, which are on disk, which are in memory, and where we are. A range input lies over
// it, unseen, so that mouse, touch, keyboard and screen readers all work.
import { ticks } from "./format.js";

export class Timeline {
  constructor(canvas, input) {
    this.canvas = canvas;
    this.input = input;
    this.first = 1;
    this.last = 1;
    this.frame = 1;
    this.frames = new Map();
    this.isKept = () => false;
    this.onseek = () => {};
    input.addEventListener("input", () => this.onseek(Number(input.value)));
  }

  set({ first, last, frame, frames }) {
    Object.assign(this, { first, last: Math.max(first, last), frame, frames });
    this.input.min = this.first;
    this.input.max = this.last;
    this.input.value = frame;
    this.input.setAttribute("aria-valuetext", `frame ${frame}`);
    this.draw();
  }

  // Where the thumb of a range input is, so that strip and input agree to the pixel.
  #x(frame, width) { return 8 + ((frame - this.first) / Math.max(1, this.last - this.first)) * (width - 16); }

  draw() {
    const { canvas } = this, ratio = Math.min(window.devicePixelRatio, 2), width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const to = canvas.getContext("2d"), style = getComputedStyle(canvas), color = (name) => style.getPropertyValue(name);
    to.scale(ratio, ratio);
    const slot = (width - 16) / Math.max(1, this.last - this.first), top = 17, thick = 7;
    to.fillStyle = color("--track");
    to.fillRect(8 - slot / 2, top, width - 16 + slot, thick);
    this.#runs((frame) => this.frames.has(frame), (a, b) => this.#bar(to, a, b, slot, width, top, thick, color("--on-disk")));
    this.#runs((frame) => this.isKept(frame), (a, b) => this.#bar(to, a, b, slot, width, top, thick, color("--in-memory")));
    this.#runs((frame) => this.frames.get(frame)?.surface, (a, b) => this.#bar(to, a, b, slot, width, top + thick + 1, 2, color("--water")));
    this.#labels(to, width, color);
    const x = this.#x(this.frame, width);
    to.fillStyle = color("--accent");
    to.fillRect(x - 1, top - 4, 2, thick + 8);
    to.beginPath();
    to.moveTo(x - 5, top - 9);
    to.lineTo(x + 5, top - 9);
    to.lineTo(x, top - 2);
    to.fill();
  }

  #runs(test, each) {
    for (let frame = this.first, start = null; frame <= this.last + 1; frame++) {
      const inside = frame <= this.last && test(frame);
      if (inside && start === null) start = frame;
      if (!inside && start !== null) { each(start, frame - 1); start = null; }
    }
  }

  #bar(to, from, until, slot, width, top, thick, fill) {
    const left = Math.max(0, this.#x(from, width) - slot / 2), right = Math.min(width, this.#x(until, width) + slot / 2);
    to.fillStyle = fill;
    to.fillRect(left, top, Math.max(1, right - left), thick);
  }

  #labels(to, width, color) {
    to.font = "10.5px " + getComputedStyle(document.body).fontFamily;
    to.textAlign = "center";
    const marks = ticks(this.first, this.last, Math.max(2, Math.floor(width / 90))).filter((mark) => Number.isInteger(mark));
    if (!marks.includes(this.first)) marks.unshift(this.first);
    if (!marks.includes(this.last)) marks.push(this.last);
    let free = -Infinity;
    for (const mark of marks) {
      const x = this.#x(mark, width), half = to.measureText(mark).width / 2, at = Math.min(width - half, Math.max(half, x));
      if (at - half < free + 6 || (mark !== this.last && at + half > width - 8 - 3 * half && mark !== this.first)) continue;
      free = at + half;
      to.fillStyle = color("--faint");
      to.fillRect(x - 0.5, 26, 1, 3);
      to.fillStyle = color("--dim");
      to.fillText(mark, at, 38);
    }
  }
}
