# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Limits of time and memory, changed scenes, numbers that go wrong: what the program says and what is there afterwards."""
import json
import pathlib
import sys
import tempfile
import time
import unittest

import common

RHEO = SOURCE = None


class Limits(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory(prefix="limits-", dir=".", ignore_cleanup_errors=True)
        self.folder = pathlib.Path(self.holder.name).resolve()
        self.scene = SOURCE / "tests" / "reliability" / "scenes" / "splash.yaml"
        self.run_folder = self.folder / "run"

    def tearDown(self):
        self.holder.cleanup()

    def run_it(self, *more, code=0):
        return common.run(RHEO, self.scene, self.run_folder, *more, code=code)

    def checkpoints(self):
        return sorted(path.name for path in (self.run_folder / "checkpoint").glob("*.h5"))

    def expected(self, *more):
        common.run(RHEO, self.scene, self.folder / "whole", *more)
        return common.digest(self.folder / "whole")

    def log(self):
        return [json.loads(line) for line in (self.run_folder / "log.jsonl").read_text().splitlines()]

    def test_minutes(self):
        """Minutes bring checkpoints inside frames, where frames alone would bring none; two are kept."""
        self.run_it("--set", "checkpoint.frames=0", "--set", "checkpoint.minutes=0", "--frames", "1-4")
        self.assertEqual(len(self.checkpoints()), 1)  # of the end
        self.run_it("--force", "--set", "checkpoint.frames=0", "--set", "checkpoint.minutes=1e-6", "--frames", "1-4")
        steps = self.log()[-1]["step"]
        self.assertEqual(self.checkpoints(), [f"checkpoint.0004-{steps - 1:09d}.h5", f"checkpoint.0004.{steps:09d}.h5"])

    def test_max_time(self):
        """Stops in time, again and again, and all of it is the run that was never stopped."""
        expected = self.expected("--set", "cell=0.02")
        goes, code = 0, 3
        while code == 3:
            start = time.monotonic()
            done = self.run_it("--set", "cell=0.02", "--max-time", "1s", *(["--resume"] if goes else []), code=None)
            code, goes = done.returncode, goes + 1
            self.assertIn(code, (0, 3), done.stderr)
            self.assertLess(time.monotonic() - start, 60)  # no promise on a busy machine, but no hang either
            self.assertGreater(len(self.checkpoints()), 0)
            self.assertLess(goes, 200)
        common.compare(expected, self.run_folder, f"after {goes} goes")

    def test_no_time_at_all(self):
        self.run_it("--max-time", "0.001s", code=3)
        self.assertEqual(len(self.checkpoints()), 1)
        self.run_it("--resume")
        common.compare(self.expected(), self.run_folder, "after a start without time")

    def test_words(self):
        for option, value, words in (("--max-time", "10", "expected a time with its unit"), ("--max-time", "1:75", "expected a time"),
                                     ("--max-time", "-3s", "expected a time"), ("--memory", "8", "expected a size with its unit"),
                                     ("--memory", "8X", "expected a size"), ("--memory", "8GX", "expected a size"), ("--memory", "G", "expected a size"),
                                     ("--memory", "10M", "expected more than")):
            with self.subTest(value=value):
                self.assertIn(words, self.run_it(option, value, code=2).stderr)
        self.assertFalse(self.run_folder.exists())
        for value in ("300m", "2h", "1:00:00", "20:30"):
            self.run_it("--max-time", value, "--force", "--frames", "1-2")
        for value in ("1G", "1GB", "1GiB", "1.5g", "900MB"):
            self.run_it("--memory", value, "--force", "--frames", "1-2")

    def test_memory(self):
        done = self.run_it("--memory", "200M", "--set", "cell=0.0005", code=1)
        self.assertRegex(done.stderr, r"[\d.e+]+ particles will need about \d+ MB of memory, and there are \d+ MB")
        self.assertFalse(self.run_folder.exists())

    def test_changed_scene(self):
        self.run_it("--frames", "1-4")
        before = common.digest(self.run_folder)
        heavier = ["--set", "gravity=[0, -20, 0]"]
        done = self.run_it("--resume", *heavier, code=2)
        self.assertIn('it was "gravity: [0, -9.81, 0]", it is "gravity: [0, -20, 0]"', done.stderr)
        self.assertIn("--changed", done.stderr)
        self.assertEqual(common.digest(self.run_folder), before)
        self.assertIn("expected both", self.run_it("--changed", *heavier, code=2).stderr)
        done = self.run_it("--resume", "--changed", *heavier)
        self.assertRegex(done.stderr, r"warning: .*checkpoint\.0004\.\d+\.h5 was made from a different scene")
        after, same = common.digest(self.run_folder), self.expected()
        self.assertEqual({name: after[name] for name in before}, before)
        self.assertTrue(all(after[name] != same[name] for name in after if name not in before))
        # From here on it is the changed scene that goes on.
        self.run_it("--resume", *heavier)
        self.run_it("--resume", code=2)

    def test_changes_that_cannot_go_on(self):
        self.run_it("--frames", "1-3")
        for change, words in (("cell=0.03", "cell, dimension and particles_per_axis must stay"), ("frames.fps=48", "frames.fps must stay"),
                              ("emitters=[]", "has 1 emitters, the scene 0"), ("physics={liquid: {transfer: apic, particles_per_axis: 3}}", "has no 'C'")):
            with self.subTest(change=change):
                self.assertIn(words, self.run_it("--resume", "--changed", "--set", change, code=2).stderr)
        for path in (self.run_folder / "checkpoint").iterdir():
            path.unlink()
        self.assertIn("no checkpoint that a changed scene", self.run_it("--resume", "--changed", "--set", "seed=2", code=2).stderr)

    def test_health(self):
        """Something too fast: step, place and advice, the particles to look at, the last good checkpoint; exit 1."""
        done = common.run(RHEO, self.scene, self.run_folder, "--set", "limits.speed=2.5", code=1)
        self.assertRegex(done.stderr, r"error: step \d+ at time [\d.]+ s: a particle moves at [\d.]+ m/s, faster than limits.speed \(2.5 m/s\)\n"
                                      r"  the fastest particle: id \d+ at \(.*\) m with velocity \(.*\) m/s\n  look for ")
        debug = list((self.run_folder / "debug").iterdir())
        self.assertEqual(len(debug), 1)
        self.assertRegex(debug[0].name, r"^points\.\d{4}\.ply$")
        # With the limit lifted the run goes on: limits do not change the result.
        self.run_it("--resume")
        common.compare(self.expected(), self.run_folder, "after the limit was lifted")
        self.run_it("--force", "--frames", "1-2")
        self.assertEqual(list((self.run_folder / "debug").iterdir()), [])

    def test_says_which_checkpoint(self):
        self.run_it("--frames", "1-6")
        newest = self.checkpoints()[-1]
        done = common.subprocess.run([RHEO, "run", str(self.scene), "--out", str(self.run_folder), "--resume"], capture_output=True, text=True,
                                     env=common.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"resuming from {self.run_folder}/checkpoint/{newest}: frame 6, step ", done.stderr)


if __name__ == "__main__":
    RHEO, SOURCE = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
