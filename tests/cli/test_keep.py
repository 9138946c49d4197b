#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Nothing is lost: no command writes over or removes a file that Rheo did not make, nor what people edited, nor its own input; frames that
went missing are made again; frames drawn alone are those drawn together.

usage: test_keep.py RHEO SOURCE_DIR [unittest options]
"""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import harness  # noqa: E402
from harness import Case, scene  # noqa: E402


class Keep(Case):
    def run_tiny(self, out, *more, code=0):
        return self.rheo("run", scene("tiny2d.yaml"), "--out", out, "--quiet", *more, code=code)

    def write(self, path, text="not yours"):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_own_scene(self):
        """A scene of the user's own in the run folder, which may be the scene that is run."""
        text = "# my own words\n" + scene("tiny2d.yaml").read_text()
        mine = self.write("scene.yaml", text)
        for options in ([], ["--force"], ["--resume"]):
            _, err = self.rheo("run", "scene.yaml", "--out", ".", "--frames", "1-2", *options, code=2)
            self.assertIn("scene.yaml: found a scene that is not of a run", err)
            self.assertIn("--out DIR", err)
            self.assertEqual(mine.read_text(), text)
        self.assertEqual(os.listdir(self.folder), ["scene.yaml"])

    def test_own_log_and_frames(self):
        for name in ("log.jsonl", "points/points.0002.vdb", "points/points.0007.ply", ".lock"):
            with self.subTest(name=name):
                folder = pathlib.Path(name.replace("/", "_"))
                mine = self.write(folder / name)
                for options in ([], ["--force"], ["--resume"]):
                    _, err = self.run_tiny(folder, "--frames", "1-3", *options, code=2)
                    self.assertIn(name if not name.startswith("points") or options else "points", err)
                    self.assertEqual(mine.read_text(), "not yours")
                    self.assertEqual([p for p in (self.folder / folder).rglob("*") if p.is_file()], [mine])

    def test_own_surfaces_of_a_run(self):
        mine = self.write("a/surface/surface.0002.vdb")
        more = ["--set", "surface.while_running=true", "--frames", "1-2"]
        self.assertIn("surface.0002.vdb", self.run_tiny("a", *more, code=2)[1])
        self.assertEqual(mine.read_text(), "not yours")

    def test_force_takes_only_its_own(self):
        self.run_tiny("a", "--frames", "1-4")
        self.rheo("surface", "a", "--mesh", "--quiet")
        self.rheo("render", "a", "--quick", "--size", "32x32", "--frames", "1")
        made = [p for p in (self.folder / "a").rglob("*.0*") if p.is_file()]
        self.assertEqual(len(made), 4 + 8 + 1 + 1)
        names = ["picture/picture.9999.psd", "surface/surface.0001.blend", "checkpoint/keep.h5", "points/points.0001.txt", "picture/picture.0042.png",
                 "surface/surface.0009.ply", "points/backup.0077.vdb", "picture/film.mp4", "notes.tmp-99999999999999", "checkpoint/checkpoint.mine.h5",
                 "checkpoint/checkpoint.0002.000000003.copy.h5"]
        kept = [self.write(f"a/{name}") for name in names]
        self.run_tiny("a", "--frames", "1-2", "--force")
        for path in kept:
            self.assertEqual(path.read_text(), "not yours", path)
        self.assertEqual(self.frames("a"), [1, 2])
        self.assertEqual([p for p in made if p.exists() and p.parent.name in ("surface", "picture")], [])
        # Checkpoints are pruned as a run goes on; those somebody keeps are not.
        self.run_tiny("a", "--resume", "--set", "checkpoint.keep=1", "--set", "checkpoint.frames=1")
        for path in kept:
            self.assertEqual(path.read_text(), "not yours", path)

    def test_pictures_and_surfaces_over_others(self):
        self.run_tiny("a", "--frames", "1-2")
        for name, command in (("p/picture.0001.png", ["render", "a", "--quick", "--size", "32x32", "--out", "p"]),
                              ("f/film.mp4", ["render", "a", "--quick", "--size", "32x32", "--film", "--out", "f"]),
                              ("s/surface.0001.vdb", ["surface", "a", "--out", "s"]), ("m/surface.0001.ply", ["surface", "a", "--mesh", "--out", "m"])):
            with self.subTest(name=name):
                mine = self.write(name)
                self.assertIn("was not made by rheo", self.rheo(*command, code=2)[1])
                self.assertEqual(mine.read_text(), "not yours")
                mine.unlink()
                for _ in range(2):  # what is ours is simply made again
                    self.rheo(*command)

    def test_surface_of_a_surface(self):
        self.run_tiny("a", "--frames", "1-2")
        self.rheo("surface", "a", "--mesh", "--quiet", "--out", "x")
        file = self.folder / "x/surface.0002.ply"
        before = file.read_bytes()
        (self.folder / "link").symlink_to("x")
        for out in ("x", "link"):
            _, err = self.rheo("surface", "x/surface.0002.ply", "--set", "radius=0.01", "--mesh", "--out", out, code=2)
            self.assertIn("would be replaced", err)
            self.assertEqual(file.read_bytes(), before)
        # The result of one file may be another file that was named.
        (self.folder / "y").mkdir()
        points = (self.folder / "a/points/points.0001.vdb").read_bytes()
        (self.folder / "y/drop.0002.vdb").write_bytes(points)
        (self.folder / "y/surface.0001.vdb").write_bytes(points)
        (self.folder / "y/surface.0002.vdb").write_bytes(points)
        self.rheo("surface", "y/drop.0002.vdb", "y/surface.0001.vdb", "--out", "y", code=2)
        self.assertEqual((self.folder / "y/surface.0001.vdb").read_bytes(), points)

    def test_ax_into_the_folder_of_its_input(self):
        self.run_tiny("a", "--frames", "1-2")
        before = (self.folder / "a/points/points.0001.vdb").read_bytes()
        _, err = self.rheo("ax", "deletepoint();", "a/points/points.0001.vdb", "a/points/points.0002.vdb", "-o", "a/points/", code=2)
        self.assertIn("would be replaced", err)
        self.assertEqual((self.folder / "a/points/points.0001.vdb").read_bytes(), before)

    def edit(self, path, old, new):
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))
        return path.read_text()

    def test_edited_look(self):
        self.run_tiny("a", "--frames", "1-2")
        path = self.folder / "a/scene.yaml"
        edited = self.edit(path, "fov: 30", "fov: 55  # a wider one;")
        self.run_tiny("a", "--frames", "1-3", "--resume")
        self.assertEqual(path.read_text(), edited)
        # The scene of the run itself says the same.
        self.rheo("run", "a/scene.yaml", "--out", "a", "--frames", "1-4", "--resume", "--quiet")
        self.assertEqual(path.read_text(), edited)
        # When something else changes the look stays, and so do the user's words, beside it.
        self.run_tiny("a", "--frames", "1-5", "--resume", "--set", "title=another")
        self.assertRegex(path.read_text(), "fov: 55 ")
        self.assertIn("another", path.read_text())
        self.assertEqual((self.folder / "a/scene.edited.yaml").read_text(), edited)
        # Starting over starts with the scene's look, and again nothing is lost.
        edited = self.edit(path, "fov: 55", "fov: 65")
        self.run_tiny("a", "--frames", "1-2", "--force")
        self.assertRegex(path.read_text(), "fov: 30 ")
        self.assertEqual((self.folder / "a/scene.edited.2.yaml").read_text(), edited)

    def test_look_of_the_scene_reaches_a_file_nobody_edited(self):
        self.run_tiny("a", "--frames", "1-2")
        self.run_tiny("a", "--frames", "1-3", "--resume", "--set", "look.camera.fov=44")
        self.assertRegex((self.folder / "a/scene.yaml").read_text(), "fov: 44 ")
        self.assertFalse((self.folder / "a/scene.edited.yaml").exists())

    def test_missing_frames(self):
        self.run_tiny("a", "--set", "frames.last=9")
        expected = self.hashes("a")
        last = max(expected)
        log = (self.folder / "a/log.jsonl").read_text()
        stamps = {p: p.stat().st_mtime_ns for p in (self.folder / "a").rglob("*.*") if p.is_file() and p.name != "scene.yaml"}
        for gone in ([1], [3, 5], [last], [1, 2, last - 1]):
            with self.subTest(gone=gone):
                for frame in gone:
                    (self.folder / f"a/points/points.{frame:04d}.vdb").unlink()
                _, err = self.rheo("run", scene("tiny2d.yaml"), "--out", "a", "--resume", "--set", "frames.last=9")
                self.assertIn("missing", err)
                self.assertNotIn("nothing was left", err)
                self.assertEqual(self.hashes("a"), expected)
                self.assertEqual((self.folder / "a/log.jsonl").read_text(), log)
                for path, stamp in stamps.items():
                    if path.parent.name != "points" and path.name != "log.jsonl":
                        self.assertEqual(path.stat().st_mtime_ns, stamp, path)
        (self.folder / "a/points/points.0004.vdb").write_bytes(b"")  # nothing is in it
        self.rheo("run", scene("tiny2d.yaml"), "--out", "a", "--resume", "--set", "frames.last=9")
        self.assertEqual(self.hashes("a"), expected)
        self.assertIn("nothing was left", self.rheo("run", scene("tiny2d.yaml"), "--out", "a", "--resume", "--set", "frames.last=9")[1])

    def test_missing_frame_of_a_run_that_was_stopped(self):
        self.run_tiny("whole", "--frames", "1-9")
        self.run_tiny("a", "--frames", "1-7")
        (self.folder / "a/points/points.0002.vdb").unlink()
        self.run_tiny("a", "--frames", "1-9", "--resume")
        self.assertEqual(self.hashes("a"), self.hashes("whole"))

    def test_missing_surface(self):
        more = ["--frames", "1-4", "--set", "surface.while_running=true"]
        self.run_tiny("a", *more)
        file = self.folder / "a/surface/surface.0002.vdb"
        before = file.read_bytes()
        file.unlink()
        self.run_tiny("a", *more, "--resume")
        self.assertEqual(file.read_bytes(), before)

    def test_all_checkpoints_bad(self):
        self.run_tiny("a", "--frames", "1-4")
        for path in self.checkpoints("a"):
            path.write_bytes(b"no good")
        _, err = self.run_tiny("a", "--resume", code=1)
        self.assertIn("remove the folder `checkpoint`", err)
        self.assertIn("--force", err)

    def test_list_of_frames(self):
        self.run_tiny("a", "--frames", "2,5-6,4")
        self.assertEqual(self.frames("a"), [2, 4, 5, 6])
        self.run_tiny("whole", "--frames", "1-6")
        expected = self.hashes("whole")
        self.assertEqual(self.hashes("a"), {f: expected[f] for f in (2, 4, 5, 6)})
        self.assertIn("nothing was left", self.rheo("run", scene("tiny2d.yaml"), "--out", "a", "--frames", "2,5-6,4", "--resume")[1])
        self.rheo("surface", "a", "--frames", "2,6", "--quiet")
        self.assertEqual(sorted(os.listdir(self.folder / "a/surface")), ["surface.0002.vdb", "surface.0006.vdb"])
        out, _ = self.rheo("render", "a", "--frames", "4,6-9", "--quick", "--size", "32x32")
        self.assertEqual(out.split(), ["a/picture/picture.0004.png", "a/picture/picture.0006.png"])
        for words in ("1,", ",1", "1,,2", "1-2-3", "1 2", "3,2-1", ",".join(["1"] * 65)):
            self.assertIn("--frames", self.rheo("render", "a", "--frames", words, code=2)[1])


