#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""A run of several materials from outside: every command that looks at one takes a material's name.

usage: test_materials.py RHEO SOURCE_DIR [unittest options]
"""
import json
import pathlib
import sys
import unittest

import harness

SCENE = """rheo: 1
cell: 0.1
frames: {last: 2}
surface: {mesh: true}
materials:
  - {name: water, physics: {liquid: {}}}
  - {name: dune, physics: {sand: {}}, surface: {voxel: 0.05, while_running: true}}
bodies:
  - {name: dam, material: water, shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.4]}}}
  - {name: pile, material: dune, shape: {box: {min: [0.8, 0, 0], max: [1.2, 0.4, 0.4]}}}
solids:
  - {inside_out: true, shape: {box: {min: [0, 0, 0], max: [1.6, 1, 0.4]}}}
"""


class Materials(harness.Case):
    def make_run(self):
        (self.folder / "scene.yaml").write_text(SCENE)
        self.rheo("run", "scene.yaml", "--out", "run", "--quiet")

    def surfaces(self, folder="run/surface"):
        return sorted(path.name for path in (self.folder / folder).glob("*"))

    def test_surfaces_are_made_as_each_says(self):
        self.make_run()
        self.assertEqual(self.surfaces(), [f"surface.dune.000{n}.{kind}" for n in (1, 2) for kind in ("ply", "vdb")])
        out, _ = self.rheo("surface", "run", "--json", "--quiet", "--frames", "2", "--out", "all")
        facts = {line["material"]: line for line in map(json.loads, out.splitlines())}
        self.assertEqual(facts["dune"]["voxel"], 0.05)
        self.assertNotEqual(facts["water"]["voxel"], 0.05)
        kinds = [f"surface.{name}.0002.{kind}" for name in ("dune", "water") for kind in ("ply", "vdb")]
        self.assertEqual(self.surfaces("all"), kinds)
        for name in ("surface.dune.0002.vdb", "surface.dune.0002.ply"):  # as the run made it
            self.assertEqual((self.folder / "all" / name).read_bytes(), (self.folder / "run/surface" / name).read_bytes())
        # What is said on the command line is said to all of them.
        out, _ = self.rheo("surface", "run", "--json", "--quiet", "--frames", "2", "--out", "coarse", "--set", "voxel=0.08")
        self.assertEqual([json.loads(line)["voxel"] for line in out.splitlines()], [0.08, 0.08])

    def test_missing_surfaces_are_mended(self):
        self.make_run()
        kept = (self.folder / "run/surface/surface.dune.0001.ply").read_bytes()
        (self.folder / "run/surface/surface.dune.0001.ply").unlink()
        self.rheo("run", "scene.yaml", "--out", "run", "--quiet", "--resume")
        self.assertEqual((self.folder / "run/surface/surface.dune.0001.ply").read_bytes(), kept)

    def test_ax_runs_on_one(self):
        self.make_run()
        points = "run/points/points.0002.vdb"
        before = {name: self.rheo("info", "--hash", points, "--material", name)[0] for name in ("water", "dune")}
        self.rheo("ax", "v@v = {1, 2, 3};", points, "--material", "dune", "--out", "new.vdb")
        after = {name: self.rheo("info", "--hash", "new.vdb", "--material", name)[0] for name in ("water", "dune")}
        self.assertEqual(before["water"], after["water"])
        self.assertNotEqual(before["dune"], after["dune"])
        _, err = self.rheo("ax", "v@v = {1, 2, 3};", points, "--material", "dume", "--dry", code=2)
        self.assertIn("has no points grid 'dume'; did you mean 'dune'?", err)
        _, err = self.rheo("ax", "f@x = 1;", points, "--material", "dune", "--volumes", "--dry", code=2)
        self.assertIn("volumes are of no material", err)

    def test_check_tells_of_one(self):
        (self.folder / "scene.yaml").write_text(SCENE)
        out, err = self.rheo("check", "scene.yaml")
        self.assertIn("m^3 of water\n", err)
        self.assertIn("m^3 of dune\n", err)
        both = int(err.split("particles at the start ")[1].split("\n")[0].replace(" ", ""))
        out, err = self.rheo("check", "scene.yaml", "--material", "dune")
        self.assertTrue(out.startswith('name: "dune"'))
        self.assertNotIn("liquid:", out)
        self.assertNotIn("dam", err)
        self.assertEqual(2 * int(err.split("particles at the start ")[1].split("\n")[0].replace(" ", "")), both)
        _, err = self.rheo("check", "scene.yaml", "--material", "dume", code=2)
        self.assertIn("--material: unknown material 'dume'; did you mean 'dune'?", err)

    def test_info_of_one(self):
        (self.folder / "scene.yaml").write_text(SCENE + "probes:\n  - {name: W, where: {point: {position: [0.2, 0.1, 0.2]}}}\n"
                                                "  - {name: D, material: dune, where: {box: {min: [0, 0, 0], max: [2, 1, 1]}}}\n")
        self.rheo("run", "scene.yaml", "--out", "run", "--quiet")
        out, _ = self.rheo("info", "run")
        for words in ("W.pressure", "D.mass", "dune: 1 to 2"):
            self.assertIn(words, out)
        out, _ = self.rheo("info", "run", "--material", "dune")
        self.assertIn("D.mass", out)
        self.assertIn("material     dune, sand", out)
        self.assertNotIn("W.pressure", out)
        self.assertNotIn("water", out)
        _, err = self.rheo("info", "run", "--material", "dume", code=2)
        self.assertIn("did you mean 'dune'?", err)
        # A fresh start leaves nothing of the old one.
        self.rheo("run", "scene.yaml", "--out", "run", "--quiet", "--force", "--set", "probes=[]", "--set", "materials.dune.surface.while_running=false")
        self.assertEqual(sorted(path.name for path in (self.folder / "run").glob("probes*")), [])
        self.assertEqual(self.surfaces(), [])

    def test_pictures_of_one(self):
        self.make_run()
        draw = ("render", "run", "--frames", "2", "--quick", "--size", "64x48")
        seen = []
        for name in (None, "water", "dune"):
            self.rheo(*draw, "--out", f"p{name}", *(("--material", name) if name else ()))
            seen.append((self.folder / f"p{name}" / "picture.0002.png").read_bytes())
        self.assertEqual(len(set(seen)), 3)
        _, err = self.rheo(*draw, "--material", "dume", code=2)
        self.assertIn("--material: unknown material 'dume'; did you mean 'dune'?", err)
        _, err = self.rheo(*draw, "--look", "hony", code=2)
        self.assertIn("did you mean honey?", err)


TWO_DYES = """rheo: 1
cell: 0.05
dimension: 2
frames: {last: 3}
materials:
  - {name: red, physics: {dye: {velocity: [1, 0, 0]}}}
  - {name: blue, physics: {dye: {angular_velocity: [0, 0, 3]}}}
