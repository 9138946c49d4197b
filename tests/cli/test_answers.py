#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Right answers: check finds what run would find, messages name what is wrong, numbers may have units, colours are colours.

usage: test_answers.py RHEO SOURCE_DIR [unittest options]
"""
import pathlib
import re
import struct
import sys
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import harness  # noqa: E402
from harness import Case, scene  # noqa: E402

TANK = "solids: [{name: tank, inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 1, 1]}}}]\n"
HEAD = "rheo: 1\ndimension: 2\ncell: 0.05\nframes: {last: 4}\nphysics: {liquid: {}}\n"
BODY = "bodies: [{name: pool, shape: {box: {min: [0, 0, -1], max: [0.5, 0.5, 1]}}}]\n"


class Check(Case):
    def write(self, text):
        (self.folder / "s.yaml").write_text(HEAD + text)
        return "s.yaml"

    def both(self, text, words):
        """Refused by check and by run, in the same words, with a line."""
        for command in (["check"], ["run", "--out", "none"]):
            self.assertRegex(self.rheo(*command, self.write(text), code=2)[1], words)

    def warned(self, text, words):
        self.assertRegex(self.rheo("check", "--quiet", self.write(text))[1], words)

    def test_what_run_refuses(self):
        self.both("bodies:\n - name: speck\n   shape: {box: {min: [0.3, 0.3, -1], max: [0.304, 0.304, 1]}}\n" + TANK, r"s\.yaml:7:4: body 0 \('speck'\): no particle fits")
        self.both("bodies:\n - shape: {box: {min: [2, 2, -1], max: [3, 3, 1]}}\n" + TANK, r"s\.yaml:7:4: body 0: no particle fits")
        self.both("bodies:\n - shape: {sphere: {center: [3e10, 0, 0], radius: 1}}\n", r"s\.yaml:7:4: body 0 lies more than 1e9 m away")
        self.both("bodies:\n - shape: {sphere: {center: [3e8, 0, 0], radius: 1}}\n", r"s\.yaml:7:4: body 0 reaches 3e\+08 m away from the origin: with cells of \S+ m at most")
        self.both("bodies:\n - shape: {plane: {normal: [0, 1, 0]}}\n", r"s\.yaml:7:4: body 0 has no end")
        self.both("emitters:\n - {name: jet, shape: {plane: {normal: [0, 1, 0]}}}\n", r"s\.yaml:7:4: emitter 0 \('jet'\) has a shape without end")

    def test_another_kind_of_path(self):
        """A folder for a scene, a scene for a run, nothing at all: wrong use, told as such."""
        self.write(BODY + TANK)
        for words, told in ((["run", "."], r"^rheo: error: \.: found a folder, expected a scene"), (["check", "."], "found a folder, expected a scene"),
                            (["render", "s.yaml"], r"s\.yaml: found a file, expected the folder of a run"), (["surface", "nothing"], "nothing: no such file or folder")):
            self.assertRegex(self.rheo(*words, code=2)[1], told)
        self.both("bodies: [{shape: {box: {min: [0, 0, 0], max: [1, 1, 0]}}}]\n", r"z of max is 0, expected more than z of min, which is 0 \(also in two dimensions")

    def test_empty_frames(self):
        box = "shape: {box: {min: [0.4, 0.4, -1], max: [0.6, 0.6, 1]}}"
        solid = "solids: [{shape: {box: {min: [0.2, 0.2, -1], max: [0.8, 0.8, 1]}}}]\n"
        self.warned(f"emitters: [{{name: jet, {box}, velocity: [1, 0, 0]}}]\n" + solid, r"emitter 0 \('jet'\) lies inside of a solid")
        self.warned(BODY + "sinks: [{shape: {box: {min: [-9, -9, -9], max: [9, 9, 9]}}}]\n", r"sinks take all \d+ particles")
        self.warned(f"emitters: [{{{box}, velocity: [1, 0, 0], start: 99}}]\n", r"starts at 99 s, after the last frame")
        self.warned(f"emitters: [{{{box}, velocity: [1, 0, 0], start: 0.1}}]\n", "the first frame is empty")
        err = self.rheo("check", "--quiet", self.write(BODY + TANK))[1]
        self.assertNotIn("warning", err)

    def test_emitter_without_velocity(self):
        text = "emitters: [{shape: {sphere: {center: [0.5, 0.5, 0], radius: 0.3}}}]\n" + TANK
        err = self.rheo("check", "--quiet", self.write(text))[1]
        predicted = int(re.search(r"particles emitted +([\d ]+)", err).group(1).replace(" ", ""))
        self.rheo("run", "s.yaml", "--out", "a", "--quiet")
        found = int(re.search(r"(\d+) points", self.rheo("info", "a/points/points.0004.vdb")[0]).group(1))
        self.assertGreater(found, 300)
        self.assertLess(abs(predicted / found - 1), 0.1)


class Messages(Case):
    def test_open_sheet(self):
        rows = 12
        corners = "".join(f"v {i / rows} 0.2 {k / rows}\n" for k in range(rows + 1) for i in range(rows + 1))
        faces = "".join(f"f {k * (rows + 1) + i + 1} {k * (rows + 1) + i + 2} {(k + 1) * (rows + 1) + i + 1}\n"
                        f"f {k * (rows + 1) + i + 2} {(k + 1) * (rows + 1) + i + 2} {(k + 1) * (rows + 1) + i + 1}\n" for k in range(rows) for i in range(rows))
        (self.folder / "sheet.obj").write_text(corners + faces)
        text = scene("tiny3d.yaml").read_text().replace("sphere: {center: [0.7, 0.1, 0.15], radius: 0.1}", "mesh: {file: sheet.obj}")
        (self.folder / "s.yaml").write_text(text)
        err = self.rheo("check", "--quiet", "s.yaml")[1]
        self.assertEqual(err.count("is an open sheet"), 1, err)
        self.assertNotIn("holes", err)
        self.assertIn("key thickness", err)
        (self.folder / "s.yaml").write_text(text.replace("file: sheet.obj", "file: sheet.obj, thickness: 0.002"))
        err = self.rheo("check", "--quiet", "s.yaml")[1]
        self.assertNotIn("open sheet", err)
        self.assertIn("has walls about 0.002 m thick", err)
        (self.folder / "s.yaml").write_text(f"rheo: 1\ncell: 0.1\nphysics: {{liquid: {{}}}}\n{BODY}solids: [{{inside_out: true, shape: {{mesh: {{file: sheet.obj, thickness: 0.002}}}}}}]\n")
        err = self.rheo("check", "--quiet", "s.yaml", code=2)[1]
        self.assertIn("is a sheet, which has no inside, and inside_out", err)

    def test_key_of_another_method(self):
        for method, key, words in (("liquid", "friction_angle", None), ("sand", "surface_tension", None), ("liquid", "elasticity", "none of liquid, splash, sand, sand_incompressible, ballistic, dye, sph, droplets, whitewater, elastoplastic or mist has it"), ("splash", "viscosity", "it is one of liquid, sph or elastoplastic")):
            (self.folder / "s.yaml").write_text(f"rheo: 1\ncell: 0.1\nphysics: {{{method}: {{{key}: 1}}}}\n{BODY}")
            err = self.rheo("check", "s.yaml", code=2)[1]
            self.assertIn(f"unknown key '{key}'", err)
            self.assertRegex(err, words or r"it is one of \w+")

    def test_version(self):
        self.assertEqual(self.rheo("version")[0], self.rheo("--version")[0])


class Numbers(Case):
    def value(self, setting, key):
        out = self.rheo("check", scene("tiny3d.yaml"), "--set", setting)[0]
        return re.search(rf"(?m)^ *(?:- )?{key}: (\[[^\]]*\]|\S+)", out).group(1)

    def test_units_and_fractions(self):
        for text, expected in (("5cm", "0.05"), ("5 cm", "0.05"), ("50mm", "0.05"), ("1/20", "0.05"), ("1/20 m", "0.05"), ("0.7cm", "0.007"), ("5e-2", "0.05"),
                               ("2in", "0.0508"), ("5e1mm", "0.05")):
            self.assertEqual(self.value(f"cell={text}", "cell"), expected, text)
        self.assertEqual(self.value("gravity=[0, -981cm/s^2, 1/2]", "gravity"), "[0, -9.81, 0.5]")
        self.assertEqual(self.value("bodies[0].velocity=[36km/h, 0, 10 cm/s]", "velocity"), "[10, 0, 0.1]")
        self.assertEqual(self.value("physics.liquid.density=1g/cm^3", "density"), "1000")
        self.assertEqual(self.value("look.camera.fov=30deg", "fov"), "30")
        self.assertEqual(self.value("checkpoint.minutes=90s", "minutes"), "1.5")

    def test_wrong_ones(self):
        for text in ("5s", "5m^2", "5 apples", "1/0", "1/", "/2", "cm", "5cm5", "1/2/3", "0x10", "5kg", "1//2m", "5cm/"):
            self.assertIn("expected a number in m", self.rheo("check", scene("tiny3d.yaml"), "--set", f"cell={text}", code=2)[1], text)
        self.rheo("check", scene("tiny3d.yaml"), "--set", "frames.last=1/2", code=2)


class Meshes(Case):
    def test_stretch(self):
        (self.folder / "t.obj").write_text("v 0 0 0\nv .2 0 0\nv 0 .2 0\nv 0 0 .2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        counts = []
        for stretch in ("[1, 1, 1]", "[1, 2, 1]", "[2, 2, 2]"):
            (self.folder / "s.yaml").write_text(f"rheo: 1\ncell: 0.01\nframes: {{last: 1}}\nphysics: {{liquid: {{}}}}\n"
                                                f"bodies: [{{shape: {{mesh: {{file: t.obj, stretch: {stretch}}}}}}}]\n")
            err = self.rheo("check", "--quiet", "s.yaml")[1]
            counts.append(int(re.search(r"particles at the start +([\d ]+)", err).group(1).replace(" ", "")))
        self.assertLess(abs(counts[1] / counts[0] - 2), 0.1)
        self.assertLess(abs(counts[2] / counts[0] - 8), 0.4)

    def test_up(self):
        self.rheo("run", scene("tiny3d.yaml"), "--out", "a", "--frames", "1-1", "--quiet")
        boxes = {}
        for up in ("y", "z"):
            self.rheo("surface", "a", "--mesh", "--up", up, "--out", up, "--quiet")
            boxes[up] = vertices(self.folder / up / "surface.0001.ply", "xyz")
            self.assertIn(b"rheo_up " + up.encode(), (self.folder / up / "surface.0001.ply").read_bytes()[:1000])
        self.assertEqual(boxes["z"], [(x, -z, y) for x, y, z in boxes["y"]])
        self.assertIn("--up", self.rheo("surface", "a", "--up", "x", code=2)[1])


def vertices(path, names):
    """The named columns of a PLY file's vertices."""
    data = path.read_bytes()
    head, _, body = data.partition(b"end_header\n")
    vertex = head.decode().partition("element vertex ")[2].partition("element")[0]
    letters = {"float": "f", "uchar": "B", "int": "i", "double": "d"}
    properties = [line.split()[1:] for line in vertex.splitlines() if line.startswith("property")]
    record = struct.Struct("<" + "".join(letters[kind] for kind, _ in properties))
    places = [[name for _, name in properties].index(name) for name in names]
    count = int(vertex.split()[0])
    return [tuple(row[i] for i in places) for row in record.iter_unpack(body[:count * record.size])]


