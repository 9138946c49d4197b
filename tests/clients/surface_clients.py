#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Other programs open our surfaces. `surface_clients.py PROGRAM --make HELPER`, where PROGRAM is

  vdb       vdb_print: names, types, class; vdb_tool -ls2mesh: the vertices and polygons of our own mesh; vdb_ax: values of the velocity
  blender   Volume to Mesh: the same again; our PLY and OBJ as meshes (3.4 drops other properties than normals and colours)
  paraview  our PLY and OBJ with normals (its PLY reader, 5.11, drops velocities), and our VTP with everything: velocities are those the helper gave

Blender and ParaView run the same file again with their own Python."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import check, run, tool

EXTENT = {"y": ((-1.0, 1.0), (-0.5, 0.5), (-1.0, 1.0)), "z": ((-1.0, 1.0), (-1.0, 1.0), (-0.5, 0.5))}  # of the ring, at least so far


def ply_header(path):
    counts, names = {}, []
    with open(path, "rb") as file:
        for line in file:
            words = line.split()
            if words[0] == b"element":
                counts[words[1].decode()] = int(words[2])
            if words[0] == b"property":
                names.append(words[-1].decode())
            if words[0] == b"end_header":
                return counts, names
    check(False, f"{path}: the header does not end")


def check_box(name, low, high, up):
    """The shape lies flat, whichever axis is up."""
    for axis, (least, most) in enumerate(EXTENT[up]):
        check(low[axis] < least + 0.15 and high[axis] > most - 0.15, f"{name}: axis {axis} from {low[axis]} to {high[axis]}, expected {least} to {most}")
        check(low[axis] > least - 0.15 and high[axis] < most + 0.15, f"{name}: axis {axis} from {low[axis]} to {high[axis]}, expected {least} to {most}")


# --- OpenVDB's programs ---------------------------------------------------------------------------------------------

def ask_vdb(folder, vertices, quads, active):
    for name, up in (("surface.0001", "y"), ("z_up.0001", "z")):
        path = os.path.join(folder, name + ".vdb")
        text = run(tool("vdb_print"), "-l", path)
        for words in ("Name: surface", "level set", "Name: vel", "contravariant", "Name: heat", "Name: side", "Name: tag", f"{active:,}"):
            check(words in text or words.replace(",", "") in text, f"{path}: vdb_print does not say '{words}'\n{text}")
        metadata = run(tool("vdb_print"), "-m", path)
        check(re.search(r"rheo_up: " + up, metadata), f"{path}: vdb_print does not say that {up} is up\n{metadata}")
        out = os.path.join(folder, "out.ply")
        run(tool("vdb_tool"), "-read", "grids=surface", path, "-ls2mesh", "-write", out)
        counts, _ = ply_header(out)
        check((counts["vertex"], counts["face"]) == (vertices, quads), f"{path}: vdb_tool makes {counts}, expected {vertices} vertices and {quads} faces")
    # vdb_ax refuses a grid of another type than asked for.
    path = os.path.join(folder, "surface.0001.vdb")
    ax = [tool("vdb_ax"), "-i", path, "--create-missing", "OFF", "-s"]
    run(*ax, "vec3f@vel = vec3f@vel; float@heat = float@heat; int@side = int@side; int64@tag = int64@tag;")
    text = run(tool("vdb_print"), os.path.join(folder, "empty.vdb"))
    check("surface" in text, f"empty.vdb: no surface\n{text}")
    print("vdb_print, vdb_tool and vdb_ax agree")


# --- Blender --------------------------------------------------------------------------------------------------------

def inside_blender(folder, vertices, quads):
    import bpy

    def mesh_of_volume(path):
        bpy.ops.object.volume_import(filepath=path, align="WORLD")
        volume = bpy.context.object
        check(volume.data.grids.load(), f"{path}: {volume.data.grids.error_message}")
        found = sorted(grid.name for grid in volume.data.grids)
        check(found == ["heat", "side", "surface", "tag", "vel"], f"{path}: grids {found}")
        data = bpy.data.meshes.new("shape")
        shape = bpy.data.objects.new("shape", data)
        bpy.context.scene.collection.objects.link(shape)
        modifier = shape.modifiers.new("mesh", "VOLUME_TO_MESH")
        modifier.object, modifier.grid_name, modifier.threshold, modifier.adaptivity = volume, "surface", 0.0, 0.0
        modifier.resolution_mode = "GRID"
        return shape.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()

    def box(mesh, place=lambda p: p):
        points = [place(v.co) for v in mesh.vertices]
        return [min(p[a] for p in points) for a in range(3)], [max(p[a] for p in points) for a in range(3)]

    for name, up in (("surface.0001", "y"), ("z_up.0001", "z")):
        mesh = mesh_of_volume(os.path.join(folder, name + ".vdb"))
        found = len(mesh.vertices), len(mesh.polygons)
        check(found == (vertices, quads), f"{name}.vdb: Blender makes {found}, expected {(vertices, quads)}")
        check_box(name + ".vdb", *box(mesh), up)
        bpy.ops.import_mesh.ply(filepath=os.path.join(folder, name + ".ply"))
        mesh = bpy.context.object.data
        found = len(mesh.vertices), len(mesh.polygons)
        check(found == (vertices, quads), f"{name}.ply: Blender finds {found}, expected {(vertices, quads)}")
        check_box(name + ".ply", *box(mesh), up)
        check(not mesh.validate(), f"{name}.ply: Blender had to repair the mesh")
        volume = sum(mesh.vertices[p.vertices[0]].co.dot(p.normal) * p.area / 3 for p in mesh.polygons)
        check(0.6 < volume < 0.9, f"{name}.ply: encloses {volume} m^3 in Blender, expected about 0.75: faces turn outward")
    bpy.ops.wm.obj_import(filepath=os.path.join(folder, "surface.0001.obj"), forward_axis="Y", up_axis="Z")
    mesh = bpy.context.object.data
    found = len(mesh.vertices), len(mesh.polygons)
    check(found == (vertices, quads), f"surface.0001.obj: Blender finds {found}, expected {(vertices, quads)}")
    check_box("surface.0001.obj", *box(mesh), "y")
    print("BLENDER AGREES")


