// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The page: what the run has (asked for every second), which frame is shown, playing, and the controls around the picture.
// What others may want to know (tests, scripts) stands in data attributes of <body>: ready, frame, shown, attribute, playing, frames.
import { FrameStore } from "./store.js";
import { Stage } from "./stage.js";
import { Timeline } from "./timeline.js";
import { Plots } from "./plots.js";
import { ScenePane } from "./scenepane.js";
import { colorTable, MAP_NAMES } from "./colors.js";
import { count, duration, number, ticks, titleOf, unitOf } from "./format.js";
import { savePicture } from "./picture.js";

const $ = (id) => document.getElementById(id);
const AHEAD = 12;  // frames asked for before they are needed, while the run goes on: it needs the processor more
const SETTINGS = "rheo-viewer";

const stage = new Stage($("view"));
const store = new FrameStore(Math.min(1024, 128 * (navigator.deviceMemory ?? 4)) * 2 ** 20);
const timeline = new Timeline($("strip"), $("scrub"));
const plots = new Plots($("plots"));
const scenePane = new ScenePane({ list: $("scene"), search: $("search"), status: $("search-status") });

const saved = (() => { try { return JSON.parse(localStorage.getItem(SETTINGS)) ?? {}; } catch { return {}; } })();
const state = {
  run: null, frames: new Map(), numbers: [], frame: null, attribute: saved.attribute ?? "v", attributes: [], groups: new Set(), map: saved.map ?? "water",
  limit: 1000000, range: "run", low: 0, high: 1, seen: new Map(), playing: false, loop: true, speed: 1, follow: true, direction: 1,
  log: { version: 0, offset: 0 }, probes: { version: 0, offset: 0 }, due: 0, shownAt: [], ended: false, theme: saved.theme ?? "auto",
};

function remember() {
  const { attribute, map, theme } = state;
  try { localStorage.setItem(SETTINGS, JSON.stringify({ attribute, map, theme })); } catch { /* a browser that keeps nothing */ }
}

// --- what the run has -------------------------------------------------------------------------------------------------

async function ask(url, kind) {
  const answer = await fetch(url, { cache: "no-store" });
  if (!answer.ok) throw Object.assign(new Error(`${url}: ${answer.status}`), { status: answer.status });
  return kind === "text" ? answer.text() : answer.json();
}

async function poll() {
  try {
    await update(await ask("/api/run"));
    await readLog();
    await readProbes();
    $("trouble").hidden = !state.run.problem;
    if (state.run.problem) $("trouble").textContent = state.run.problem;
  } catch (error) {
    if (error.status !== 429) {
      $("trouble").textContent = error instanceof TypeError ? "The server does not answer. Is `rheo view` still running?" : error.message;
      $("trouble").hidden = false;
    }
  }
  setTimeout(poll, document.hidden ? 5000 : 1000);
}

async function update(run) {
  const fresh = !state.run || state.run.scene !== run.scene;
  const wasLast = state.frame === null || state.frame === state.numbers.at(-1);
  const before = state.numbers.length;
  state.run = run;
  state.frames = new Map(run.frames.map(([frame, points, surface]) => [frame, { points, surface }]));
  state.numbers = run.frames.map(([frame]) => frame);
  if (fresh) await startOver();
  showStatus();
  if (state.numbers.length === 0) { state.frame = null; showEmpty(); return; }
  $("empty").hidden = true;
  if (state.frame === null) {
    const surfaces = run.frames.some(([, , surface]) => surface);
    $("show-surface").checked = surfaces;
    $("show-points").checked = !surfaces;
    go(isRunning() ? state.numbers.at(-1) : state.numbers[0]);
  } else if (isRunning() && state.follow && wasLast && state.numbers.length > before && !state.playing) {
    go(state.numbers.at(-1));
  } else if (!state.frames.has(state.frame)) {
    go(state.frame);
  }
  refresh();
}

