// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Drives the viewer's page in headless Chromium. Started by test_page.py: page.mjs RHEO FOLDER PACKAGES BROWSER SHOTS
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { inflateSync } from "node:zlib";

const [rheo, folder, packages, executablePath, shots] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(join(packages, "playwright-core", "index.mjs")));
// Software draws every pixel: small windows where nothing depends on their size.
const WIDE = { width: 1280, height: 720 }, USUAL = { width: 960, height: 540 }, PATIENCE = 90000;

const servers = [], known = {};
const serve = (run) => (known[run] ??= start(run));  // one server of a run does for all tests but those that end it
async function start(run) {
  const process = spawn(rheo, ["view", join(folder, run), "--quiet"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: process.stdout }), "line");
  servers.push(process);
  return line;
}

const browser = await chromium.launch({
  executablePath, args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});

// A page with no complaint in its console: neither errors of ours nor a breach of the content policy.
async function open(url, { scheme = "dark", size = USUAL, ...more } = {}) {
  const context = await browser.newContext({ colorScheme: scheme, viewport: size, acceptDownloads: true, ...more });
  const page = await context.newPage();
  page.complaints = [];
  page.setDefaultTimeout(PATIENCE);
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") page.complaints.push(message.text()); });
  page.on("request", (request) => { if (!request.url().startsWith(new URL(url).origin) && !/^(data|blob):/.test(request.url())) page.complaints.push(`asked ${request.url()}`); });
  await page.goto(url);
  await page.waitForSelector("body[data-ready=true]");
  return page;
}

async function close(page) {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

const data = (page, name) => page.evaluate((key) => document.body.dataset[key], name);
const shown = (page, frame) => page.waitForFunction((f) => document.body.dataset.shown === String(f), frame);
const text = (page, selector) => page.locator(selector).innerText();

// The picture as it is on the screen: {width, height, data}, four bytes a pixel.
async function pixels(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
  return decodePng(await page.locator("#view").screenshot());
}

// PNG of 8 bits with three or four channels, which is what the browser writes (PNG specification, third edition, section 9: filters).
function decodePng(file) {
  const width = file.readUInt32BE(16), height = file.readUInt32BE(20), channels = { 2: 3, 6: 4 }[file[25]], parts = [];
  assert.ok(file[24] === 8 && channels && file[28] === 0, "a PNG of another kind");
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at))
    if (file.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  const rows = inflateSync(Buffer.concat(parts)), stride = width * channels, data = new Uint8Array(4 * width * height);
  let before = new Uint8Array(stride);
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (stride + 1)], row = rows.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1));
    for (let i = 0; i < stride; i++) {
      const left = i >= channels ? row[i - channels] : 0, up = before[i], corner = i >= channels ? before[i - channels] : 0;
      const guess = left + up - corner, [dl, du, dc] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
      row[i] += [0, left, up, (left + up) >> 1, dl <= du && dl <= dc ? left : du <= dc ? up : corner][filter];
    }
    for (let x = 0; x < width; x++) for (let c = 0; c < 3; c++) data[4 * (y * width + x) + c] = row[x * channels + c];
    before = row;
  }
  return { width, height, data };
}

function share(picture, test) {
  let found = 0;
  for (let i = 0; i < picture.data.length; i += 4) found += test(picture.data[i], picture.data[i + 1], picture.data[i + 2]) ? 1 : 0;
  return found / (picture.data.length / 4);
}
const bluish = (r, g, b) => b > r + 40;  // the colours of water; all else on the page is grey or amber
function difference(a, b) {
  let found = 0;
  for (let i = 0; i < a.data.length; i += 4)
    found += Math.abs(a.data[i] - b.data[i]) + Math.abs(a.data[i + 1] - b.data[i + 1]) + Math.abs(a.data[i + 2] - b.data[i + 2]) > 40 ? 1 : 0;
  return found / (a.data.length / 4);
}

const tests = [];
const test = (name, body) => tests.push({ name, body });

