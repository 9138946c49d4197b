#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""`rest_position: true`: the coordinate that particles carry from where they began, in frames, checkpoints and on surfaces.

usage: test_rest.py RHEO SOURCE_DIR [unittest options]
"""
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import harness  # noqa: E402
from harness import Case, scene  # noqa: E402

SIZES = {"float": "f", "double": "d", "int": "i", "uint": "I", "uchar": "B"}
REST = ("--set", "rest_position=true")


def vertices(path):
    """The vertices of a binary PLY of ours: a list of dictionaries."""
    head, _, body = path.read_bytes().partition(b"end_header\n")
    lines = [line.split() for line in head.decode().splitlines()]
    count = next(int(words[2]) for words in lines if words[:2] == ["element", "vertex"])
    stop = next((n for n, words in enumerate(lines) if words[:2] == ["element", "face"]), len(lines))
    rows = [words for words in lines[:stop] if words[0] == "property"]
    record = struct.Struct("<" + "".join(SIZES[words[1]] for words in rows))
    names = [words[2] for words in rows]
    return [dict(zip(names, values)) for values in record.iter_unpack(body[:count * record.size])]


def rest_of(vertex):
    return tuple(vertex[f"rest_{axis}"] for axis in "xyz")


class Rest(Case):
    def run_ply(self, name, *options, base="tiny3d.yaml"):
        self.rheo("run", scene(base), "--out", name, "--quiet", *REST, "--set", "output.ply=true", *options)

    def test_every_method(self):
        """Frame 1 has rest = P; afterwards every particle keeps it, wherever it goes."""
        for base, more in (("tiny3d.yaml", []), ("tiny_splash.yaml", []), ("tiny3d.yaml", ["--set", "physics={sand: {}}"])):
            with self.subTest(base=base, more=more):
                self.run_ply("a", "--force", "--frames", "1-5", "--set", "emitters=[]", *more, base=base)
                first, last = (vertices(self.folder / f"a/points/points.{frame:04d}.ply") for frame in (1, 5))
                began = {v["id"]: (v["x"], v["y"], v["z"]) for v in first}
                self.assertTrue(all(rest_of(v) == began[v["id"]] for v in first))
                self.assertEqual({v["id"]: rest_of(v) for v in last}, began)
                self.assertTrue(any((v["x"], v["y"], v["z"]) != rest_of(v) for v in last))
                self.assertIn("rest", self.rheo("info", "a/points/points.0005.vdb")[0])
        self.rheo("run", scene("tiny3d.yaml"), "--out", "b", "--quiet", "--frames", "1-2")
        self.assertNotIn("rest", self.rheo("info", "b/points/points.0002.vdb")[0])

    def test_resume(self):
        """The same bits as without a stop, of what was poured before and after; a scene without rest is another one."""
        options = (scene("tiny_splash.yaml"), "--quiet", *REST)
        self.rheo("run", *options, "--out", "whole", "--frames", "1-12")
        self.rheo("run", *options, "--out", "parts", "--frames", "1-5")
        self.rheo("run", *options, "--out", "parts", "--frames", "1-12", "--resume")
        self.assertEqual(self.hashes("whole"), self.hashes("parts"))
        _, err = self.rheo("run", scene("tiny_splash.yaml"), "--quiet", "--out", "parts", "--resume", code=2)
        self.assertIn("the scene differs from the one", err)

    def test_surface(self):
        """A mesh has it without asking: in the first frame each vertex is where its particles began, within the width of the band."""
        self.run_ply("a", "--frames", "1-3")
        self.rheo("surface", "a", "--mesh", "--quiet")
        mesh = vertices(self.folder / "a/surface/surface.0001.ply")
        self.assertGreater(len(mesh), 500)
        for v in mesh:
            self.assertLess(max(abs(v[axis] - v[f"rest_{axis}"]) for axis in "xyz"), 0.05)  # a cell; particles are half a cell apart
        self.assertIn("rest", self.rheo("info", "a/surface/surface.0001.vdb")[0])

    def test_z_up(self):
        """Files with z up have all places turned alike."""
        self.run_ply("a", "--frames", "1-1", "--set", "output.up=z")
        self.assertTrue(all(rest_of(v) == (v["x"], v["y"], v["z"]) for v in vertices(self.folder / "a/points/points.0001.ply")))

    def test_programs(self):
        """It is the user's: programs may turn it. A number of that name is another thing."""
        text = scene("tiny3d.yaml").read_text() + "\nrest: true\nexpressions:\n - {at: start, code: 'v@rest = v@rest * 2;'}\n"
        (self.folder / "turned.yaml").write_text(text)
        self.rheo("run", "turned.yaml", "--out", "a", "--quiet", "--frames", "1-2", "--set", "output.ply=true")
        for v in vertices(self.folder / "a/points/points.0001.ply"):
            self.assertEqual(rest_of(v), (2 * v["x"], 2 * v["y"], 2 * v["z"]))
        (self.folder / "number.yaml").write_text(text.replace("v@rest = v@rest * 2", "f@rest = 1"))
        self.assertIn("vec3f", self.rheo("check", "number.yaml", code=2)[1])

    def test_prediction(self):
        def disk(*more):
            _, err = self.rheo("check", scene("tiny3d.yaml"), "--quiet", *more)
            return next(line.split() for line in err.splitlines() if line.strip().startswith("disk"))
        self.assertNotEqual(disk(), disk(*REST))


if __name__ == "__main__":
    harness.RHEO, harness.SOURCE = pathlib.Path(sys.argv.pop(1)).resolve(), pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