// Another scene, or a run that was started anew: nothing that was fetched is of use.
async function startOver() {
  store.clear();
  state.seen.clear();
  stage.seen.makeEmpty();
  delete document.body.dataset.shown;
  $("title").textContent = state.run.title || state.run.name;
  $("run").textContent = state.run.name;
  document.title = `${state.run.title || state.run.name} – Rheo`;
  const solids = await store.fetch("/api/solids");
  if (!solids.error) {
    stage.setSolids(solids, state.run.dimension === 2);
    listSolids(solids.facts.solids);
    stage.look();
  }
  $("depth").closest(".row").hidden = state.run.dimension === 2;
  for (const button of document.querySelectorAll("[data-view]")) button.hidden = state.run.dimension === 2 && button.dataset.view !== "home";
  $("grid-step").textContent = `${number(stage.gridStep)}\u2009m`;
  scenePane.set(await ask("/api/scene", "text"));
}

async function readLog() {
  for (let more = true; more;) {
    const text = await ask(`/api/log?version=${state.log.version}&offset=${state.log.offset}`, "text");
    const lines = text.split("\n"), head = JSON.parse(lines[0]);
    if (head.offset === 0 && (state.log.offset > 0 || head.version !== state.log.version)) plots.clear();
    state.log = { version: head.version, offset: head.next };
    const steps = [];
    for (const line of lines.slice(1)) {
      if (!line) continue;
      try { const step = JSON.parse(line); delete step.peaks; delete step.stages; steps.push(step); } catch { /* not one of our lines */ }
    }
    plots.set({ first: state.run.first, last: state.numbers.at(-1) ?? state.run.first, fps: state.run.fps });
    if (steps.length) plots.add(steps);
    more = head.next < head.bytes && head.next > head.offset;
  }
}

// The first line of probes.csv has the titles, every other one a row.
async function readProbes() {
  for (let more = true; more;) {
    const text = await ask(`/api/probes?version=${state.probes.version}&offset=${state.probes.offset}`, "text");
    const lines = text.split("\n"), head = JSON.parse(lines[0]), fresh = head.offset === 0 && head.next > 0;
    state.probes = { version: head.version, offset: head.next };
    if (fresh) {
      plots.setTitles(lines[1].split(","));
      listProbes();
    }
    const rows = lines.slice(fresh ? 2 : 1).filter((line) => line).map((line) => line.split(",").map(Number));
    if (rows.length) plots.addRows(rows);
    more = head.next < head.bytes && head.next > head.offset;
  }
}

function listProbes() {
  const names = plots.probeNames(), select = $("probe");
  select.replaceChildren(...names.map((name) => new Option(name, name)));
  $("probe-row").hidden = names.length === 0;
  if (!names.includes(plots.probe)) plots.setProbe(names[0] ?? "");
  select.value = plots.probe;
}

function isRunning() {
  const { run, numbers } = state, last = plots.steps.at(-1);
  if (!run?.log || (numbers.at(-1) ?? 0) >= run.last) return false;
  return run.log.age < Math.max(8, 6 * (last?.seconds ?? 0));
}

function secondsPerFrame() {
  const sums = new Map();
  for (const step of plots.steps.slice(-400)) sums.set(step.frame, (sums.get(step.frame) ?? 0) + step.seconds);
  const recent = [...sums.values()].slice(-9, -1);
  return recent.length ? recent.reduce((a, b) => a + b) / recent.length : NaN;
}

function showStatus() {
  const { run, numbers } = state, last = numbers.at(-1), box = $("status");
  let words, kind;
  if (isRunning()) {
    const each = secondsPerFrame(), left = Number.isFinite(each) ? `, ${duration(each * (run.last - (last ?? run.first)))} left` : "";
    [kind, words] = ["running", `running, frame ${last ?? "–"} of ${run.last}${left}`];
  } else if (last === undefined) [kind, words] = ["idle", "no frames yet"];
  else if (last >= run.last) [kind, words] = ["complete", `complete, ${count(numbers.length)} frames`];
  else [kind, words] = ["stopped", `stopped at frame ${last} of ${run.last}`];
  box.dataset.state = kind;
  box.textContent = words;
  box.title = words;
  box.dataset.short = last === undefined ? "" : `${last} of ${run.last}`;
  $("follow").hidden = kind !== "running";
}

