#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""tools/blender_import.py inside Blender, on a small run: meshes, particles and volumes follow the time line, stand upright, and keep their materials;
velocities and colours are there. `blender_import_client.py RHEO SOURCE`; Blender runs the same file again with its own Python."""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import check, run, tool

# A column of water on the floor of a tank, wider than deep: upright it is 0.5 m high and 0.2 m deep at first.
SCENE = """rheo: 1
cell: 0.05
frames: {first: 3, last: 5}
physics: {liquid: {}}
bodies: [{shape: {box: {min: [0, 0, 0], max: [0.3, 0.5, 0.2]}}}]
solids: [{inside_out: true, shape: {box: {min: [0, 0, 0], max: [0.8, 0.8, 0.2]}}}]
output: {ply: true}
"""
COLOURS = "expressions: [{at: start, code: 'v@Cd = {1.0f, 0.5f, 0.0f};'}]\n"


def extent(corners, axis):
    values = [corner[axis] for corner in corners]
    return min(values), max(values)


def check_upright(name, corners):
    for axis, (least, most) in enumerate(((0, 0.3), (-0.2, 0), (0, 0.5))):
        low, high = extent(corners, axis)
        check(abs(low - least) < 0.06 and abs(high - most) < 0.06, f"{name}: axis {axis} from {low} to {high}, expected {least} to {most}")


def watch(bpy, importer, folder, kind, coloured):
    thing = importer.show(folder, kind)
    thing.data.materials.append(bpy.data.materials.new("water"))

    def shown(frame):
        bpy.context.scene.frame_set(frame)
        return thing.evaluated_get(bpy.context.evaluated_depsgraph_get())

    check((bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (3, 5), f"{kind}: the time line does not have the run's frames")
    sizes = []
    for frame in (3, 4, 5, 3):
        now = shown(frame)
        mesh = now.data
        # A mesh beside its file: the same vertices. Of a volume Blender makes its own.
        if kind != "volume":
            path = importer.find_frames(folder, kind)[1][frame]
            columns, faces, _ = importer.read(path)
            check(len(mesh.vertices) == len(columns["x"]) and len(mesh.polygons) == len(faces), f"{kind}, frame {frame}: {len(mesh.vertices)} vertices")
            velocity = [value.vector[2] for value in mesh.attributes["velocity"].data]
            up = columns.get("vy") or columns["v_y"]
            check(max(abs(a - b) for a, b in zip(velocity, up)) < 1e-6, f"{kind}, frame {frame}: velocities differ from those of {path}")
            check(("Cd" in mesh.attributes) == coloured, f"{kind}, frame {frame}: attributes {mesh.attributes.keys()}")
        check(len(mesh.vertices) > 100, f"{kind}, frame {frame}: {len(mesh.vertices)} vertices")
        check(thing.data.materials[:1] and thing.data.materials[0].name.startswith("water"), f"{kind}, frame {frame}: the material is gone")
        sizes.append(sum(vertex.co[0] for vertex in mesh.vertices) / len(mesh.vertices))
        if frame == 3:
            check_upright(kind, [now.matrix_world @ vertex.co for vertex in mesh.vertices])
    check(sizes[0] == sizes[3] and sizes[0] < sizes[1] < sizes[2], f"{kind}: the water's middle is at x = {sizes} at frames 3, 4, 5, 3")
    print(f"{kind} agree")


def inside(folder, source):
    import bpy
    sys.path.insert(0, os.path.join(source, "tools"))
    import blender_import

    coloured = os.path.exists(os.path.join(folder, "coloured"))
    watch(bpy, blender_import, folder, "surface", False)
    watch(bpy, blender_import, folder, "points", coloured)
    watch(bpy, blender_import, folder, "volume", False)
    turned = blender_import.show(os.path.join(folder, "turned"), "volume")
    bpy.context.scene.frame_set(3)
    now = turned.evaluated_get(bpy.context.evaluated_depsgraph_get())
    check_upright("volume with z up", [now.matrix_world @ vertex.co for vertex in now.data.vertices])
    print("BLENDER AGREES")


def make(rheo, folder):
    scene = os.path.join(folder, "scene_in.yaml")
    for text in (SCENE + COLOURS, SCENE):
        with open(scene, "w") as file:
            file.write(text)
        result = os.path.join(folder, "run")
        done = os.spawnv(os.P_WAIT, rheo, [rheo, "run", scene, "--out", result, "--force", "--quiet"])
        if done == 0:  # a build without expressions refuses the first
            break
    check(done == 0, f"rheo run ended with {done}")
    if text != SCENE:
        open(os.path.join(result, "coloured"), "w").close()
    run(rheo, "surface", result, "--mesh", "--quiet")
    run(rheo, "surface", result, "--up", "z", "--out", os.path.join(result, "turned", "surface"), "--quiet")
    return result


def main():
    blender, rheo, source = tool("blender"), os.path.abspath(sys.argv[1]), sys.argv[2]
    folder = tempfile.mkdtemp(prefix="scratch-clients-", dir=os.getcwd())
    try:
        result = make(rheo, folder)
        text = run(blender, "-b", "--factory-startup", "--python-exit-code", "1", "-P", os.path.abspath(__file__), "--", result, source)
        check("BLENDER AGREES" in text, text)
    finally:
        shutil.rmtree(folder)
    print("Blender agrees")


if __name__ == "__main__":
    if "--" in sys.argv:
        inside(*sys.argv[sys.argv.index("--") + 1:])
    else:
        main()