def pixels(path):
    """All pixels of an 8 bit RGB picture without its filters' help: the set of colours."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height = struct.unpack(">II", data[at + 8:at + 16])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw, rows, before = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        line = bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        kind = raw[y * (3 * width + 1)]
        for i in range(3 * width):
            a, b, c = line[i - 3] if i > 2 else 0, before[i], before[i - 3] if i > 2 else 0
            p = a + b - c
            paeth = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        rows.append(bytes(line))
        before = line
    return [tuple(row[i:i + 3]) for row in rows for i in range(0, 3 * width, 3)]


class Colours(Case):
    CODE = "v@Cd = {0.0f, 0.0f, 0.0f}; if (v@P.x < 0.25f) { v@Cd = {1.0f, 0.0f, 0.0f}; } else { v@Cd = {0.0f, 0.4f, 0.0f}; }"

    def test_cd(self):
        text = scene("tiny3d.yaml").read_text() + f"expressions: [{{at: start, code: '{self.CODE}'}}]\noutput: {{ply: true}}\nsurface: {{attributes: Cd}}\n"
        (self.folder / "s.yaml").write_text(text)
        self.rheo("run", "s.yaml", "--out", "a", "--frames", "1-1", "--quiet")
        rows = vertices(self.folder / "a/points/points.0001.ply", ("Cd_x", "Cd_y", "red", "green", "blue"))
        self.assertEqual({row[2:] for row in rows}, {(255, 0, 0), (0, 102, 0)})
        self.assertTrue(all((row[0] == 1) == (row[2] == 255) for row in rows))
        self.rheo("surface", "a", "--mesh", "--quiet")
        rows = vertices(self.folder / "a/surface/surface.0001.ply", ("red", "green", "blue"))
        self.assertGreater(sum(r > 200 and g < 20 for r, g, _ in rows), 50)
        self.assertGreater(sum(r < 20 and 80 < g < 110 for r, g, _ in rows), 50)
        for words in (["--quick", "--attribute", "Cd"], ["--what", "points", "--attribute", "Cd"], ["--what", "surface", "--attribute", "Cd"]):
            out, _ = self.rheo("render", "a", "--size", "96x64", "--samples", "4", *words, "--out", "p")
            found = pixels(self.folder / out.split()[-1])
            self.assertGreater(sum(r > 2 * g + 40 and r > 2 * b + 40 for r, g, b in found), 20, words)
            self.assertGreater(sum(g > 2 * r + 20 and g > 2 * b + 20 for r, g, b in found), 20, words)

    def test_z_up(self):
        """Directions are turned, colours are not; and a surface written with another axis up than the run's looks the same in a picture."""
        text = scene("tiny3d.yaml").read_text() + f"expressions: [{{at: start, code: '{self.CODE}'}}]\noutput: {{ply: true}}\nsurface: {{attributes: Cd}}\n"
        (self.folder / "s.yaml").write_text(text)
        pictures = []
        for up in ("y", "z"):
            self.rheo("run", "s.yaml", "--out", up, "--frames", "1-1", "--quiet", "--set", f"output.up={up}")
            rows = vertices(self.folder / up / "points/points.0001.ply", ("Cd_x", "Cd_y", "Cd_z"))
            self.assertEqual({tuple(round(c, 6) for c in row) for row in rows}, {(1, 0, 0), (0, 0.4, 0)})
            for surface in ("y", "z"):
                self.rheo("surface", up, "--mesh", "--up", surface, "--quiet")
                rows = vertices(self.folder / up / "surface/surface.0001.ply", ("Cd_x", "Cd_y", "Cd_z", "green"))
                self.assertTrue(all(abs(y - green / 255) < 0.003 and abs(z) < 1e-6 for _, y, z, green in rows))
                out, _ = self.rheo("render", up, "--size", "64x48", "--samples", "2", "--what", "surface", "--attribute", "Cd", "--out", up + surface)
                pictures.append((self.folder / out.split()[-1]).read_bytes())
        self.assertEqual(pictures[0], pictures[1])
        self.assertEqual(pictures[2], pictures[3])

    def test_bytes_of_others(self):
        (self.folder / "c.0001.ply").write_bytes(
            b"ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar green\n"
            b"property uchar blue\nproperty float radius\nend_header\n0 0 0 255 0 51 0.1\n1 0 0 0 255 0 0.1\n")
        self.rheo("surface", "c.0001.ply", "--mesh", "--set", "attributes=Cd", "--quiet")
        rows = vertices(self.folder / "surface/surface.0001.ply", ("x", "red", "green", "blue"))
        self.assertEqual({row[1:] for row in rows if row[0] < 0.3}, {(255, 0, 51)})