function showEmpty() {
  stage.showPoints(null);
  stage.showSurface(null);
  stage.setVisible({ points: false, surface: false, solids: $("show-solids").checked, ground: $("show-ground").checked });
  $("empty").hidden = false;
  $("empty").textContent = isRunning() ? "The run has begun. Its first frame appears here when it is there." : "This run has no frames yet.";
  document.body.dataset.ready = "true";
}

function listSolids(solids) {
  const roles = { solid: "solid", container: "container", emitter: "emitter", sink: "sink" };
  $("solids").replaceChildren(...solids.map((solid) => {
    const item = document.createElement("li"), name = document.createElement("span"), kind = document.createElement("span");
    name.textContent = solid.name || "(without a name)";
    kind.textContent = roles[solid.role] + (solid.poses > 1 || solid.deforms ? ", moves" : "");
    item.append(name, kind);
    if (solid.problem) { item.className = "wrong"; kind.textContent = ` ${solid.problem}`; }
    return item;
  }));
  $("solids-count").textContent = solids.length || "none";
}

// --- frames -----------------------------------------------------------------------------------------------------------

const wantsPoints = () => $("show-points").checked;
const wantsSurface = () => $("show-surface").checked;

function pointsKey(frame) {
  const entry = state.frames.get(frame);
  return entry?.points ? FrameStore.pointsKey(frame, entry.points, state.attribute, state.limit) : null;
}
function surfaceKey(frame) {
  const entry = state.frames.get(frame);
  return entry?.surface ? FrameStore.surfaceKey(frame, entry.surface) : null;
}

function verticesKey(frame) {
  return stage.deforms && state.frames.has(frame) ? FrameStore.verticesKey(frame, state.run.scene) : null;
}

// What the frame needs to be shown as asked for.
function keysOf(frame) {
  const keys = [];
  if (wantsSurface() && surfaceKey(frame)) keys.push(surfaceKey(frame));
  if (wantsPoints() || keys.length === 0) if (pointsKey(frame)) keys.push(pointsKey(frame));
  if (verticesKey(frame)) keys.push(verticesKey(frame));
  return keys;
}
const isLoaded = (frame) => keysOf(frame).every((key) => store.has(key) || store.error(key));

function neighbour(frame, by) {
  const { numbers } = state;
  let at = numbers.findIndex((n) => n >= frame);
  if (at < 0) at = numbers.length - 1;
  if (numbers[at] !== frame && by > 0) by -= 1;
  at += by;
  if (state.loop && state.playing) at = (at + numbers.length) % numbers.length;
  return numbers[Math.min(numbers.length - 1, Math.max(0, at))];
}

function nearest(frame) {
  const { numbers } = state;
  return numbers.reduce((best, n) => (Math.abs(n - frame) < Math.abs(best - frame) ? n : best), numbers[0]);
}

function go(frame) {
  if (state.numbers.length === 0) return;
  frame = nearest(frame);
  if (state.frame !== null && frame !== state.frame) state.direction = frame > state.frame ? 1 : -1;
  state.frame = frame;
  document.body.dataset.frame = frame;
  refresh();
}

// Of a run at rest as many as memory holds.
function framesAhead() {
  if (isRunning()) return AHEAD;
  const each = store.kept.size ? store.bytes / store.kept.size : 2 ** 23;
  return Math.max(AHEAD, Math.floor((0.7 * store.mostBytes) / Math.max(each, 1) / Math.max(1, keysOf(state.frame).length)));
}

