#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Blender shows our frames one after the other as a volume sequence and opens our PLY as points. Run by Python it starts Blender, which runs the
same file again with its own Python."""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import check, frames, run, run_folder, tool


def inside(folder):
    import bpy

    names = frames(folder)
    points = os.path.dirname(os.path.abspath(names[0]))
    # Blender's import button refuses a file that holds points only ("only voxel grids are supported"), so the volume is
    # set up as that button would: a sequence from the first file's number on.
    first = int(os.path.basename(names[0]).split(".")[1])
    volume = bpy.data.volumes.new("frames")
    volume.filepath = os.path.abspath(names[0])
    volume.is_sequence, volume.frame_start, volume.frame_duration = True, first, len(names)
    volume.frame_offset = first - 1
    volume.sequence_mode = "CLIP"
    thing = bpy.data.objects.new("frames", volume)
    bpy.context.scene.collection.objects.link(thing)

    def shown(number):
        bpy.context.scene.frame_set(number)
        return thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data

    for number in range(first, first + len(names)):
        now = shown(number)
        check(now.grids.load(), f"frame {number}: {now.grids.error_message}")
        check(now.grids.frame_filepath.endswith(os.path.basename(names[number - first])),
              f"frame {number} shows {now.grids.frame_filepath}")
        grids = [(grid.name, grid.data_type) for grid in now.grids]
        check(grids == [("points", "POINTS")], f"frame {number}: grids are {grids}, expected points")
    check(len(shown(first + len(names)).grids) == 0, "there is a frame after the last")
    for ply in sorted(n for n in os.listdir(points) if n.endswith(".ply")):
        with open(os.path.join(points, ply), "rb") as file:
            expected = next(int(line.split()[2]) for line in file if line.startswith(b"element vertex"))
        bpy.ops.import_mesh.ply(filepath=os.path.join(points, ply))
        found = len(bpy.context.object.data.vertices)
        check(found == expected, f"{ply}: {found} vertices, expected {expected}")
    print("BLENDER AGREES")


def main():
    blender = tool("blender")
    folder, temporary = run_folder(sys.argv)
    try:
        text = run(blender, "-b", "--factory-startup", "--python-exit-code", "1", "-P", os.path.abspath(__file__), "--", folder)
        check("BLENDER AGREES" in text, text)
    finally:
        if temporary:
            shutil.rmtree(folder)
    print("Blender agrees")


if "--" in sys.argv:
    inside(sys.argv[sys.argv.index("--") + 1])
else:
    main()
