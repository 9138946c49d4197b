# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Shows a run in Blender: its surfaces (rheo surface RUN --mesh, or surface.while_running and surface.mesh in the scene) or, without them, its particles
(output.ply in the scene) as an object that changes with the frame. Velocities come along as the attribute "velocity" (for motion blur), colours as "Cd".

    blender --python tools/blender_import.py -- RUN

or open it in Blender's text editor, set RUN below and run it. Blender has z up and the files mostly have y up: vertices are turned on the way, unless the
file says that z is up. Nothing of Blender is needed to import this file: `read` works in any Python.
"""
import os
import re
import struct
import sys

RUN = ""

TYPES = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f", "double": "d", "int8": "b", "uint8": "B", "int16": "h",
         "uint16": "H", "int32": "i", "uint32": "I", "float32": "f", "float64": "d"}


def read_header(file):
    """Elements as (name, count, [(property, type letter or None for a list)]), and whether z is up."""
    if file.readline().strip() != b"ply":
        raise ValueError("not a PLY file")
    elements, z_up = [], False
    for line in iter(file.readline, b""):
        words = line.decode("ascii", "replace").split()
        if words[:1] == ["end_header"]:
            return elements, z_up
        if words[:1] == ["format"] and words[1] != "binary_little_endian":
            raise ValueError("expected binary_little_endian, found " + words[1])
        if words[:2] == ["comment", "rheo_up"]:
            z_up = words[2] == "z"
        if words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        if words[:1] == ["property"]:
            elements[-1][2].append((words[-1], None if words[1] == "list" else TYPES[words[1]]))
    raise ValueError("the header has no end")


def read(path):
    """Columns of the vertices by name, faces as lists of corners, and whether z is up."""
    with open(path, "rb") as file:
        elements, z_up = read_header(file)
        columns, faces = {}, []
        for name, count, properties in elements:
            if name == "vertex":
                record = struct.Struct("<" + "".join(letter for _, letter in properties))
                rows = list(zip(*record.iter_unpack(file.read(record.size * count)))) if count else [()] * len(properties)
                columns = {p: rows[i] for i, (p, _) in enumerate(properties)}
            elif name == "face":
                data, at = file.read(), 0
                for _ in range(count):  # a byte, and so many corners
                    corners = data[at]
                    faces.append(struct.unpack_from(f"<{corners}I", data, at + 1))
                    at += 1 + 4 * corners
    return columns, faces, z_up


def vectors(columns, names, z_up=True):
    """Three columns as a list of vectors, turned to z up."""
    if any(name not in columns for name in names):
        return None
    x, y, z = (columns[name] for name in names)
    return list(zip(x, y, z)) if z_up else [(a, -c, b) for a, b, c in zip(x, y, z)]


def colours(columns):
    if "red" in columns:
        return [(r / 255, g / 255, b / 255, 1) for r, g, b in zip(columns["red"], columns["green"], columns["blue"])]
    found = vectors(columns, ("Cd_x", "Cd_y", "Cd_z"))
    return found and [(*c, 1) for c in found]


def find_frames(run):
    """Which kind, and the file of each frame."""
    for folder, stem in (("surface", "surface"), ("points", "points")):
        path = os.path.join(run, folder)
        names = sorted(os.listdir(path)) if os.path.isdir(path) else []
        found = {int(m.group(1)): os.path.join(path, n) for n in names if (m := re.fullmatch(stem + r"\.(\d{4,})\.ply", n))}
        if found:
            return stem, found
    raise SystemExit(f"{run}: found neither surface/surface.####.ply (rheo surface {run} --mesh) nor points/points.####.ply (output.ply: true in the scene)")


def make_mesh(bpy, name, path):
    columns, faces, z_up = read(path)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vectors(columns, ("x", "y", "z"), z_up), [], faces)
    velocity = vectors(columns, ("vx", "vy", "vz"), z_up) or vectors(columns, ("v_x", "v_y", "v_z"), z_up)
    if velocity:
        attribute = mesh.attributes.new("velocity", "FLOAT_VECTOR", "POINT")
        attribute.data.foreach_set("vector", [value for one in velocity for value in one])
    found = colours(columns)
    if found:
        attribute = mesh.attributes.new("Cd", "FLOAT_COLOR", "POINT")
        attribute.data.foreach_set("color", [value for one in found for value in one])
    if faces:
        mesh.shade_smooth() if hasattr(mesh, "shade_smooth") else mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.update()
    return mesh


def show(run):
    import bpy
    kind, files = find_frames(run)
    name = os.path.basename(os.path.abspath(run)) + " " + kind
    thing = bpy.data.objects.new(name, make_mesh(bpy, name, files[min(files)]))
    bpy.context.scene.collection.objects.link(thing)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = min(files), max(files)

    def follow(scene, *_):
        path = files.get(scene.frame_current)
        if path and thing.name in bpy.data.objects:
            old, thing.data = thing.data, make_mesh(bpy, name, path)
            bpy.data.meshes.remove(old)

    bpy.app.handlers.frame_change_pre.append(follow)
    return thing


if __name__ == "__main__":
    arguments = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
    if not arguments and not RUN:
        raise SystemExit(__doc__)
    show(arguments[0] if arguments else RUN)