// Asks for what is needed, shows what is there. Called whenever anything changed.
function refresh() {
  if (state.frame === null) return;
  const wanted = [...keysOf(state.frame)], ahead = new Set();
  // At rest also what is not shown: the particles' number and attributes are told beside a surface too.
  if (!state.playing && pointsKey(state.frame) && !wanted.includes(pointsKey(state.frame))) wanted.push(pointsKey(state.frame));
  for (let i = 1, at = state.frame, most = framesAhead(); i <= most; i++) {
    at = state.playing ? neighbour(at, 1) : state.numbers[state.numbers.indexOf(at) + state.direction];
    if (at === undefined || ahead.has(at) || at === state.frame) break;
    ahead.add(at);
    wanted.push(...keysOf(at));
  }
  store.want(wanted);
  show();
  timeline.set({ first: Math.min(state.run.first, state.numbers[0]), last: Math.max(state.run.last, state.numbers.at(-1)), frame: state.frame, frames: state.frames });
  if (document.activeElement !== $("frame")) $("frame").value = state.frame;
  plots.setFrame(state.frame);
}

// Never an empty picture between two frames: the old one stays until the new one is there.
function show() {
  const { frame } = state;
  if (frame === null || !isLoaded(frame)) { showNotice(); return; }
  const points = pointsKey(frame) && store.get(pointsKey(frame)), surface = wantsSurface() && surfaceKey(frame) && store.get(surfaceKey(frame));
  if (points) learn(points.facts);
  stage.showPoints(points || null);
  stage.showSurface(surface || null);
  stage.setVisible({
    points: (wantsPoints() || (wantsSurface() && !surface)) && !!points, surface: !!surface, solids: $("show-solids").checked, ground: $("show-ground").checked,
  });
  stage.poseSolids(frame);
  if (verticesKey(frame)) stage.deformSolids(store.get(verticesKey(frame)));
  if (document.body.dataset.shown === undefined) stage.look();  // now with the particles' own box
  if (document.body.dataset.shown !== String(frame)) state.shownAt.push(performance.now());
  document.body.dataset.shown = frame;
  document.body.dataset.attribute = points?.facts.attribute ?? "";
  document.body.dataset.points = points && stage.points.visible ? points.facts.count : 0;
  document.body.dataset.surface = surface ? surface.facts.triangles : 0;
  document.body.dataset.ready = "true";
  showRange(points?.facts);
  showFacts(points?.facts, surface?.facts);
  showNotice(points?.facts);
}

function showNotice(facts) {
  const words = [], { frame } = state;
  if (!isLoaded(frame)) {
    clearTimeout(state.slow);
    state.slow = setTimeout(() => { if (state.frame !== null && !isLoaded(state.frame)) say([`Loading frame ${state.frame} …`]); }, 250);
    return;
  }
  for (const key of keysOf(frame)) if (store.error(key)) words.push(`Frame ${frame}: ${store.error(key).error}`);
  if (wantsSurface() && !surfaceKey(frame)) words.push(wantsPoints() ? "This frame has no surface." : "This frame has no surface; its particles are shown.");
  if (facts && stage.points.visible && facts.count < facts.finite)
    words.push(`${count(facts.count)} of ${count(facts.finite)} particles are shown, larger to fill the same volume.`);
  if (facts && facts.finite < facts.total) words.push(`${count(facts.total - facts.finite)} particles have no finite position.`);
  if (facts && stage.points.visible && facts.attribute === null) words.push(`This frame has no attribute ${state.attribute}.`);
  say(words);
}

function say(words) {
  $("r-notice").hidden = words.length === 0;
  $("r-notice").textContent = words.join(" ");
}

