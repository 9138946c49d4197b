# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Gives Blender objects the motion of a run's dynamic solids, as keys.

usage: blender [FILE.blend] --background --python tools/blender_solids.py -- RUN/solids.json [--save OUT.blend]

For each solid of the JSON file the object of the same name (or "solid<number>" where it has none) is keyed frame by
frame; one that is not there is made as an empty. The object's mesh must be in the solid's own space: as the scene gives
the shape, before motion. Rheo has y up and Blender z: a turn of 90 degrees about x is put before every pose.
"""
import json
import math
import sys


def arguments():
    rest = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
    if not rest or (len(rest) > 1 and (len(rest) != 3 or rest[1] != "--save")):
        sys.exit(__doc__)
    return rest[0], rest[2] if len(rest) == 3 else None


def key_solid(bpy, mathutils, solid):
    name = solid["name"] or "solid%d" % solid["solid"]
    thing = bpy.data.objects.get(name)
    if thing is None:
        thing = bpy.data.objects.new(name, None)
        bpy.context.scene.collection.objects.link(thing)
    upright = mathutils.Matrix.Rotation(math.radians(90), 4, "X")
    thing.rotation_mode = "QUATERNION"
    for frame, x, y, z, qw, qx, qy, qz in solid["poses"]:
        turn = mathutils.Quaternion((qw, qx, qy, qz)).to_matrix().to_4x4()
        pose = upright @ mathutils.Matrix.Translation((x, y, z)) @ turn
        thing.location = pose.to_translation()
        thing.rotation_quaternion = pose.to_quaternion()
        thing.keyframe_insert("location", frame=frame)
        thing.keyframe_insert("rotation_quaternion", frame=frame)


def main():
    path, save = arguments()
    import bpy
    import mathutils
    with open(path, encoding="utf-8") as file:
        run = json.load(file)
    for solid in run["solids"]:
        key_solid(bpy, mathutils, solid)
    bpy.context.scene.render.fps = max(1, round(run["fps"]))
    print("blender_solids: %d solids keyed" % len(run["solids"]))
    if save:
        bpy.ops.wm.save_as_mainfile(filepath=save)


main()
