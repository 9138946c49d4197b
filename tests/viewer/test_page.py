#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""The viewer's page in a real browser: prepares runs, starts the servers, and lets page.mjs drive Chromium through Playwright.

usage: test_page.py RHEO SOURCE_DIR [WORK_DIR]

Leaves its screenshots in WORK_DIR/viewer-shots. Exit status 77 (skipped) where node, Chromium or the package playwright-core is missing.
"""
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def find_playwright(source, work):
    """The folder of packages: that of the source tree, else one made here."""
    for folder in (source / "viewer" / "node_modules", work / "viewer-packages" / "node_modules"):
        if (folder / "playwright-core" / "package.json").exists():
            return folder
    if not shutil.which("npm"):
        skip("neither playwright-core nor npm is here")
    place = work / "viewer-packages"
    place.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(source / "viewer" / name, place / name)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=place, capture_output=True, timeout=600)
    if done.returncode:
        skip("the package playwright-core cannot be had")
    return place / "node_modules"


def write_wave(path, frame):
    """A wavy sheet over the tank as `rheo surface` writes meshes: normals, velocities, quads."""
    wide, deep = 60, 30
    corners, faces = [], []
    for j in range(deep):
        for i in range(wide):
            x, z = 2 * i / (wide - 1), j / (deep - 1)
            slope = 0.6 * math.cos(6 * x + 0.4 * frame)
            length = math.hypot(slope, 1)
            corners.append(struct.pack("<9f", x, 0.5 + 0.1 * math.sin(6 * x + 0.4 * frame), z, -slope / length, 1 / length, 0, 0, 0, 0))
    for j in range(deep - 1):
        for i in range(wide - 1):
            a = j * wide + i
            faces.append(struct.pack("<B4I", 4, a, a + wide, a + wide + 1, a + 1))
    names = "x y z nx ny nz vx vy vz".split()
    head = (f"ply\nformat binary_little_endian 1.0\nelement vertex {len(corners)}\n" + "".join(f"property float {name}\n" for name in names) +
            f"element face {len(faces)}\nproperty list uchar uint vertex_indices\nend_header\n")
    path.write_bytes(head.encode() + b"".join(corners) + b"".join(faces))


SCENE = """rheo: 1
title: Page under test
cell: CELL
frames: {last: LAST, fps: 24}
physics: {liquid: {}}
bodies: [{name: water, shape: {box: {min: [0, 0, 0], max: [0.6, 0.8, 1]}}}]
solids:
  - {name: tank, inside_out: true, wall: separate, shape: {box: {min: [0, 0, 0], max: [2, 1.2, 1]}}}
  - name: post
    shape: {cylinder: {from: [1.3, -0.1, 0.5], to: [1.3, 0.9, 0.5], radius: 0.12}}
    motion: {keys: [{time: 0}, {time: 1, translate: [0.4, 0, 0]}]}
"""


def main():
    rheo, source = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    work = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else ".").resolve()
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    node = shutil.which("node")
    if not browser or not node:
        skip("node or Chromium is not here")
    if "built without its viewer" in subprocess.run([rheo, "view", "/"], capture_output=True, text=True).stderr:
        skip("the program was built without its viewer")
    packages = find_playwright(source, work)
    shots = work / "viewer-shots"
    shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="page-", dir=work) as folder:
        folder = pathlib.Path(folder)
        # Software draws the particles: fewer of them where nothing is to be waited for.
        for name, last, cell in (("done", 24, 0.07), ("live", 400, 0.05)):
            (folder / f"{name}.yaml").write_text(SCENE.replace("LAST", str(last)).replace("CELL", str(cell)))
        subprocess.run([rheo, "run", folder / "done.yaml", "--out", folder / "done", "--quiet"], check=True, timeout=600)
        shutil.copytree(folder / "done", folder / "surfaced")
        (folder / "surfaced" / "surface").mkdir()
        for frame in range(1, 13):
            write_wave(folder / "surfaced" / "surface" / f"surface.{frame:04d}.ply", frame)
        os.utime(folder / "surfaced" / "log.jsonl", (0, 0))
        subprocess.run([rheo, "run", source / "scenes" / "dam_break_2d.yaml", "--out", folder / "flat", "--frames", "1-6", "--quiet"], check=True, timeout=600)
        os.utime(folder / "flat" / "log.jsonl", (0, 0))
        done = subprocess.run([node, source / "tests" / "viewer" / "page.mjs", rheo, folder, packages, browser, shots], timeout=840)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