function showFacts(points, surface) {
  const time = points?.time ?? (state.frame - state.run.first) / state.run.fps;
  $("r-frame").textContent = state.frame;
  $("r-time").textContent = `${time.toFixed(3)}\u2009s`;
  $("r-count").textContent = points ? `${count(points.total)} particles` : "";
  $("points-count").textContent = points ? count(points.total) : pointsKey(state.frame) ? "" : "none";
  $("surface-count").closest(".group").classList.toggle("off", !surface);
  $("surface-count").textContent = surface ? `${count(surface.triangles)} triangles` : [...state.frames.values()].some((f) => f.surface) ? "" : "none";
  const rows = [["Time", `${number(time, 6)}\u2009s`], ["Cell", `${number(state.run.cell)}\u2009m`], ["Frame rate", `${number(state.run.fps)}\u2009/s`]];
  if (points) {
    const size = [0, 1, 2].map((axis) => number(points.box[axis + 3] - points.box[axis], 3));
    rows.push(["Extent", `${size.join(" × ")}\u2009m`], ["Radius", `${number(points.radius, 3)}\u2009m`]);
    if (points.attribute) rows.push([points.attribute, `${number(points.range[0])} to ${number(points.range[1])} ${unitOf(points.attribute)}`]);
  }
  rows.push(["Scene", state.run.hash]);
  $("facts").replaceChildren(...rows.flatMap(([name, value]) => {
    const term = document.createElement("dt"), text = document.createElement("dd");
    [term.textContent, text.textContent] = [name, value];
    return [term, text];
  }));
}

// --- colours and ranges -----------------------------------------------------------------------------------------------

// Attributes whose values are names, counted from 0: materials of a run with several, and what particles of whitewater are; null for all others.
const CLASSES = ["spray", "foam", "bubble"];
function namesOf(attribute) {
  if (attribute === "material") return state.run?.materials ?? null;
  return attribute === "class" && CLASSES.every((name) => state.groups.has(name)) ? CLASSES : null;
}

// What stands at the legend's colours.
function legendMarks(attribute) {
  const names = namesOf(attribute);
  return names ? names.map((name, at) => [at, name]) : ticks(state.low, state.high, 5).map((mark) => [mark, number(mark, 4)]);
}

// The attributes of a frame, and what is typical of the one shown.
function learn(facts) {
  state.groups = new Set(facts.attributes.map((a) => a.name));
  const list = facts.attributes.map((a) => `${a.name}:${a.type}:${a.uniform}`).join();
  if (list !== state.attributeList) {
    state.attributeList = list;
    fillAttributes(facts.attributes);
  }
  if (!facts.attribute) return;
  const names = namesOf(facts.attribute);
  if (names) {  // all of them have a colour, however few particles they have
    state.ofFrame = [0, names.length - 1];
    state.seen.set(facts.attribute, state.ofFrame);
    return;
  }
  const isLength = !facts.attribute.includes(".") && facts.attributes.some((a) => a.name === facts.attribute && a.type === "vec3f");
  const low = isLength ? 0 : facts.typical[0], before = state.seen.get(facts.attribute);
  state.seen.set(facts.attribute, before ? [Math.min(before[0], low), Math.max(before[1], facts.typical[1])] : [low, facts.typical[1]]);
  state.ofFrame = [low, facts.typical[1]];
}

function fillAttributes(attributes) {
  const choices = [];
  for (const { name, type, uniform } of attributes) {
    if (name !== "P" && !uniform) choices.push([name, type, type === "vec3f" ? `${name} – ${titleOf(name, type)}` : name]);
    if (type === "vec3f") for (const axis of "xyz") choices.push([`${name}.${axis}`, type, name === "P" && axis === "y" ? "P.y – height" : `${name}.${axis}`]);
    if (uniform && type !== "vec3f") choices.push([name, type, `${name} (the same for all)`]);
  }
  const first = choices.findIndex(([value]) => value === "v");
  if (first > 0) choices.unshift(...choices.splice(first, 4));
  $("attribute").replaceChildren(...choices.map(([value, , text]) => new Option(text, value)));
  if (!choices.some(([value]) => value === state.attribute) && choices.length) setAttribute(choices[0][0]);
  $("attribute").value = state.attribute;
}

