#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""tools/blender_solids.py inside Blender, on a small run: every dynamic solid has keys at every frame, which put points of its shape where
solids.csv says, upright. `blender_solids_client.py RHEO SOURCE`; Blender runs the same file again with its own Python."""
import csv
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import check, run, tool

# One that falls and turns, one without a name that is thrown.
SCENE = """rheo: 1
cell: 0.1
frames: {first: 3, last: 9, fps: 30}
physics: {liquid: {}}
bodies: [{shape: {box: {min: [0, 0, 0], max: [1, 0.2, 1]}}}]
solids:
  - {inside_out: true, shape: {box: {min: [0, 0, 0], max: [1, 2, 1]}}}
  - {name: crate, shape: {box: {min: [0.3, 0.5, 0.3], max: [0.6, 0.7, 0.5]}}, dynamic: {density: 500, angular_velocity: [1, 2, 3]}}
  - {shape: {sphere: {center: [0.7, 1, 0.7], radius: 0.1}}, dynamic: {density: 2000, velocity: [-1, 1, 0]}}
"""


def inside(folder):
    import bpy
    import mathutils

    things = {1: bpy.data.objects["crate"], 2: bpy.data.objects["solid2"]}
    seen = 0
    with open(os.path.join(folder, "solids.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            bpy.context.scene.frame_set(int(row["frame"]))
            turn = mathutils.Quaternion([float(row[name]) for name in ("qw", "qx", "qy", "qz")])
            origin = mathutils.Vector([float(row[f"origin_{axis} [m]"]) for axis in "xyz"])
            for point in ((0.3, 0.5, 0.3), (0.7, 1.1, 0.7)):
                place = origin + turn @ mathutils.Vector(point)
                expected = mathutils.Vector((place.x, -place.z, place.y))
                found = things[int(row["solid"])].matrix_world @ mathutils.Vector(point)
                check((found - expected).length < 1e-5, f"solid {row['solid']}, frame {row['frame']}: {found}, expected {expected}")
            seen += 1
    check(seen == 14, f"{seen} poses, expected 14")
    check(bpy.context.scene.render.fps == 30, f"{bpy.context.scene.render.fps} frames a second")
    print("BLENDER AGREES")


def main():
    blender, rheo, source = tool("blender"), os.path.abspath(sys.argv[1]), sys.argv[2]
    folder = tempfile.mkdtemp(prefix="clients-", dir=os.getcwd())
    try:
        scene, result, saved = (os.path.join(folder, name) for name in ("scene_in.yaml", "run", "solids.blend"))
        with open(scene, "w") as file:
            file.write(SCENE)
        run(rheo, "run", scene, "--out", result, "--quiet")
        start = (blender, "-b", "--factory-startup", "--python-exit-code", "1")
        text = run(*start, "-P", os.path.join(source, "tools", "blender_solids.py"), "--", os.path.join(result, "solids.json"), "--save", saved)
        check("2 solids keyed" in text, text)
        text = run(blender, "-b", saved, "--python-exit-code", "1", "-P", os.path.abspath(__file__), "--", result)
        check("BLENDER AGREES" in text, text)
    finally:
        shutil.rmtree(folder)
    print("Blender agrees")


if __name__ == "__main__":
    if "--" in sys.argv:
        inside(*sys.argv[sys.argv.index("--") + 1:])
    else:
        main()