class Farm(Case):
    """A picture is the same whoever draws which others beside it, and whoever has made a mesh meanwhile."""

    def pictures(self, out, *more):
        self.rheo("render", "a", "--size", "64x48", "--samples", "2", "--out", out, *more)
        return {p.name: p.read_bytes() for p in (self.folder / out).glob("*.png")}

    def test_same_bytes(self):
        self.rheo("run", scene("tiny3d.yaml"), "--out", "a", "--quiet", "--set", "rest_position=true", "--set", "frames.last=5", "--set", "solids=[]")
        for number, more in enumerate(([], ["--quick"], ["--what", "points"], ["--what", "surface", "--attribute", "rest.y"])):
            with self.subTest(more=more):
                together = self.pictures(f"all{number}", *more)
                self.assertEqual(len(together), 5)
                self.assertEqual(len(set(together.values())), 5)
                for frames in ("1", "4", "2,5"):
                    for name, picture in self.pictures(f"some{number}_{frames}", "--frames", frames, *more).items():
                        self.assertEqual(picture, together[name], name)
        together = self.pictures("before")
        self.rheo("surface", "a", "--mesh", "--frames", "1,5", "--quiet")
        self.assertEqual(self.pictures("after")["picture.0003.png"], together["picture.0003.png"])


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    harness.RHEO = pathlib.Path(sys.argv.pop(1)).resolve()
    harness.SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