test("loads a run and draws it", async () => {
  const page = await open(await serve("done"));
  assert.equal(await text(page, "#title"), "Page under test");
  await page.keyboard.press("Home");
  await shown(page, 1);
  const picture = await pixels(page);
  const water = share(picture, bluish);
  assert.ok(water > 0.03 && water < 0.7, `${water} of the picture is water`);
  await page.keyboard.press("End");
  await shown(page, 24);
  assert.ok(difference(picture, await pixels(page)) > 0.02, "the last frame looks like the first");
  await page.screenshot({ path: join(shots, "dark.png") });
  // Without particles no water is left, without solids fewer lines.
  await page.keyboard.press("p");
  await page.waitForFunction(() => document.body.dataset.points === "0");
  assert.ok(share(await pixels(page), bluish) < 0.001);
  const withSolids = await pixels(page);
  await page.keyboard.press("o");
  assert.ok(difference(withSolids, await pixels(page)) > 0.002, "solids make no difference");
  await close(page);
});

test("plays, pauses, scrubs, steps, loops", async () => {
  const page = await open(await serve("done"));
  await page.keyboard.press("Home");
  await shown(page, 1);
  await page.click("#play");
  await page.waitForFunction(() => Number(document.body.dataset.shown) > 4);
  assert.equal(await data(page, "playing"), "true");
  await page.keyboard.press("Space");
  assert.equal(await data(page, "playing"), "false");
  const at = await data(page, "frame");
  await page.waitForTimeout(400);
  assert.equal(await data(page, "frame"), at, "it plays on after pause");
  await page.locator("#scrub").fill("17");
  await shown(page, 17);
  assert.match(await text(page, "#r-time"), /0\.667/);
  await page.keyboard.press("Escape");
  await page.locator("#view").focus();
  await page.keyboard.press("ArrowRight");
  await shown(page, 18);
  await page.keyboard.press("Shift+ArrowLeft");
  await shown(page, 8);
  await page.click("#back");
  await shown(page, 7);
  // A press on the strip goes where the pointer is.
  const strip = await page.locator("#scrub").boundingBox();
  await page.mouse.click(strip.x + 8 + ((strip.width - 16) * 11) / 23, strip.y + 20);
  await shown(page, 12);
  await page.locator("#frame").fill("20");
  await page.locator("#frame").press("Enter");
  await shown(page, 20);
  // At the end it starts over; without the loop it stays.
  await page.keyboard.press("Space");
  await page.waitForFunction(() => Number(document.body.dataset.shown) < 10);
  await page.keyboard.press("l");
  await page.waitForFunction(() => document.body.dataset.playing === "false" && document.body.dataset.shown === "24");
  await close(page);
});

test("colours by any attribute, in any range", async () => {
  const page = await open(await serve("done"));
  await page.keyboard.press("End");
  await shown(page, 24);
  assert.equal(await data(page, "attribute"), "v");
  const speed = await pixels(page);
  assert.match(await text(page, "#legend-title"), /speed, m\/s/);
  await page.selectOption("#attribute", "P.y");
  await page.waitForFunction(() => document.body.dataset.attribute === "P.y");
  const height = await pixels(page);
  assert.match(await text(page, "#legend-title"), /height, m/);
  assert.ok(difference(speed, height) > 0.02, "another attribute looks the same");
  await page.selectOption("#map", "magma");
  await page.keyboard.press("ArrowLeft");  // a list that was used gives the keys back
  await shown(page, 23);
  await page.keyboard.press("End");
  await shown(page, 24);
  assert.ok(difference(height, await pixels(page)) > 0.02, "other colours look the same");
  await page.selectOption("#map", "viridis");
  const automatic = await pixels(page);
  await page.fill("#range-high", "5");
  await page.locator("#range-high").press("Tab");
  assert.ok(difference(automatic, await pixels(page)) > 0.02, "another range looks the same");
  assert.equal(await page.locator("[data-range=manual]").getAttribute("aria-pressed"), "true");
  await page.fill("#range-high", "-5");
  await page.locator("#range-high").press("Tab");
  assert.equal(await page.locator("#range-high").getAttribute("aria-invalid"), "true");
  await page.click("[data-range=frame]");
  assert.ok(Number(await page.inputValue("#range-high")) < 2);
  for (const name of ["id", "v.x", "radius"]) {
    await page.selectOption("#attribute", name);
    await page.waitForFunction((wanted) => document.body.dataset.attribute === wanted, name);
  }
  // A lower limit shows fewer, and says so.
  await page.evaluate(() => document.getElementById("limit").append(new Option("1000", "1000")));
  await page.selectOption("#limit", "1000");
  await page.waitForFunction(() => Number(document.body.dataset.points) <= 1000);
  assert.match(await text(page, "#r-notice"), /of .* particles are shown/);
  await close(page);
});