function showRange(facts) {
  if (state.range === "run") [state.low, state.high] = state.seen.get(state.attribute) ?? [0, 1];
  if (state.range === "frame" && state.ofFrame) [state.low, state.high] = state.ofFrame;
  if (state.map === "balance" && state.range !== "manual") {
    const most = Math.max(Math.abs(state.low), Math.abs(state.high));
    [state.low, state.high] = [-most, most];
  }
  stage.setRange(state.low, state.high);
  for (const [id, value] of [["range-low", state.low], ["range-high", state.high]])
    if (document.activeElement !== $(id)) $(id).value = number(value).replace("−", "-");
  for (const button of document.querySelectorAll("[data-range]")) button.setAttribute("aria-pressed", button.dataset.range === state.range);
  drawLegend(facts);
}

function drawLegend(facts) {
  const shown = stage.points.visible && facts?.attribute;
  $("legend").hidden = !shown;
  if (!shown) return;
  const unit = unitOf(facts.attribute), type = facts.attributes.find((a) => a.name === facts.attribute)?.type;
  $("legend-title").textContent = titleOf(facts.attribute, type);
  if (unit) $("legend-title").append(Object.assign(document.createElement("span"), { textContent: `, ${unit}` }));
  const bar = $("legend-bar").getContext("2d");
  bar.putImageData(new ImageData(new Uint8ClampedArray(colorTable(state.map)), 256, 1), 0, 0);
  $("legend-ticks").replaceChildren(...legendMarks(facts.attribute).map(([mark, text]) => {
    const label = document.createElement("span");
    label.textContent = text;
    label.style.left = `${state.high > state.low ? (100 * (mark - state.low)) / (state.high - state.low) : 0}%`;
    return label;
  }));
}

function setAttribute(name) {
  state.attribute = name;
  if (state.range === "manual") state.range = "run";
  $("attribute").value = name;
  remember();
  refresh();
}

function setMap(name) {
  state.map = MAP_NAMES[name] ? name : "water";
  $("map").value = state.map;
  stage.setMap(state.map);
  remember();
  if (state.frame !== null) show();
}

function setRange(kind) { state.range = kind; show(); }

// --- playing ----------------------------------------------------------------------------------------------------------

function setPlaying(playing) {
  if (playing && state.numbers.length < 2) playing = false;
  if (playing && !state.loop && state.frame === state.numbers.at(-1) && !isRunning()) go(state.numbers[0]);
  state.playing = playing;
  state.due = performance.now();
  state.shownAt = [];
  $("play").setAttribute("aria-pressed", playing);
  document.body.dataset.playing = playing;
  refresh();
}

// Every frame is shown; when the next one is not there yet we wait for it rather than leave it out.
function advance(now) {
  if (!state.playing || now < state.due || !isLoaded(state.frame)) return;
  const atEnd = state.frame === state.numbers.at(-1);
  if (atEnd && isRunning()) return;
  if (atEnd && !state.loop) { setPlaying(false); return; }
  const next = neighbour(state.frame, 1);
  if (!isLoaded(next)) return;  // it is first among those asked for
  const period = 1000 / (state.run.fps * state.speed);
  state.due = now - state.due > 3 * period ? now + period : state.due + period;
  go(next);
}

function showPace(now) {
  const recent = (state.shownAt = state.shownAt.filter((at) => now - at < 2000));
  const rate = recent.length > 2 ? ((recent.length - 1) * 1000) / (recent.at(-1) - recent[0]) : 0;
  const wanted = state.run ? state.run.fps * state.speed : 0;
  $("pace").textContent = state.playing && rate ? `${number(rate, 3)} of ${number(wanted, 3)} frames a second` : "";
}

let lastPace = 0;
function tick(now) {
  advance(now);
  stage.drawIfChanged();
  if (now - lastPace > 500) { lastPace = now; showPace(now); }
  requestAnimationFrame(tick);
}