bodies:
  - {material: red, shape: {box: {min: [0, 0, -1], max: [0.3, 0.3, 1]}}}
  - {material: blue, shape: {box: {min: [0.5, 0, -1], max: [0.7, 0.3, 1]}}}
"""
BASE = """rheo: 1
cell: 0.05
dimension: 2
frames: {last: 3}
materials:
  - {name: still, physics: {ballistic: {}}}
  - {name: river, physics: {ballistic: {drag: 0}}}
gravity: [0, 0, 0]
bodies:
  - {material: still, shape: {box: {min: [0, 0, -1], max: [1, 1, 1]}}}
  - {material: river, velocity: [2, 0, 0], shape: {box: {min: [0, 2, -1], max: [1, 3, 1]}}}
"""
LAYER = """rheo: 1
cell: 0.05
dimension: 2
frames: {last: 3}
from: {%s: base}
physics: {dye: {carried_by: %s}}
bodies: [{shape: {box: {min: [0.3, %g, -1], max: [0.5, %g, 1]}}}]
"""


class Fields(harness.Case):
    """Fields of all materials are in a frame; a layer stands on the material of its base that it names."""

    def fields(self, run, *more):
        return self.rheo("info", f"{run}/fields/fields.0003.vdb", *more)[0]

    def test_all_materials_write_theirs(self):
        (self.folder / "two.yaml").write_text(TWO_DYES)
        self.rheo("run", "two.yaml", "--out", "two", "--quiet")
        text = self.fields("two")
        for name in ("red.dye", "blue.dye"):
            self.assertIn(name, text)
        # Each is what it is alone, and stopped and resumed.
        self.rheo("run", "two.yaml", "--out", "again", "--quiet", "--frames", "1-2")
        self.rheo("run", "two.yaml", "--out", "again", "--quiet", "--resume")
        same = [(self.folder / run / "fields/fields.0003.vdb").read_bytes() for run in ("two", "again")]
        self.assertEqual(*same)
        (self.folder / "one.yaml").write_text(TWO_DYES.replace("  - {name: blue, physics: {dye: {angular_velocity: [0, 0, 3]}}}\n", "").replace(
            "  - {material: blue, shape: {box: {min: [0.5, 0, -1], max: [0.7, 0.3, 1]}}}\n", ""))
        self.rheo("run", "one.yaml", "--out", "one", "--quiet")
        self.assertNotIn("red.dye", self.fields("one"))
        self.assertIn("dye", self.fields("one"))

    def test_a_layer_names_a_material_of_its_base(self):
        (self.folder / "base.yaml").write_text(BASE)
        self.rheo("run", "base.yaml", "--out", "base", "--quiet")
        moved = {}
        for name, low in (("still", 0.4), ("river", 2.4)):
            (self.folder / f"{name}.yaml").write_text(LAYER % (name, name, low, low + 0.2))
            self.rheo("run", f"{name}.yaml", "--out", name, "--quiet")
            sums = self.rheo("ax", "if (f@dye > 0.5f) print(getcoordx()); f@dye = f@dye;", f"{name}/fields/fields.0003.vdb", "--dry", "--volumes", "--quiet")[0].split()
            moved[name] = sum(map(int, sums)) / len(sums)
        self.assertAlmostEqual(moved["river"] - moved["still"], 2 * 2 / 24 / 0.05, delta=0.5)
        (self.folder / "other.yaml").write_text(LAYER % ("other", "other", 0.4, 0.6))
        self.assertIn("none is called 'other'", self.rheo("run", "other.yaml", "--out", "other", "--quiet", code=2)[1])


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    harness.RHEO = pathlib.Path(sys.argv[1]).resolve()
    harness.SOURCE = pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
