// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// src/ and the packages -> a folder with the five files the server knows, and the hash of the sources they were made from.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
const PACKAGES = ["three", "d3-scale-chromatic", "d3-interpolate", "d3-color"];  // what ends up in viewer.js

// The page's scripts and style. Template strings become plain ones: shaders then stand on one line each.
await build({
  absWorkingDir: here,
  entryPoints: { viewer: "src/main.js", decode: "src/decode.js" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  supported: { "template-literal": false },
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
});
await build({
  absWorkingDir: here, entryPoints: { viewer: "src/style.css" }, outdir: out, minify: true, target: ["chrome110", "firefox115", "safari16"],
  logLevel: "warning",
});

mkdirSync(out, { recursive: true });
writeFileSync(join(out, "index.html"), readFileSync(join(here, "src/index.html")));

const licences = PACKAGES.map((name) => {
  const folder = join(here, "node_modules", name);
  const facts = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `${name} ${facts.version} (${facts.license})\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
});
writeFileSync(join(out, "licenses.txt"), "The viewer's page contains these packages.\n\n" + licences.join("\n" + "-".repeat(80) + "\n\n"));

// tests/viewer/test_bundle.py computes the same to find a page that is older than its sources.
const hash = createHash("sha256");
const sources = [...readdirSync(join(here, "src")).map((name) => `src/${name}`), "bundle.mjs", "package-lock.json"].sort();
for (const name of sources) hash.update(name + "\n").update(readFileSync(join(here, name)));
writeFileSync(join(out, "sources.sha256"), hash.digest("hex") + "\n");
