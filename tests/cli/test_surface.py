#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""rheo surface from outside: files in, files out, the same bytes everywhere, wrong input with its message.

usage: test_surface.py RHEO SOURCE_DIR [unittest options]
"""
import json
import math
import pathlib
import re
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import harness  # noqa: E402
from harness import Case, scene  # noqa: E402

SPACING = 0.1
RADIUS = SPACING * (3 / (4 * math.pi)) ** (1 / 3)


def block(side=6):
    """Positions of side^3 points, SPACING apart."""
    cells = range(side)
    return [(SPACING * (i + 0.5), SPACING * (j + 0.5), SPACING * (k + 0.5)) for i in cells for j in cells for k in cells]


def write_ply(path, rows, names):
    """An ascii PLY of points; integers where all values of a column are."""
    kinds = ["int" if rows and all(isinstance(row[c], int) for row in rows) else "float" for c in range(len(names))]
    header = ["ply", "format ascii 1.0", f"element vertex {len(rows)}",
              *(f"property {kind} {name}" for kind, name in zip(kinds, names)), "end_header"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(header + [" ".join(map(str, row)) for row in rows]) + "\n")


class Surfaces(Case):
    def files(self, folder):
        """Name and bytes of everything in a folder."""
        found = {path.name: path.read_bytes() for path in (self.folder / folder).iterdir()}
        self.assertGreater(len(found), 0)
        return found

    def points(self, name, rows=None, names=("x", "y", "z", "radius"), radius=RADIUS):
        if rows is None:
            rows = [(*position, radius) for position in block()]
        write_ply(self.folder / name, rows, names)
        return name


class Runs(Surfaces):
    def setUp(self):
        super().setUp()
        self.rheo("run", scene("tiny3d.yaml"), "--out", "a", "--quiet", "--set", "surface.attributes=id")

    def test_measurements(self):
        out, _ = self.rheo("surface", "a", "--mesh", "--quiet", "--json", "--frames", "1-2")
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["frame"] for line in lines], [1, 2])
        for line in lines:
            self.assertEqual(line["deep"] + line["droplets"] + line["ellipsoids"], line["used"])
            self.assertEqual(sum(line["neighbours"]), line["droplets"] + line["ellipsoids"])
            self.assertTrue(0 < line["k_s"]["least"] <= line["k_s"]["mean"] <= line["k_s"]["most"])
            self.assertTrue(line["voxels"] > 0 and line["polygons"] > 0 and set(line["stages"]) >= {"sort", "shapes", "stamp"})

    def test_frames_stand_alone(self):
        """Two ranges with one and three threads write the bytes that all frames at once have."""
        out, err = self.rheo("surface", "a", "--mesh")
        self.assertEqual(out, "")
        whole = self.files("a/surface")
        self.assertEqual(sorted(whole), sorted(f"surface.{f:04d}.{e}" for f in range(1, 6) for e in ("vdb", "ply")))
        self.assertEqual(re.findall(r"(?m)^frame (\d)  particles 4 800  droplets [\d ]+  voxels [\d ]+  polygons [\d ]+  .* s$", err), list("12345"))
        self.assertRegex(err, r"(?m)^done: 5 surfaces in .*\n  surfaces    a/surface$")
        self.rheo("surface", "a", "--mesh", "--frames", "1-2", "--threads", 1, "--out", "parts")
        self.rheo("surface", "a", "--mesh", "--frames", "3-5", "--threads", 3, "--out", "parts")
        self.assertEqual(self.files("parts"), whole)
        self.rheo("surface", *sorted((self.folder / "a/points").glob("*.vdb")), "--mesh", "--set", "attributes=id", "--out", "by_files")
        self.assertEqual(self.files("by_files"), whole)
        self.assertEqual(len(set(whole.values())), 10, "every frame differs")
        self.assert_no_leftovers("a")

    def test_what_is_in_them(self):
        self.rheo("surface", "a", "--mesh", "--frames", "3", "--quiet")
        out, _ = self.rheo("info", "a/surface/surface.0003.vdb")
        self.assertRegex(out, r"(?m)^surface: float, .*voxel [\d.e-]+ m, .*\d+ active voxels")
        self.assertRegex(out, r"(?m)^vel: vec3s, ")
        self.assertRegex(out, r"(?m)^id: int64, ")
        self.assertRegex(out, r"frame 3\b")
        out, _ = self.rheo("info", "a/surface/surface.0003.ply")
        self.assertRegex(out, r"[\d ]+ vertex\n    x, y, z, nx, ny, nz, vx, vy, vz, id")
        self.assertIn("rheo_frame 3", out)
        out, _ = self.rheo("info", "a")
        self.assertRegex(out, r"surfaces +3 to 3\n +1 frame in 2 files, [\d.]+ [kM]B")
        # A dam of 0.5 x 0.5 x 0.3 m that has begun to fall: closed, and of its volume.
        self.rheo("surface", "a", "--mesh", "--frames", "1", "--set", "mesh_format=obj", "--set", "vdb=false", "--out", "obj")
        self.assertEqual(list(self.files("obj")), ["surface.0001.obj"])
        volume = float(re.search(r"volume +([\d.]+) m\^3", self.rheo("info", "obj/surface.0001.obj")[0]).group(1))
        self.assertLess(abs(volume - 0.075), 0.012)

    def test_parameters_come_from_the_scene_then_the_line(self):
        self.rheo("run", scene("tiny3d.yaml"), "--out", "b", "--quiet", "--frames", "1-2", "--set", "surface={mode: sphere, voxel: 0.05, mesh: true}")
        self.rheo("surface", "b", "--quiet", "--frames", "2")
        self.assertEqual(sorted(self.files("b/surface")), ["surface.0002.ply", "surface.0002.vdb"])
        self.assertIn("voxel 0.05 m", self.rheo("info", "b/surface/surface.0002.vdb")[0])
        self.rheo("surface", "a", "--quiet", "--frames", "2", "--mode", "sphere", "--set", "voxel=0.05", "--set", 'attributes=""', "--out", "same")
        self.assertEqual(self.files("same")["surface.0002.vdb"], self.files("b/surface")["surface.0002.vdb"])
        self.rheo("surface", "b", "--quiet", "--frames", "2", "--set", "voxel=0.04", "--set", "filters=[{kind: mean, width: 2}]", "--out", "c")
        self.assertIn("voxel 0.04 m", self.rheo("info", "c/surface.0002.vdb")[0])

    def test_modes(self):
        results = set()
        for mode in ("ellipsoid", "sphere", "averaged", "solenthaler", "density"):
            self.rheo("surface", "a", "--mode", mode, "--frames", "4", "--out", mode, "--quiet")
            results.add(self.files(mode)["surface.0004.vdb"])
        self.assertEqual(len(results), 5)

    def test_while_running(self):
        """The same bytes as afterwards, and the time in the log; the run itself is the same."""
        arguments = ["run", scene("tiny3d.yaml"), "--set", "surface={while_running: true, mesh: true, attributes: id}", "--out", "b"]
        _, err = self.rheo(*arguments)
        self.assertEqual(len(re.findall(r"(?m)^frame \d/5 .* surface [\d.]+ s  ", err)), 5)
        self.assertIn("b/surface", err)
        self.rheo("surface", "a", "--mesh", "--quiet")
        self.assertEqual(self.files("b/surface"), self.files("a/surface"))
        self.assertEqual(self.hashes("b"), self.hashes("a"))
        lines = [json.loads(line) for line in (self.folder / "b/log.jsonl").read_text().splitlines()]
        for now, after in zip(lines, [*lines[1:], {"frame": None}]):
            self.assertEqual("surface_seconds" in now, now["frame"] != after["frame"])
            self.assertGreater(now.get("surface_seconds", 1), 0)
        self.assertRegex(self.rheo("info", "b")[0], r"surfaces, besides +[\d.]+ s")
        # Going on with another surface section is going on with the same scene.
        self.assertIn("nothing was left", self.rheo("run", scene("tiny3d.yaml"), "--out", "b", "--resume")[1])
        # Starting over takes them away, and nothing else.
        (self.folder / "b/surface/mine.txt").write_text("not yours")
        self.rheo("surface", "b", "--subframes", 2, "--frames", "1", "--quiet", "--set", "diagnostics=true")
        self.assertIn("surface.0001.500.vdb", self.files("b/surface"))
        self.rheo("run", scene("tiny3d.yaml"), "--out", "b", "--force", "--quiet")
        self.assertEqual(list(self.files("b/surface")), ["mine.txt"])

    def test_failure_while_running_keeps_the_run(self):
        _, err = self.rheo("run", scene("tiny3d.yaml"), "--out", "b", "--set", "surface={while_running: true, attributes: heat}", code=1)
        self.assertEqual(len(re.findall(r"warning: frame \d has no surface: b/points/points.000\d.vdb: attributes: the points have no 'heat'", err)), 5)
        self.assertIn("5 frames have no surface", err)
        self.assertEqual(self.hashes("b"), self.hashes("a"))
        self.assertEqual(list((self.folder / "b/surface").iterdir()), [])
        self.rheo("run", scene("tiny3d.yaml"), "--out", "c", "--set", "surface.while_running=true", "--set", "output.vdb=false", code=2)
        self.assertFalse((self.folder / "c").exists())

    def test_subframes(self):
        self.rheo("surface", "a", "--subframes", 4, "--frames", "4-5", "--quiet")
        found = self.files("a/surface")
        self.assertEqual(sorted(found), ["surface.0004.250.vdb", "surface.0004.500.vdb", "surface.0004.750.vdb", "surface.0004.vdb", "surface.0005.vdb"])
        self.assertEqual(len(set(found.values())), 5)
        time = lambda name: float(re.search(r"time ([\d.e-]+)", self.rheo("info", f"a/surface/{name}")[0]).group(1))
        self.assertAlmostEqual(time("surface.0004.250.vdb"), 3.25 / 24, places=5)
        self.rheo("surface", "a", "--frames", "4-5", "--quiet", "--out", "whole")
        for name, data in self.files("whole").items():
            self.assertEqual(found[name], data)
        # The frame that ends the range still has a next one on disk.
        self.rheo("surface", "a", "--subframes", 3, "--frames", "4", "--quiet", "--threads", 1, "--out", "one")
        self.assertEqual(sorted(self.files("one")), ["surface.0004.333.vdb", "surface.0004.667.vdb", "surface.0004.vdb"])

    def test_diagnostics(self):
        self.rheo("surface", "a", "--frames", "2", "--set", "diagnostics=true", "--quiet")
        self.assertEqual(sorted(self.files("a/surface")), ["ellipsoids.0002.vdb", "surface.0002.vdb"])
        out, _ = self.rheo("info", "a/surface/ellipsoids.0002.vdb")
        for name in ("k_s", "neighbours", "stretch", "rotation", "centre", "ellipsoid"):
            self.assertIn(f" {name}:", out)

    def test_z_up(self):
        """The surface lies where the exported points lie, and so do its diagnostics."""
        self.rheo("run", scene("tiny3d.yaml"), "--out", "z", "--quiet", "--frames", "1", "--set", "output.up=z")
        self.rheo("surface", "z", "--quiet", "--mesh", "--set", "diagnostics=true", "--set", "mesh_format=obj")
        box = lambda name, grid: tuple(map(int, re.search(rf"(?m)^{grid}: .* in \[(-?\d+), (-?\d+), (-?\d+)\]", self.rheo("info", name)[0]).groups()))
        bounds = re.search(r"bounds +\[(.*), (.*), (.*)\] to \[(.*), (.*), (.*)\]", self.rheo("info", "z/surface/surface.0001.obj")[0]).groups()
        for found, expected in zip(map(float, bounds), (0, -0.3, 0, 0.5, 0, 0.5)):  # the dam's depth, 0.3 m, lies along -y
            self.assertLess(abs(found - expected), 0.03)
        self.assertEqual(box("z/surface/ellipsoids.0001.vdb", "points"), box("z/points/points.0001.vdb", "points"))
        self.assertIn("up z", self.rheo("info", "z/surface/surface.0001.vdb")[0])

    def test_interrupt(self):
        process = self.start("surface", "a", "--subframes", 200)
        try:
            self.wait_for("a/surface/surface.0001.vdb", process)
            process.send_signal(signal.SIGINT)
            code, err = self.finish(process)
        finally:
            process.kill()
            process.wait()
            process.stderr.close()
        self.assertEqual(code, 3, err)
        self.assertIn("stopping after this frame (again to leave at once)", err)
        self.assertRegex(err, r"(?m)^stopped: \d+ surfaces? in .*\n  surfaces    a/surface\n  go on       the same command with --frames [1-4]-5$")
        self.assert_no_leftovers("a")
        self.assertLess(len(self.files("a/surface")), 800)


class Files(Surfaces):
    def test_beside_the_file(self):
        self.points("drop.0012.ply")
        _, err = self.rheo("surface", "drop.0012.ply", "--mesh")
        self.assertRegex(err, r"frame 12  particles 216 ")
        self.assertEqual(sorted(self.files("surface")), ["surface.0012.ply", "surface.0012.vdb"])
        self.points("in/it/drop_v2.7.ply")
        self.rheo("surface", "in/it/drop_v2.7.ply", "--quiet")
        self.assertEqual(list(self.files("in/it/surface")), ["surface.0007.vdb"])
        self.points("plain.ply")
        self.rheo("surface", "plain.ply", "--quiet", "--out", "plain")
        self.assertEqual(list(self.files("plain")), ["surface.0001.vdb"])

    def test_frame_from_the_file(self):
        self.rheo("run", scene("tiny3d.yaml"), "--out", "a", "--quiet", "--frames", "1-3", "--set", "output.ply=true")
        for ending in ("vdb", "ply"):
            (self.folder / f"a/points/points.0003.{ending}").rename(self.folder / f"water.{ending}")
            self.rheo("surface", f"water.{ending}", "--quiet", "--out", ending)
            self.assertEqual(list(self.files(ending)), ["surface.0003.vdb"])

    def test_a_run_of_ply_files(self):
        self.rheo("run", scene("tiny3d.yaml"), "--out", "a", "--quiet", "--frames", "1-2", "--set", "output={vdb: false, ply: true}")
        self.rheo("surface", "a", "--quiet")
        self.assertEqual(sorted(self.files("a/surface")), ["surface.0001.vdb", "surface.0002.vdb"])

    def test_ids_are_followed(self):
        """Between two frames half a metre apart the surface is half way; particles without ids go on with their velocity, which is none."""
        for name, shift in (("a.0001.ply", 0.0), ("a.0002.ply", 0.5)):
            rows = [(x + shift, y, z, RADIUS, 0.0, 0.0, 0.0, i) for i, (x, y, z) in enumerate(block())]
            self.points(name, rows, ("x", "y", "z", "radius", "vx", "vy", "vz", "id"))
            self.points(name.replace("a", "b"), [row[:7] for row in rows], ("x", "y", "z", "radius", "vx", "vy", "vz"))
        self.rheo("surface", "a.0001.ply", "b.0002.ply", "--subframes", 2, "--quiet", "--out", "o", "--set", "voxel=0.05")
        self.rheo("surface", "b.0001.ply", "--subframes", 2, "--quiet", "--out", "p", "--set", "voxel=0.05")
        left = lambda name: int(re.search(r"(?m)^surface: .* in \[(-?\d+), ", self.rheo("info", name)[0]).group(1))
        self.assertEqual(left("o/surface.0001.500.vdb") - left("o/surface.0001.vdb"), 5)
        self.assertEqual(left("o/surface.0002.vdb") - left("o/surface.0001.vdb"), 10)
        self.assertEqual(left("p/surface.0001.500.vdb"), left("p/surface.0001.vdb"))

    def test_empty_frame(self):
        self.points("empty.0001.ply", [], ("x", "y", "z"))
        _, err = self.rheo("surface", "empty.0001.ply", "--mesh", "--set", "attributes=heat", "--set", "filters=[{kind: mean, mask: heat}]")
        self.assertIn("particles 0 ", err)
        self.assertIn("surface: float", self.rheo("info", "surface/surface.0001.vdb")[0])
        self.assertIn("0 vertex", self.rheo("info", "surface/surface.0001.ply")[0])

    def test_points_that_cannot_be_used(self):
        rows = [(*position, RADIUS) for position in block()]
        rows += [("nan", 0.1, 0.1, RADIUS), (0.1, "inf", 0.1, RADIUS), (0.2, 0.2, 0.2, 0.0), (0.2, 0.2, 0.2, -1.0), (0.2, 0.2, 0.2, "nan")]
        self.points("bad.0001.ply", rows)
        self.points("good.0001.ply", rows[:216])
        _, err = self.rheo("surface", "bad.0001.ply", "--quiet", "--out", "bad")
        self.assertIn("warning: bad.0001.ply: left out 2 points whose position is not finite", err)
        self.assertIn("warning: bad.0001.ply: left out 3 points whose radius is not positive", err)
        self.rheo("surface", "good.0001.ply", "--quiet", "--out", "good")
        self.assertEqual(self.files("bad"), self.files("good"))

    def test_attributes(self):
        rows = [(*position, RADIUS, i % 3, 0.5 * position[0]) for i, position in enumerate(block())]
        self.points("a.0001.ply", rows, ("x", "y", "z", "pscale", "part", "heat"))
        self.rheo("surface", "a.0001.ply", "--mesh", "--set", "attributes=heat part", "--set", "filters=[{kind: mean, mask: heat, mask_max: 0.3}]")
        out, _ = self.rheo("info", "surface/surface.0001.vdb")
        self.assertRegex(out, r"(?m)^heat: float, ")
        self.assertRegex(out, r"(?m)^part: int32, ")
        self.assertRegex(self.rheo("info", "surface/surface.0001.ply")[0], r"nz, (heat, part|part, heat)")

    def test_groups(self):
        """Points with groups: passed over; carried to the surface as 0 and 1, good for a mask; a choice of ellipsoids."""
        positions = block()
        lines = ["ply", "format ascii 1.0", "comment rheo_version test", f"comment rheo_group low {len(positions) // 2}", f"element vertex {len(positions)}",
                 *(f"property {kind}" for kind in ("float x", "float y", "float z", "float radius", "uchar low")), "end_header"]
        lines += [f"{x} {y} {z} {RADIUS} {int(y < 0.3)}" for x, y, z in positions]
        (self.folder / "g.0001.ply").write_text("\n".join(lines) + "\n")
        self.assertRegex(self.rheo("info", "g.0001.ply")[0], rf"(?m)^  rheo_group low {len(positions) // 2}$")
        self.rheo("surface", "g.0001.ply", "--quiet", "--out", "plain")
        self.rheo("surface", "g.0001.ply", "--quiet", "--out", "carried", "--mesh", "--set", "attributes=low")
        out, _ = self.rheo("info", "carried/surface.0001.vdb")
        self.assertRegex(out, r"(?m)^low: float, .*, 0 to 1")
        filters = lambda more: ("--set", "attributes=low", "--set", "filters=[{kind: mean, iterations: 3%s}]" % more)
        self.rheo("surface", "g.0001.ply", "--quiet", "--out", "all", *filters(""))
        self.rheo("surface", "g.0001.ply", "--quiet", "--out", "masked", *filters(", mask: low"))
        self.rheo("surface", "g.0001.ply", "--quiet", "--out", "chosen", "--set", "group=low")
        bytes_of = lambda name: self.files(name)["surface.0001.vdb"]
        self.assertNotEqual(bytes_of("all"), bytes_of("masked"))
        self.assertNotEqual(bytes_of("plain"), bytes_of("chosen"))


class Wrong(Surfaces):
    """Exit 2 (1 where the system refused), the message, and nothing on disk."""

    def assert_refused(self, words, *arguments, code=2):
        before = sorted(self.folder.rglob("*"))
        _, err = self.rheo("surface", *arguments, code=code)
        self.assertIn(words, err)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_usage(self):
        p = self.points("p.0001.ply")
        for words, arguments in [
            ("found no RUN|FILE...", []),
            ("--mode: unknown mode 'spere'; did you mean 'sphere'?", [p, "--mode", "spere"]),
            ("--mode: unknown mode 'blobby'; expected ellipsoid, sphere, averaged, solenthaler, density or blocks", [p, "--mode", "blobby"]),
            ("--set voxl=1: unknown name 'voxl'; did you mean 'voxel'?", [p, "--set", "voxl=1"]),
            ("--set voxel=-1: voxel: must be between 0 and 10000, found -1", [p, "--set", "voxel=-1"]),
            ("--set voxel: expected path=value", [p, "--set", "voxel"]),
            ("filters[0].kind: unknown choice 'meen'; did you mean 'mean'?", [p, "--set", "filters=[{kind: meen}]"]),
            ("high: must be above low", [p, "--set", "low=9"]),
            ("nothing to write", [p, "--set", "vdb=false"]),
            ("--subframes: found 1001, expected 1 to 1000", [p, "--subframes", 1001]),
            ("--subframes: found \"0\"", [p, "--subframes", 0]),
            ("--frames: found none of the files in 2-3", [p, "--frames", "2-3"]),
            ("--out: p.0001.ply is a file", [p, "--out", p]),
            ("did you mean --subframes", [p, "--subframe", "2"]),
        ]:
            with self.subTest(arguments=arguments):
                self.assert_refused(words, *arguments)

    def test_operands(self):
        self.points("p.0001.ply")
        self.points("q/p.0001.ply")
        self.points("plain.ply")
        (self.folder / "noframes/points").mkdir(parents=True)
        (self.folder / "noframes/scene.yaml").write_text(scene("tiny3d.yaml").read_text())
        (self.folder / "empty").mkdir()
        (self.folder / "p.0002.vdb").write_bytes(b"")
        (self.folder / "notes.txt").write_text("no points")
        self.assert_refused("gone.vdb: no such file or folder", "gone.vdb")
        self.assert_refused("gone: no such file or folder, expected a run, or points", "gone")
        self.assert_refused("empty: found no scene.yaml in it, expected the folder of a run, or files of points", "empty")
        self.assert_refused("noframes/points: found no frames, expected points.####.vdb or .ply", "noframes")
        self.assert_refused("empty: found a folder among files", "p.0001.ply", "empty")
        self.assert_refused("notes.txt: found a file of unknown kind, expected points as .vdb or .ply", "notes.txt")
        self.assert_refused("found p.0001.ply and p.0002.vdb, expected files of one kind", "p.0001.ply", "p.0002.vdb")
        self.assert_refused("plain.ply: found no frame number in the name", "p.0001.ply", "plain.ply")
        self.assert_refused("both frame 1 and bound for o", "p.0001.ply", "q/p.0001.ply", "--out", "o")

    def test_attributes(self):
        rows = [(*position, 1.5, i) for i, position in enumerate(block(2))]
        p = self.points("p.0001.ply", rows, ("x", "y", "z", "heat", "part"))
        self.assert_refused("p.0001.ply: the points have no attribute radius or pscale of type float (found P, heat, part); give one, as in --set radius=", p)
        r = ["--set", "radius=0.06"]
        self.assert_refused("p.0001.ply: attributes: the points have no 'haet'; did you mean 'heat'? (they have P, heat, part)", p, *r, "--set", "attributes=part haet")
        self.assert_refused("p.0001.ply: group: found no group or int32 attribute 'wet' in the points, which have P, heat, part", p, *r, "--set", "group=wet")
        self.assert_refused("filters[0].mask: found 'heat', expected one of the attributes carried", p, *r, "--set", "filters=[{kind: mean, mask: heat}]")
        self.assert_refused("filters[0].mask: 'part' is int32, expected float", p, *r, "--set", "attributes=part", "--set", "filters=[{kind: mean, mask: part}]")
        self.points("p.0002.ply", rows, ("x", "y", "z", "heat", "part"))
        before = self.rheo("surface", p, *r, "--subframes", 2, code=2)[1]
        self.assertIn("p.0001.ply: a time between frames needs the velocities of the points: expected an attribute v", before)

    def test_damaged_files(self):
        self.rheo("run", scene("tiny3d.yaml"), "--out", "a", "--quiet", "--frames", "1")
        whole = (self.folder / "a/points/points.0001.vdb").read_bytes()
        for size in (0, 10, 1000, len(whole) // 2, len(whole) * 9 // 10):
            (self.folder / "cut.0001.vdb").write_bytes(whole[:size])
            self.assert_refused("cut.0001.vdb", "cut.0001.vdb")
        (self.folder / "cut.0001.ply").write_text("ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n")
        self.assert_refused("cut.0001.ply", "cut.0001.ply")
        # A level set is no set of points.
        self.rheo("surface", "a", "--quiet")
        self.assert_refused("holds no points grid; found surface", "a/surface/surface.0001.vdb", "--out", "b")

    def test_an_old_surface_survives_a_failure(self):
        p = self.points("p.0001.ply")
        self.rheo("surface", p, "--quiet")
        before = self.files("surface")
        self.assert_refused("heat", p, "--set", "attributes=heat")
        self.assertEqual(self.files("surface"), before)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    harness.RHEO = pathlib.Path(sys.argv.pop(1)).resolve()
    harness.SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