test("shows the surface", async () => {
  const page = await open(await serve("surfaced"));
  await shown(page, 1);
  assert.ok(Number(await data(page, "surface")) > 3000);
  assert.equal(await data(page, "points"), "0");  // a surface comes without its particles at first
  const sheet = await pixels(page);
  assert.ok(share(sheet, bluish) > 0.03);
  await page.screenshot({ path: join(shots, "surface.png") });
  await page.keyboard.press("s");
  await page.keyboard.press("p");
  await page.waitForFunction(() => document.body.dataset.surface === "0" && Number(document.body.dataset.points) > 0);
  assert.ok(difference(sheet, await pixels(page)) > 0.02);
  await page.keyboard.press("s");
  await page.keyboard.press("p");
  await page.keyboard.press("End");  // has no surface: particles instead, and a word about it
  await shown(page, 24);
  assert.ok(Number(await data(page, "points")) > 0);
  assert.match(await text(page, "#r-notice"), /no surface/);
  await close(page);
});

test("turns, zooms, fits, saves a picture", async () => {
  const page = await open(await serve("done"));
  await page.keyboard.press("End");
  await shown(page, 24);
  const before = await pixels(page), box = await page.locator("#view").boundingBox();
  await page.mouse.move(box.x + 500, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(box.x + 700, box.y + 340, { steps: 4 });
  await page.mouse.up();
  await page.waitForTimeout(800);
  const turned = await pixels(page);
  assert.ok(difference(before, turned) > 0.03, "dragging does nothing");
  await page.mouse.wheel(0, -600);
  await page.waitForTimeout(800);
  assert.ok(difference(turned, await pixels(page)) > 0.03, "the wheel does nothing");
  await page.click("[data-view=top]");
  await page.waitForTimeout(300);
  assert.ok(difference(before, await pixels(page)) > 0.03, "the view from above looks like the first");
  await page.keyboard.press("f");
  await page.waitForTimeout(500);
  assert.ok(difference(before, await pixels(page)) < 0.005, "F does not lead back");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#picture")]);
  assert.equal(download.suggestedFilename(), "done.0024.png");
  const file = readFileSync(await download.path());
  assert.equal(file.subarray(1, 4).toString(), "PNG");
  assert.ok(file.length > 20000, `a picture of ${file.length} bytes`);
  assert.equal(file.readUInt32BE(16), box.width);
  await close(page);
});

test("plots the log and shows the scene", async () => {
  const page = await open(await serve("done"));
  await page.keyboard.press("End");
  await page.keyboard.press("2");
  await page.waitForSelector("[data-plot=volume]");
  for (const id of ["volume", "volume_error", "iterations", "particles", "frame_seconds", "max_speed"])
    assert.equal(await page.locator(`[data-plot=${id}] canvas`).count(), 1, id);
  await page.waitForFunction(() => document.querySelector("[data-plot=volume] output").textContent.includes("m³"));
  const plot = await page.locator("[data-plot=max_speed] canvas").boundingBox();
  await page.mouse.click(plot.x + 54 + (plot.width - 60) / 2, plot.y + 20);  // the middle of the axis
  await page.waitForFunction(() => Math.abs(Number(document.body.dataset.shown) - 12.5) < 1);
  const inked = await page.locator("[data-plot=max_speed] canvas").evaluate((canvas) => {
    const bytes = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let columns = 0;
    for (let x = 0; x < canvas.width; x++) {
      let ink = false;
      for (let y = 0; y < canvas.height; y++) { const at = 4 * (y * canvas.width + x); ink ||= bytes[at + 2] > bytes[at] + 20 && bytes[at + 3] > 100; }
      columns += ink;
    }
    return columns / canvas.width;
  });
  assert.ok(inked > 0.5, `a curve over ${inked} of the width`);
  await page.keyboard.press("3");
  const lines = await page.locator("#scene li").count();
  assert.ok(lines > 40);
  await page.keyboard.press("/");
  await page.keyboard.type("radius");
  assert.match(await text(page, "#search-status"), /1 of [1-9]/);
  assert.match(await page.locator("#scene .current").innerText(), /radius/);
  await close(page);
});

test("light and dark, help, narrow window", async () => {
  const url = await serve("done");
  const mean = (picture) => picture.data.reduce((sum, value, i) => (i % 4 === 3 ? sum : sum + value), 0) / (0.75 * picture.data.length);
  const dark = await open(url, { scheme: "dark" });
  const darkness = mean(await pixels(dark));
  await dark.click("#theme");
  assert.equal(await dark.evaluate(() => document.documentElement.dataset.theme), "light");
  assert.ok(mean(await pixels(dark)) > darkness + 80, "the toggle changes nothing in the picture");
  await dark.reload();
  await dark.waitForSelector("body[data-ready=true]");
  assert.equal(await dark.evaluate(() => document.documentElement.dataset.theme), "light", "the choice is not kept");
  await close(dark);
  const light = await open(url, { scheme: "light" });
  await light.keyboard.press("End");
  await shown(light, 24);
  assert.equal(await light.evaluate(() => document.documentElement.dataset.theme), "light");
  assert.ok(mean(await pixels(light)) > darkness + 80);
  await light.screenshot({ path: join(shots, "light.png") });
  await light.keyboard.press("?");
  assert.ok(await light.locator("#shortcuts").isVisible());
  await light.screenshot({ path: join(shots, "help.png") });
  await light.keyboard.press("Escape");
  await close(light);
  for (const size of [{ width: 360, height: 700 }, { width: 390, height: 844 }, { width: 800, height: 600 }, WIDE, { width: 1920, height: 1080 }]) {
    const page = await open(url, { size });
    await page.keyboard.press("End");
    await shown(page, 24);
    // Nothing runs out of the window, nothing lies over the transport.
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= size.width, `${size.width}: the page is ${wide} wide`);
    for (const id of ["#play", "#scrub", "#view", "#frame", "#tab-plots", "#theme", "#help"]) {
      const box = await page.locator(id).boundingBox();
      assert.ok(box && box.x >= 0 && box.x + box.width <= size.width + 0.5 && box.y >= 0 && box.y + box.height <= size.height + 0.5, `${size.width}: ${id}`);
    }
    assert.ok(share(await pixels(page), bluish) > 0.01, `${size.width}: no water`);
    if (size.width === 390) await page.screenshot({ path: join(shots, "narrow.png") });
    await close(page);
  }
});

