# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Shows a run in Blender as an object that changes with the frame.

    blender --python tools/blender_import.py -- RUN [surface | points | volume]

surface   meshes (rheo surface RUN --mesh, or surface.while_running and surface.mesh in the scene)
points    particles as vertices, for geometry nodes (output.ply in the scene)
volume    level sets (rheo surface RUN) as a volume, and a mesh that Blender makes of it, which wants no files of meshes

Without the last word: the first of these that is there. Velocities of meshes and points come along as the attribute "velocity" (for motion blur),
colours as "Cd". Materials and modifiers stay with the object from frame to frame. Meshes and points are read anew at every change of the frame: a
.blend file that is opened again needs the script again. Volumes stay without it.

It can also be opened in Blender's text editor: set RUN below and run it. Blender has z up and the files mostly have y up: things are turned, unless the
file says that z is up. Nothing of Blender is needed to import this file: `read` works in any Python.
"""
import math
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


KINDS = {"surface": ("surface", "ply"), "points": ("points", "ply"), "volume": ("surface", "vdb")}
MISSING = "rheo surface {run} --mesh makes surfaces, output.ply: true in the scene makes points, rheo surface {run} makes volumes"


def find_frames(run, wanted=None):
    """Which kind, and the file of each frame."""
    if wanted and wanted not in KINDS:
        raise SystemExit(f"unknown kind '{wanted}': expected {', '.join(KINDS)}")
    for kind in [wanted] if wanted else KINDS:
        stem, ending = KINDS[kind]
        path = os.path.join(run, stem)
        names = sorted(os.listdir(path)) if os.path.isdir(path) else []
        found = {int(m.group(1)): os.path.join(path, n) for n in names if (m := re.fullmatch(rf"{stem}\.(\d{{4,}})\.{ending}", n))}
        if found:
            return kind, found
    raise SystemExit(f"{run}: found no frames of {wanted or 'any kind'}: " + MISSING.format(run=run))


def fill_mesh(mesh, path):
    """Replaces what is in the mesh; its materials stay."""
    columns, faces, z_up = read(path)
    mesh.clear_geometry()
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
        mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.update()


def put_object(bpy, name, data):
    thing = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def show_meshes(bpy, name, files):
    thing = put_object(bpy, name, bpy.data.meshes.new(name))
    fill_mesh(thing.data, files[min(files)])
    known = thing.name

    def follow(scene, *_):
        path, now = files.get(scene.frame_current), bpy.data.objects.get(known)
        if path and now:
            fill_mesh(now.data, path)

    bpy.app.handlers.frame_change_pre.append(follow)
    return thing


def is_z_up(volume):
    """Of a level set only the transform is turned: a cell's second axis then points up, not back."""
    return volume.grids.load() and len(volume.grids) > 0 and abs(volume.grids[0].matrix_object[2][1]) > abs(volume.grids[0].matrix_object[1][1])


def show_volume(bpy, name, files):
    """A volume object that follows the frames, and a mesh made of it by a modifier, which is what is looked at."""
    first = min(files)
    volume = bpy.data.volumes.new(name)
    volume.filepath = os.path.abspath(files[first])
    z_up = is_z_up(volume)
    volume.is_sequence, volume.sequence_mode = True, "CLIP"
    volume.frame_start, volume.frame_duration, volume.frame_offset = first, max(files) - first + 1, first - 1
    source = put_object(bpy, name, volume)
    source.hide_render = True
    source.display_type = "BOUNDS"
    thing = put_object(bpy, name + " mesh", bpy.data.meshes.new(name))
    modifier = thing.modifiers.new("surface", "VOLUME_TO_MESH")
    modifier.object, modifier.grid_name, modifier.threshold = source, "surface", 0
    thing.parent = source
    if not z_up:
        source.rotation_euler[0] = math.pi / 2
    return thing


def show(run, wanted=None):
    import bpy
    kind, files = find_frames(run, wanted)
    name = os.path.basename(os.path.abspath(run)) + " " + kind
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = min(files), max(files)
    return (show_volume if kind == "volume" else show_meshes)(bpy, name, files)


if __name__ == "__main__":
    arguments = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
    if not arguments and not RUN:
        raise SystemExit(__doc__)
    show(*arguments[:2]) if arguments else show(RUN)
