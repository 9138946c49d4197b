#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Programs of scenes from outside: the tutorial's scenes, runs that a program ends, resuming, surfaces with programs, what is reported.

usage: test_expressions.py RHEO SOURCE_DIR [unittest options]
"""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import harness  # noqa: E402
from harness import Case, scene  # noqa: E402

# What each scene of the tutorial adds to its points, and a coarser cell to be quick.
TUTORIAL = {"colour_by_speed": (0.06, ["heat", "Cd"]), "delete_outside": (0.06, []), "curl_noise": (0.08, []),
            "sleeping": (0.06, ["rest", "asleep"]), "splash_mask": (0.08, []), "ocean": (0.2, [])}


class Expressions(Case):
    def write(self, expressions, name="with.yaml", base="tiny3d.yaml"):
        """A small scene with these lines as its programs."""
        text = scene(base).read_text() + "\nexpressions:\n" + expressions
        (self.folder / name).write_text(text)
        return name

    def log(self, run):
        return [json.loads(line) for line in (self.folder / run / "log.jsonl").read_text().splitlines()]

    def test_tutorial(self):
        folder = harness.SOURCE / "scenes/expressions"
        self.assertEqual(sorted(TUTORIAL), sorted(path.stem for path in folder.glob("*.yaml")))
        for name, (cell, attributes) in TUTORIAL.items():
            with self.subTest(scene=name):
                self.rheo("run", folder / f"{name}.yaml", "--out", name, "--quiet", "--frames", "1-4", "--set", f"cell={cell}")
                out, _ = self.rheo("info", f"{name}/points/points.0004.vdb")
                for attribute in attributes:
                    self.assertRegex(out, rf"(?m)\b{attribute}\b")
        self.rheo("surface", "splash_mask", "--quiet", "--mesh", "--frames", "4")
        header = (self.folder / "splash_mask/surface/surface.0004.ply").read_bytes()[:2000]
        self.assertIn(b"mask", header)

    def test_deleting(self):
        path = harness.SOURCE / "scenes/expressions/delete_outside.yaml"
        self.rheo("run", path, "--out", "d", "--quiet", "--frames", "1-14", "--set", "cell=0.06", "--set", "expressions.outside.set.reach=0.3")
        last = self.log("d")[-1]
        self.assertGreater(last["removed"], 50)
        first = self.log("d")[0]
        self.assertEqual(last["particles"] + last["removed"], first["particles"] + first["removed"])

    def test_a_program_ends_the_run(self):
        """Exit 1, the place in the file, the checkpoints before it kept, and the run goes on once the budget is raised."""
        code = (" - name: slow\n   at: frame\n   budget: 100\n   code: |\n     int n = $frame > 3.5f ? 1000 : 10;\n"
                "     for (int i = 0; i < n; ++i) f@sum += 1;\n")
        name = self.write(code)
        line = (self.folder / name).read_text().splitlines().index("     for (int i = 0; i < n; ++i) f@sum += 1;") + 1
        _, err = self.rheo("run", name, "--out", "a", "--quiet", "--frames", "1-6", "--set", "checkpoint.frames=1", code=1)
        self.assertIn(f"with.yaml:{line}:6: expressions[0] ('slow') at step", err)
        self.assertIn("more than 100 steps", err)
        self.assertIn("the last good checkpoint is a/checkpoint/checkpoint.0003", err)
        self.assertEqual(self.frames("a"), [1, 2, 3])
        # The same scene fails at the same place again; another is another run.
        _, again = self.rheo("run", name, "--out", "a", "--quiet", "--frames", "1-6", "--resume", "--set", "checkpoint.frames=1", code=1)
        self.assertIn("more than 100 steps", again)
        _, other = self.rheo("run", name, "--out", "a", "--quiet", "--resume", "--set", "expressions.slow.budget=5000", code=2)
        self.assertIn("the scene differs from the one", other)

    def test_a_file_of_its_own(self):
        """The run's scene holds the program itself, so the run does not need the file any more; another program is another scene."""
        (self.folder / "kick.ax").write_text("// a kick\nv@v.y += 0.5f;\n")
        name = self.write(" - {at: start, file: kick.ax}\n")
        self.rheo("run", name, "--out", "a", "--quiet", "--frames", "1-2")
        written = (self.folder / "a/scene.yaml").read_text()
        self.assertRegex(written, r"(?m)^ +code: \|2 +#.*\n +// a kick\n +v@v\.y \+= 0\.5f;\n")
        (self.folder / "kick.ax").unlink()
        self.rheo("run", "a/scene.yaml", "--out", "b", "--quiet", "--frames", "1-2")
        self.assertEqual(self.hashes("a"), self.hashes("b"))
        (self.folder / "kick.ax").write_text("v@v.y += 0.6f;\n")
        _, err = self.rheo("run", name, "--out", "a", "--resume", code=2)
        self.assertIn("the scene differs from the one", err)

    def test_resuming_after_control_c(self):
        name = self.write(" - {at: forces, code: 'v@v += (curlnoise(v@P * 9) * rand() * 20) * $dt; f@n += 1;'}\n - {at: frame, code: 'f@k += $frame; if (rand() < 0.01) deletepoint();'}\n")
        self.rheo("run", name, "--out", "whole", "--quiet", "--frames", "1-8")
        code, err = self.interrupt_at(3, "run", name, "--out", "two", "--quiet", "--frames", "1-8")
        self.assertIn(code, (0, 3), err)
        self.rheo("run", name, "--out", "two", "--quiet", "--frames", "1-8", "--resume")
        self.assertEqual(self.hashes("whole"), self.hashes("two"))

    def test_what_is_reported(self):
        name = self.write(" - {at: step, code: 'f@a += rand(); if (int64@id == 5l) print(f@a);'}\n")
        _, err = self.rheo("run", name, "--out", "a", "--frames", "1-3")
        self.assertRegex(err, r"expressions\[0\]: 0\.\d+")
        for line in self.log("a"):
            self.assertEqual(list(line["stages"])[-1], "expressions")
            self.assertLessEqual(sum(line["stages"].values()), line["seconds"] * 1.05 + 1e-3)
            if "peaks" in line:
                self.assertGreater(line["compile_seconds"], 0)
        out, _ = self.rheo("info", "a")
        self.assertRegex(out, r"(?m)^  expressions +")
        self.assertRegex(out, r"(?m)^  compiling programs +\d+\.\d+ s$")

    def test_surface(self):
        """--expression and the scene's section say the same; radii and deletion show; wrong programs leave nothing behind."""
        code = "f@height = v@P.y; if (v@P.y > 0.2f) deletepoint();"
        text = scene("tiny3d.yaml").read_text() + f"\nsurface: {{attributes: height, while_running: true, expression: '{code}'}}\n"
        (self.folder / "s.yaml").write_text(text)
        self.rheo("run", "s.yaml", "--out", "a", "--quiet", "--frames", "1-2")
        self.rheo("run", scene("tiny3d.yaml"), "--out", "b", "--quiet", "--frames", "1-2")
        self.rheo("surface", "b", "--quiet", "--expression", code, "--set", "attributes=height")
        for frame in (1, 2):
            name = f"surface/surface.{frame:04d}.vdb"
            self.assertEqual((self.folder / "a" / name).read_bytes(), (self.folder / "b" / name).read_bytes())
        plain, _ = self.rheo("surface", "b", "--quiet", "--json", "--frames", "2", "--out", "c", "--mode", "sphere")
        fat, _ = self.rheo("surface", "b", "--quiet", "--json", "--frames", "2", "--out", "d", "--mode", "sphere", "--expression", "f@radius *= 1.5f;")
        self.assertGreater(json.loads(fat)["volume"], 1.1 * json.loads(plain)["volume"])
        for wrong, words in (("f@a = lenth(v@v);", "surface.expression:1:7: error: there is no function lenth( ) (did you mean length?)"),
                             ("f@a = f@preshure;", "there is no attribute \"preshure\""), ("v@id = 1;", "the attribute \"id\" is of type int64"),
                             ("while (true) f@a += 1;", "1:1: an element took more than")):
            _, err = self.rheo("surface", "b", "--quiet", "--out", "none", "--expression", wrong, code=2)
            self.assertIn(words, err)
            self.assertFalse((self.folder / "none").exists())


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    harness.RHEO = pathlib.Path(sys.argv.pop(1)).resolve()
    harness.SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