# --- ParaView -------------------------------------------------------------------------------------------------------

def inside_paraview(folder, vertices, quads):
    from paraview import servermanager, simple

    for name, reader in (("surface.0001.ply", simple.PLYReader), ("surface.0001.obj", simple.WavefrontOBJReader)):
        path = os.path.join(folder, name)
        source = reader(FileNames=[path]) if reader is simple.PLYReader else reader(FileName=path)
        data = servermanager.Fetch(source)
        found = data.GetNumberOfPoints(), data.GetNumberOfCells()
        check(found == (vertices, quads), f"{name}: ParaView finds {found}, expected {(vertices, quads)}")
        bounds = data.GetBounds()
        check_box(name, bounds[0::2], bounds[1::2], "y")
        arrays = [data.GetPointData().GetArrayName(i) for i in range(data.GetPointData().GetNumberOfArrays())]
        check("Normals" in arrays, f"{name}: no normals among {arrays}")
    data = servermanager.Fetch(simple.XMLPolyDataReader(FileName=[os.path.join(folder, "surface.0001.vtp")]))
    found = data.GetNumberOfPoints(), data.GetNumberOfCells()
    check(found == (vertices, quads), f"surface.0001.vtp: ParaView finds {found}, expected {(vertices, quads)}")
    check_box("surface.0001.vtp", data.GetBounds()[0::2], data.GetBounds()[1::2], "y")
    arrays = {data.GetPointData().GetArrayName(i): data.GetPointData().GetArray(i) for i in range(data.GetPointData().GetNumberOfArrays())}
    check(sorted(arrays) == ["Normals", "heat", "side", "tag", "v"], f"surface.0001.vtp: arrays {sorted(arrays)}")
    check(arrays["v"].GetNumberOfComponents() == 3, "surface.0001.vtp: v is no vector")
    for i in range(0, vertices, 97):
        (x, y, z), v = data.GetPoint(i), arrays["v"].GetTuple(i)
        given = (1 + x, 2 * y - z, 3 * z)  # by tests/bands.h
        check(max(abs(a - b) for a, b in zip(v, given)) < 0.06, f"surface.0001.vtp: velocity {v} at {(x, y, z)}, expected {given}")
    print("PARAVIEW AGREES")


# --------------------------------------------------------------------------------------------------------------------

def again(program, *words):
    """Runs this file inside another program."""
    text = run(program, *words)
    check(" AGREES" in text, text)
    print(next(line for line in text.splitlines() if " AGREES" in line))


def main():
    client, helper = sys.argv[1], sys.argv[3]
    needed = {"vdb": ("vdb_print", "vdb_tool", "vdb_ax"), "blender": ("blender",), "paraview": ("pvpython",)}[client]
    tools = [tool(name) for name in needed]
    folder = os.path.join(os.getcwd(), f"clients-surface-{client}-{os.getpid()}")
    os.mkdir(folder)
    try:
        numbers = run(helper, folder).split()
        surface = os.path.join(folder, "surface")
        here = os.path.abspath(__file__)
        if client == "vdb":
            ask_vdb(surface, *map(int, numbers[:3]))
        elif client == "blender":
            again(tools[0], "-b", "--factory-startup", "--python-exit-code", "1", "-P", here, "--", "blender", surface, *numbers)
        else:
            again(tools[0], here, "--", "paraview", surface, *numbers)
    finally:
        shutil.rmtree(folder)


if "--" in sys.argv:
    program, surface, *numbers = sys.argv[sys.argv.index("--") + 1:]
    if program == "blender":
        inside_blender(surface, int(numbers[0]), int(numbers[1]))
    else:
        inside_paraview(surface, int(numbers[0]), int(numbers[1]))
else:
    main()