// --- controls ---------------------------------------------------------------------------------------------------------

function setTheme(theme) {
  state.theme = theme;
  const dark = theme === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  $("theme-name").textContent = { auto: "Auto", light: "Light", dark: "Dark" }[theme];
  remember();
  stage.applyTheme();
  timeline.draw();
  plots.draw();
}

function setTab(name) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
  plots.draw();
}

function step(by) { setPlaying(false); go(neighbour(state.frame, by)); }
function toggle(id) { $(id).checked = !$(id).checked; $(id).dispatchEvent(new Event("change")); }
function press(button, on) { $(button).setAttribute("aria-pressed", on); }
function cycle(list, value, by = 1) { return list[(list.indexOf(value) + by + list.length) % list.length]; }

function setLoop(on) { state.loop = on; press("loop", on); refresh(); }
function setFollow(on) { state.follow = on; press("follow", on); if (on && isRunning()) go(state.numbers.at(-1)); }
function setSpeed(by) {
  const options = [...$("speed").options], at = Math.min(options.length - 1, Math.max(0, $("speed").selectedIndex + by));
  $("speed").selectedIndex = at;
  state.speed = Number(options[at].value);
}
function setSize(power) {
  $("size").value = power;
  const scale = 2 ** Number($("size").value);
  $("size-value").textContent = `${number(scale, 2)}×`;
  stage.setPointScale(scale);
}

function save() {
  stage.draw();
  const points = stage.shownPoints?.facts, legend = stage.points.visible && points?.attribute;
  savePicture(stage.canvas, `${state.run.name}.${String(state.frame).padStart(4, "0")}.png`, $("caption").checked && {
    title: state.run.title || state.run.name, words: `frame ${state.frame}   ${(points?.time ?? 0).toFixed(3)} s`,
    legend: legend && { table: colorTable(state.map), low: state.low, high: state.high, marks: legendMarks(points.attribute), title: $("legend-title").textContent },
  });
}