test("two dimensions", async () => {
  const page = await open(await serve("flat"));
  await page.keyboard.press("End");
  await shown(page, 6);
  assert.ok(share(await pixels(page), bluish) > 0.01);
  assert.equal(await page.locator("[data-view=top]").isVisible(), false);
  await page.screenshot({ path: join(shots, "flat.png") });
  await close(page);
});

test("follows a run in progress", async () => {
  // The folder is there from the first frame on; the page is open while the rest comes.
  const run = spawn(rheo, ["run", join(folder, "live.yaml"), "--out", join(folder, "live"), "--quiet", "--threads", "1"], { stdio: "ignore" });
  try {
    const first = join(folder, "live", "points", "points.0002.vdb");
    for (let i = 0; i < 600 && !exists(first); i++) await new Promise((done) => setTimeout(done, 100));
    const page = await open(await serve("live"));
    const before = Number(await data(page, "shown"));
    assert.match(await text(page, "#status"), /running/);
    await page.waitForFunction((n) => Number(document.body.dataset.shown) >= n + 3, before);
    await page.keyboard.press("2");
    await page.waitForSelector("[data-plot=volume]");
    await page.screenshot({ path: join(shots, "live.png") });
    // Whoever looks at an earlier frame is left there.
    await page.keyboard.press("Home");
    await shown(page, 1);
    await page.waitForTimeout(2500);
    assert.equal(await data(page, "shown"), "1");
    run.kill("SIGINT");
    await once(run, "exit");
    await page.waitForFunction(() => document.getElementById("status").dataset.state === "stopped");
    await close(page);
  } finally {
    if (run.exitCode === null) run.kill("SIGKILL");
  }
});

test("says so when the server is gone", async () => {
  const url = await start("done");
  const page = await open(url), server = servers.at(-1);
  server.kill("SIGINT");
  const [code] = await once(server, "exit");
  assert.equal(code, 0);
  await page.waitForSelector("#trouble:not([hidden])");
  assert.match(await text(page, "#trouble"), /does not answer/);
  await page.context().close();
});

function exists(path) { try { readFileSync(path); return true; } catch { return false; } }

let failed = 0;
for (const { name, body } of tests) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) continue;
  const start = Date.now();
  try {
    await body();
    console.log(`ok      ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await browser.close();
for (const server of servers) if (server.exitCode === null) server.kill("SIGINT");
process.exit(failed ? 1 : 0);