class Blender(Case):
    def test_the_import_script_reads_our_files(self):
        sys.path.insert(0, str(harness.SOURCE / "tools"))
        import blender_import
        self.rheo("run", scene("tiny3d.yaml"), "--out", "a", "--frames", "1-2", "--quiet", "--set", "output.ply=true")
        kind, files = blender_import.find_frames(str(self.folder / "a"))
        self.assertEqual((kind, sorted(files)), ("points", [1, 2]))
        columns, faces, z_up = blender_import.read(files[1])
        self.assertEqual((len(faces), z_up), (0, False))
        self.assertEqual(list(zip(*(columns[c] for c in "xyz"))), vertices(pathlib.Path(files[1]), "xyz"))
        self.rheo("surface", "a", "--mesh", "--quiet", "--set", "adaptivity=0.5")
        kind, files = blender_import.find_frames(str(self.folder / "a"))
        columns, faces, _ = blender_import.read(files[2])
        self.assertEqual(kind, "surface")
        self.assertEqual({len(face) for face in faces}, {3, 4})
        self.assertEqual(sorted({c for face in faces for c in face}), list(range(len(columns["x"]))))
        self.assertEqual(len(blender_import.vectors(columns, ("vx", "vy", "vz"))), len(columns["x"]))


class Sequences(harness.Case):
    """`rheo check` reads every file of a sequence of meshes, which a run reads when its time comes."""

    def test_every_file_is_read(self):
        mesh = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 %g 0\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf %s\n"
        for n in (1, 2, 3):
            (self.folder / f"tip.{n}.obj").write_text(mesh % (0.5 + 0.1 * n, "2 4 3"))
        (self.folder / "s.yaml").write_text(
            "rheo: 1\ncell: 0.1\nframes: {last: 2}\nphysics: {liquid: {}}\nbodies: [{shape: {box: {min: [2, 0, 0], max: [3, 1, 1]}}}]\n"
            "solids: [{name: tip, shape: {mesh_sequence: {files: tip.#.obj}}}]\n")
        self.rheo("check", "s.yaml", "--quiet")
        (self.folder / "tip.3.obj").write_text(mesh % (0.8, "2 3 4"))
        _, err = self.rheo("check", "s.yaml", "--quiet", code=2)
        self.assertRegex(err, r"s\.yaml:6:10: solid 0 \('tip'\): .*tip\.3\.obj: triangle 4 joins other vertices than in the first file")
        (self.folder / "tip.3.obj").write_text("v 0 0 0\n")
        _, err = self.rheo("check", "s.yaml", "--quiet", code=2)
        self.assertIn("tip.3.obj", err)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    harness.RHEO = pathlib.Path(sys.argv.pop(1)).resolve()
    harness.SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