function connect() {
  const click = (id, action) => $(id).addEventListener("click", action);
  click("play", () => setPlaying(!state.playing));
  click("first", () => { setPlaying(false); go(state.numbers[0]); });
  click("last", () => { setPlaying(false); go(state.numbers.at(-1)); });
  click("back", () => step(-1));
  click("forward", () => step(1));
  click("loop", () => setLoop(!state.loop));
  click("follow", () => setFollow(!state.follow));
  click("picture", save);
  click("help", () => $("shortcuts").showModal());
  click("theme", () => setTheme(cycle(["auto", "light", "dark"], state.theme)));
  click("copy", () => navigator.clipboard?.writeText(scenePane.text));
  timeline.isKept = (frame) => keysOf(frame).length > 0 && keysOf(frame).every((key) => store.has(key));
  $("probe").addEventListener("change", (event) => plots.setProbe(event.target.value));
  timeline.onseek = plots.onseek = (frame) => { setPlaying(false); go(frame); };
  $("frame").addEventListener("change", () => { setPlaying(false); if (Number.isFinite(Number($("frame").value))) go(Number($("frame").value)); $("frame").blur(); $("frame").value = state.frame; });
  $("speed").addEventListener("change", () => setSpeed(0));
  $("attribute").addEventListener("change", () => setAttribute($("attribute").value));
  $("map").addEventListener("change", () => setMap($("map").value));
  $("limit").addEventListener("change", () => { state.limit = Number($("limit").value); refresh(); });
  $("size").addEventListener("input", () => setSize($("size").value));
  $("opacity").addEventListener("input", () => { stage.setSurfaceOpacity(Number($("opacity").value)); $("opacity-value").textContent = `${Math.round(100 * $("opacity").value)} %`; });
  $("depth").addEventListener("change", () => { stage.depthShading = $("depth").checked; stage.changed = true; });
  for (const id of ["show-points", "show-surface", "show-solids", "show-ground"])
    $(id).addEventListener("change", () => { $(id).closest(".group")?.classList.toggle("off", !$(id).checked && id !== "show-ground"); refresh(); });
  for (const button of document.querySelectorAll("[data-range]")) button.addEventListener("click", () => setRange(button.dataset.range));
  for (const id of ["range-low", "range-high"]) $(id).addEventListener("change", readManual);
  for (const list of document.querySelectorAll("select")) list.addEventListener("change", () => list.blur());  // the keys are the page's again
  for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => setTab(tab.id.slice(4)));
  for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => stage.look(button.dataset.view));
  $("shortcuts").addEventListener("click", (event) => { if (event.target === $("shortcuts")) $("shortcuts").close(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(state.theme));
  new ResizeObserver(() => { stage.resize(); if (!stage.moved) stage.look(stage.view); timeline.draw(); }).observe($("viewport"));
  stage.controls.addEventListener("start", () => { stage.moved = true; });
  document.addEventListener("keydown", onKey);
}

function readManual() {
  const values = ["range-low", "range-high"].map((id) => Number($(id).value.replace(",", ".").replace("−", "-")));
  const wrong = !values.every(Number.isFinite) || values[0] >= values[1];
  for (const id of ["range-low", "range-high"]) $(id).setAttribute("aria-invalid", wrong);
  if (wrong) return;
  [state.low, state.high] = values;
  setRange("manual");
}

const KEYS = {
  " ": () => setPlaying(!state.playing), ArrowLeft: (e) => step(e.shiftKey ? -10 : -1), ArrowRight: (e) => step(e.shiftKey ? 10 : 1),
  Home: () => { setPlaying(false); go(state.numbers[0]); }, End: () => { setPlaying(false); go(state.numbers.at(-1)); },
  "[": () => setSpeed(-1), "]": () => setSpeed(1), l: () => setLoop(!state.loop), n: () => setFollow(!state.follow),
  1: () => setTab("look"), 2: () => setTab("plots"), 3: () => setTab("scene"), "/": () => { setTab("scene"); $("search").focus(); },
  p: () => toggle("show-points"), s: () => toggle("show-surface"), o: () => toggle("show-solids"), g: () => toggle("show-ground"),
  a: () => setAttribute(cycle([...$("attribute").options].map((o) => o.value), state.attribute)),
  c: () => setMap(cycle(Object.keys(MAP_NAMES), state.map)), r: () => setRange(cycle(["run", "frame", "manual"], state.range)),
  "-": () => setSize(Number($("size").value) - 0.25), "+": () => setSize(Number($("size").value) + 0.25), "=": () => setSize(Number($("size").value) + 0.25),
  f: () => stage.look("home"), d: save, t: () => setTheme(cycle(["auto", "light", "dark"], state.theme)), "?": () => $("shortcuts").showModal(),
  h: () => $("shortcuts").showModal(),
};

function onKey(event) {
  const typing = event.target.matches("input[type=text], input[type=search], select");
  if (event.ctrlKey || event.metaKey || event.altKey || typing || $("shortcuts").open) return;
  // Whoever got to a button by keyboard presses that button.
  if ((event.key === " " || event.key === "Enter") && event.target.matches("button:focus-visible, input[type=checkbox]:focus-visible")) return;
  const view = event.shiftKey && { Digit1: "front", Digit2: "right", Digit3: "top" }[event.code];
  const action = view ? () => stage.look(view) : KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action || state.run === null) return;
  event.preventDefault();
  action(event);
}

$("map").replaceChildren(...Object.entries(MAP_NAMES).map(([value, text]) => new Option(text, value)));
store.onarrival = () => { if (state.frame !== null) { show(); timeline.draw(); } };
connect();
setTheme(state.theme);
setMap(state.map);
stage.resize();
poll();
requestAnimationFrame(tick);
