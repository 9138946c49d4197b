#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""The program from outside: arguments, exit codes, messages, files, stopping and going on.

usage: test_cli.py RHEO SOURCE_DIR [unittest options]
"""
import concurrent.futures
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import harness  # noqa: E402
from harness import Case, expectations, scene  # noqa: E402

LONG = bool(os.environ.get("RHEO_LONG"))  # also what takes minutes
COMMANDS = ["run", "check", "info", "surface", "render", "view", "doc"]


class Log(Case):
    def test_energy_of_a_falling_drop(self):
        """Without solids a drop falls freely: what it loses in height it gains in speed."""
        (self.folder / "drop.yaml").write_text("rheo: 1\ncell: 0.05\nframes: {last: 6}\nphysics: {liquid: {density: 800}}\n"
                                               "bodies:\n - {shape: {sphere: {center: [0, 2, 0], radius: 0.2}}}\n")
        self.rheo("run", "drop.yaml", "--out", "drop", "--quiet")
        steps = [json.loads(line) for line in (self.folder / "drop/log.jsonl").read_text().splitlines()]
        ends = [step for step in steps if "kinetic_energy" in step]
        self.assertEqual([step["frame"] for step in ends], [2, 3, 4, 5, 6])
        mass = 800 * 0.025 ** 3 * ends[0]["particles"]
        for step in ends:
            speed = 9.81 * (step["time"] - step["dt"] / 2)  # velocities are half a step behind positions
            self.assertAlmostEqual(step["kinetic_energy"] / (0.5 * mass * speed ** 2), 1, 3)
            height = 2 - 0.5 * 9.81 * step["time"] ** 2
            self.assertAlmostEqual(step["potential_energy"] / (mass * 9.81 * height), 1, 3)
            # Nothing but gravity acts: no energy comes or goes, and no momentum.
            self.assertAlmostEqual(step["energy_put_in"] / (mass * 9.81 * 2), 1, 3)
            self.assertLess(abs(step["energy_gained"]), 2e-3 * mass * 9.81 * 2)  # g dt^2 / 8 of height
            self.assertAlmostEqual(step["momentum_y"] / (-mass * speed), 1, 3)
            for axis in "xyz":
                self.assertLess(abs(step[f"pushed_{axis}"]), 1e-3 * mass * speed)
        out, _ = self.rheo("info", "drop")
        self.assertRegex(out, r"frame ends +least +mean +most +last\n +kinetic J .*\n +potential J .*\n +put in J .*\n +gained J ")
        self.assertRegex(out, r"\n +momentum y .*\n")

    def test_a_splash_reports_what_it_takes_up(self):
        """The volume of a splash is what it takes up, not its mass: it differs a little from what was put in, and more where particles are lost."""
        (self.folder / "splash.yaml").write_text("rheo: 1\ncell: 0.05\ndimension: 2\nframes: {last: 6}\nphysics: {splash: {}}\n"
                                                 "bodies:\n - {shape: {box: {min: [0, 0, 0], max: [1, 0.513, 1]}}}\n"
                                                 "solids:\n - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 1, 1]}}}\n")
        self.rheo("run", "splash.yaml", "--out", "splash", "--quiet")
        steps = [json.loads(line) for line in (self.folder / "splash/log.jsonl").read_text().splitlines()]
        for step in steps:
            self.assertAlmostEqual(step["volume"], 0.513, delta=0.05 * 0.15)
            self.assertNotEqual(step["volume_error"], 0)
        # A closed tank: energy only falls, but for rounding, and walls push by the weight.
        weight = 9.81 * 1000 * 0.513
        for step in steps:
            if "energy_gained" in step:
                self.assertLess(step["energy_gained"], 1e-3 * weight)
                self.assertAlmostEqual(step["pushed_y"] / (weight * (step["time"] - step["dt"] / 2)), 1, delta=0.1)


class Usage(Case):
    def test_no_command(self):
        _, err = self.rheo(code=2)
        for command in COMMANDS:
            self.assertIn(f"rheo {command}", err)

    def test_help_of_every_command(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                out, err = self.rheo("help", command)
                self.assertTrue(out.startswith(f"rheo {command} "), out)
                self.assertIn("--help", out)
                self.assertEqual(err, "")
                self.assertEqual(self.rheo(command, "--help")[0], out)
                self.assertEqual(self.rheo(command, "-h")[0], out)
        self.assertEqual(self.rheo("--help")[0], self.rheo("help")[0])

    def test_version(self):
        out, _ = self.rheo("--version")
        for library in ("OpenVDB", "HDF5", "libyaml", "libpng", "OpenMP"):
            self.assertRegex(out, rf"{library}\s+\d")
        self.assertRegex(out, r"^rheo \d+\.\d+\.\d+ \(\w+ build")

    def test_mistakes(self):
        tiny = scene("tiny2d.yaml")
        for words, expected in [
            (["rnu"], 'did you mean "run"'),
            (["help", "chekc"], 'did you mean "check"'),
            (["run"], "found no SCENE"),
            (["run", tiny, tiny], "only one SCENE"),
            (["run", tiny, "--ou", "x"], "did you mean --out"),
            (["run", tiny, "--resmue"], "did you mean --resume"),
            (["run", tiny, "--out"], "expected DIR"),
            (["run", tiny, "--out="], "expected DIR"),
            (["run", tiny, "--threads", "0"], "whole number from 1"),
            (["run", tiny, "--threads", "two"], "whole number from 1"),
            (["run", tiny, "--threads", "99999999999999999999"], "whole number from 1"),
            (["run", tiny, "--frames", "5-2"], "first frame not after the last"),
            (["run", tiny, "--frames", "1-x"], "expected A-B"),
            (["run", tiny, "--frames", "-3"], "expected A-B"),
            (["run", tiny, "--frames", "0-3"], "frames from 1"),
            (["run", tiny, "--resume", "--force"], "only one of them"),
            (["run", tiny, "--quiet=yes"], "takes no value"),
            (["run", tiny, "-q"], "two dashes"),
            (["run", ""], "empty name"),
            (["render", "x", "--size", "10"], "expected WxH"),
            (["render", "x", "--size", "0x10"], "expected WxH"),
            (["doc", "no-such-topic-at-all"], "no-such-topic-at-all"),
            (["doc", "comands"], "rheo doc commands"),
            (["doc", "function"], "rheo doc functions"),
        ]:
            with self.subTest(words=words):
                out, err = self.rheo(*words, code=2)
                self.assertIn(expected, err)
                self.assertEqual(out, "")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_operand_after_two_dashes(self):
        self.assertIn("--odd", self.rheo("info", "--", "--odd", code=1)[1])

    def test_doc(self):
        self.assertIn("rheo doc commands", self.rheo("doc")[0])
        plain, markdown = self.rheo("doc", "commands")[0], self.rheo("doc", "commands", "--markdown")[0]
        for command in COMMANDS:
            self.assertIn(f"rheo {command}", plain)
            self.assertIn(f"## rheo {command}", markdown)
        self.assertIn("particles_per_axis", self.rheo("doc", "liquid")[0])
        self.assertIn("normalize: the vector divided by its length", self.rheo("doc", "functions")[0])
        self.assertIn("| `normalize` |", self.rheo("doc", "functions", "--markdown")[0])
        self.assertIn("particles_per_axis", self.rheo("doc", "liquid", "--markdown")[0])

    def test_full_disk_behind_stdout(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([str(harness.RHEO), "doc", "commands"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot be written", done.stderr)


class Check(Case):
    def test_all_scenes(self):
        scenes = sorted((harness.SOURCE / "scenes").glob("*.yaml")) + [scene("tiny2d.yaml"), scene("tiny3d.yaml")]
        scenes += [scene("tiny_splash.yaml"), *sorted((harness.SOURCE / "scenes/splash/small").glob("*.yaml"))]
        scenes += sorted((harness.SOURCE / "scenes/sand/small").glob("*.yaml")) + sorted((harness.SOURCE / "scenes/small").glob("*.yaml"))
        self.assertGreater(len(scenes), 10)
        with_mesh = self.folder / "with_mesh.yaml"
        with_mesh.write_text("rheo: 1\ncell: 0.1\nphysics: {liquid: {}}\nframes: {last: 3}\nbodies: [{shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]\n"
                             f"solids: [{{shape: {{mesh_sequence: {{files: {harness.SOURCE}/scenes/meshes/fish/fish.####.ply, fps: 30}}}}}}]\n")
        for path in [*scenes, with_mesh]:
            # To measure what is inside of a mesh takes seconds.
            quick = path == with_mesh or not ("mesh" in path.read_text() or path.name.startswith("figure"))
            if path.name in ("figure_sand_rough.yaml", "figure_water.yaml") and not LONG:
                continue  # the mesh of figure_sand.yaml
            with self.subTest(scene=path.name):
                out, err = self.rheo("check", path)
                for row in ("particles", "grid cells", "grid tiles", "memory", "disk", "frames"):
                    self.assertRegex(err, rf"(?m)^  {row}.* \d")
                if not quick and not LONG:
                    continue
                # What was printed is a scene, and a complete one: reading it changes nothing.
                again = self.folder / "again.yaml"
                again.write_text(out)
                strip = lambda text: [line for line in text.splitlines() if not line.startswith("#")]
                self.assertEqual(strip(self.rheo("check", again)[0]), strip(out))

    def test_several_scenes(self):
        """All are checked, also those after one that is wrong; none is printed in full."""
        out, err = self.rheo("check", scene("tiny2d.yaml"), "missing.yaml", scene("tiny_splash.yaml"), code=2)
        self.assertEqual(out, "")
        self.assertEqual([line.split(": ", 1)[-1] for line in err.splitlines() if line.endswith(": fine")], ["fine", "fine"])
        self.assertRegex(err, r"(?s)tiny2d\.yaml: fine.*rheo: error: missing\.yaml.*tiny_splash\.yaml: fine")

    def test_prediction_is_the_count(self):
        # 25 x 25 cells with 4 particles each; half a cell of slack at the borders of the box.
        _, err = self.rheo("check", scene("tiny2d.yaml"), "--quiet")
        particles = int(re.search(r"particles at the start +([\d ]+)", err).group(1).replace(" ", ""))
        self.assertLess(abs(particles - 2500), 120)
        # What a body asks for, measured to the millimetre, and what it gets: to one particle, here of 1e-4 m^2 each.
        name = self.folder / "millimetres.yaml"
        name.write_text("rheo: 1\ncell: 0.02\ndimension: 2\nphysics: {liquid: {}}\n"
                        "bodies: [{name: column, shape: {box: {min: [0, 0, 0], max: [0.503, 0.407, 1]}}}]\n"
                        "emitters: [{name: slot, velocity: [2, 0, 0], stop: 0.5, shape: {box: {min: [1, 0, 0], max: [1.1, 0.046, 1]}}}]\n")
        _, err = self.rheo("check", name, "--quiet")
        self.assertRegex(err, r"body 0 column +0\.204721 m\^2 asked for, 2 047 particles of 0\.2047 m\^2")
        self.assertRegex(err, r"emitter 0 slot +0\.092 m\^2/s, 0\.0506 m\^2 by the last frame, 506 particles of 0\.0506 m\^2")
        self.assertEqual(self.rheo("check", scene("tiny2d.yaml"), "--quiet")[0], "")

    def test_sand_is_that_of_the_source(self):
        """The published numbers of particles, within 1 %: of the column and of the figure, in every material; and the hourglass is one in two dimensions, too."""
        expected = {"column": 433479, "column_source": 433479, "column_water": 433479, "figure_sand": 269322, "figure_sand_rough": 269322, "figure_water": 269322}
        for name, count in expected.items():
            if name in ("figure_sand_rough", "figure_water") and not LONG:
                continue
            with self.subTest(scene=name):
                _, err = self.rheo("check", harness.SOURCE / f"scenes/sand/{name}.yaml", "--quiet")
                particles = int(re.search(r"particles at the start +([\d ]+)", err).group(1).replace(" ", ""))
                self.assertLess(abs(particles / count - 1), 0.01)
        self.rheo("check", harness.SOURCE / "scenes/sand/hourglass.yaml", "--quiet", "--set", "dimension=2")

    def test_set(self):
        out, _ = self.rheo("check", scene("tiny2d.yaml"), "--set", "cell=0.04", "--set=frames.last=7")
        self.assertRegex(out, r"(?m)^cell: 0\.04\b")
        self.assertRegex(out, r"(?m)^  last: 7\b")
        _, err = self.rheo("check", scene("tiny2d.yaml"), "--set", "cel=0.04", code=2)
        self.assertIn("cell", err)
        self.rheo("check", scene("tiny2d.yaml"), "--set", "cell", code=2)
        self.rheo("check", scene("tiny2d.yaml"), "--set", "cell=-1", code=2)

    def test_missing_scene(self):
        for command in ("check", "run"):
            self.assertIn("no/such.yaml", self.rheo(command, "no/such.yaml", code=2)[1])


class Wrong(Case):
    """Tables of wrong input: every row gives exit 2, its message, and nothing on disk."""

    def refuse(self, row):
        """A run of one row (folder, scene, words): what went wrong, or None. In the scene's own folder, so that messages name it as the table does."""
        folder, name, words = row
        none = self.folder / f"none_{name}"
        done = subprocess.run([str(harness.RHEO), "run", name, "--out", str(none)], cwd=folder, capture_output=True, timeout=harness.TIMEOUT)
        err = done.stderr.decode("utf-8", "replace")
        if done.returncode != 2 or words not in err or none.exists():
            return f"run {name}: exit {done.returncode}, found {err!r}, expected {words!r}"
        return None

    def assert_all_refused(self, rows):
        """Starting the program takes most of the time: one checks all scenes, and every fourth (at length all) is also run."""
        self.assertGreater(len(rows), 5)
        for folder in {row[0] for row in rows}:
            here = [row for row in rows if row[0] == folder]
            _, err = self.rheo("check", *[name for _, name, _ in here], code=2, folder=folder)
            told = err.split("rheo: error: ")[1:]
            self.assertEqual(len(told), len(here), err)
            for (_, name, words), message in zip(here, told):
                self.assertIn(words, message, name)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assertEqual([fault for fault in pool.map(self.refuse, rows[::1 if LONG else 4]) if fault], [])

    def test_bad_scenes(self):
        rows = expectations(harness.SOURCE / "tests/bad/scenes/expected.txt")
        self.assertEqual([path for path, _ in rows if not path.exists()], [])
        self.assert_all_refused([(path.parent, path.name, words) for path, words in rows])

    def test_bad_meshes(self):
        rows = []
        for path, words in expectations(harness.SOURCE / "tests/bad/meshes/expected.txt"):
            self.assertTrue(path.exists(), path)
            text = scene("tiny3d.yaml").read_text()
            text = text.replace("sphere: {center: [0.7, 0.1, 0.15], radius: 0.1}", f'mesh: {{file: "{path}"}}')
            self.assertIn("mesh:", text)
            name = f"with_{path.name}.yaml"
            (self.folder / name).write_text(text)
            rows.append((self.folder, name, words))
        self.assert_all_refused(rows)

    def test_random_bytes(self):
        source = random.Random(1)
        for ending in (".vdb", ".h5", ".ply", ".obj", ".stl", ".yaml"):
            for size in (1, 17, 4000) if ending == ".yaml" else (0, 1, 17, 4000):
                name = f"noise{size}{ending}"
                (self.folder / name).write_bytes(source.randbytes(size))
                command = ["check" if ending == ".yaml" else "info", name]
                with self.subTest(name=name):
                    done = subprocess.run([str(harness.RHEO), *command], cwd=self.folder, capture_output=True, timeout=60)
                    self.assertIn(done.returncode, (1, 2), done.stderr)
                    self.assertIn(b"noise", done.stderr)


class Run(Case):
    def check_log(self, run):
        """Every line is JSON with all fields; steps and frames go up by one; stages fill the step's time."""
        lines = [json.loads(line) for line in (self.folder / run / "log.jsonl").read_text().splitlines()]
        self.assertGreater(len(lines), 0)
        for before, now in zip(lines, lines[1:]):
            self.assertEqual(now["step"], before["step"] + 1)
            self.assertIn(now["frame"] - before["frame"], (0, 1))
            self.assertGreater(now["time"], before["time"])
        for line in lines:
            for name in ("dt", "particles", "cells", "tiles", "iterations", "residual", "volume", "volume_error",
                         "max_speed", "memory", "seconds"):
                self.assertIsInstance(line[name], (int, float), name)
            self.assertGreater(line["dt"], 0)
            self.assertGreater(len(line["stages"]), 1)
            self.assertLessEqual(sum(line["stages"].values()), line["seconds"] * 1.05 + 1e-3)
        self.check_peaks(lines)
        return lines

    def check_peaks(self, lines):
        """The last line of a frame, and no other, has the memory peaks; none is over the total, together they cover it."""
        for now, after in zip(lines, [*lines[1:], {"frame": None}]):
            self.assertEqual("peaks" in now, now["frame"] != after["frame"])
            if "peaks" in now:
                self.assertGreater(max(now["peaks"].values()), 0)
                self.assertLessEqual(max(now["peaks"].values()), now["peak"])
                self.assertGreaterEqual(sum(now["peaks"].values()), now["peak"])
                self.assertGreaterEqual(now["peak"], now["memory"])
                self.assertGreater(now["resident"], now["peak"] // 2)

    def test_run(self):
        for name, last in (("tiny2d", 6), ("tiny3d", 5), ("tiny_splash", 5)):
            with self.subTest(scene=name):
                out, err = self.rheo("run", scene(f"{name}.yaml"), "--frames", f"1-{last}")
                run = f"run/{name}"
                self.assertEqual(out, "")
                self.assertEqual(self.frames(run), list(range(1, last + 1)))
                self.assertEqual(len(set(self.hashes(run).values())), last, "every frame differs")
                self.check_log(run)
                self.assertEqual(len(self.checkpoints(run)) > 0, True)
                self.assert_no_leftovers(run)
                # Progress is one plain line a frame, without control characters.
                self.assertEqual(re.findall(r"(?m)^frame (\d+)/\d+ ", err), [str(f) for f in range(1, last + 1)])
                self.assertNotRegex(err, r"[\r\033]")
                self.assertIn(f"rheo info {run}", err)

    def test_quiet(self):
        out, err = self.rheo("run", scene("tiny2d.yaml"), "--out", "q", "--frames", "1-2", "--quiet")
        self.assertEqual(out, "")
        self.assertNotIn("frame", err)

    def test_threads_do_not_matter(self):
        for name in ("tiny3d", "tiny_splash"):
            with self.subTest(scene=name):
                for threads in (1, 2, 5):
                    self.rheo("run", scene(f"{name}.yaml"), "--out", f"{name}{threads}", "--threads", threads, "--frames", "1-5", "--quiet")
                self.assertEqual(self.hashes(f"{name}1"), self.hashes(f"{name}2"))
                self.assertEqual(self.hashes(f"{name}1"), self.hashes(f"{name}5"))

    def test_set_reaches_the_run(self):
        self.rheo("run", scene("tiny2d.yaml"), "--out", "a", "--frames", "1-2")
        self.rheo("run", scene("tiny2d.yaml"), "--out", "b", "--frames", "1-2", "--set", "gravity=[0, -3, 0]")
        self.assertNotEqual(self.hashes("a"), self.hashes("b"))
        self.assertRegex((self.folder / "b/scene.yaml").read_text(), r"(?m)^gravity: .*-3\b")

    def test_used_folder(self):
        arguments = ["run", scene("tiny2d.yaml"), "--out", "a"]
        self.rheo(*arguments, "--frames", "1-4")
        before = self.hashes("a")
        _, err = self.rheo(*arguments, "--frames", "1-2", code=2)
        self.assertIn("--resume", err)
        self.assertIn("--force", err)
        self.assertEqual(self.hashes("a"), before)
        (self.folder / "a/points/mine.txt").write_text("not yours")
        self.rheo(*arguments, "--frames", "1-2", "--force")
        self.assertEqual(self.hashes("a"), {1: before[1], 2: before[2]})
        self.assertTrue((self.folder / "a/points/mine.txt").exists())

    def test_folder_that_cannot_be_written(self):
        (self.folder / "file").write_text("")
        self.assertIn("file", self.rheo("run", scene("tiny2d.yaml"), "--out", "file", code=2)[1])
        _, err = self.rheo("run", scene("tiny2d.yaml"), "--out", "file/below", code=1)
        self.assertRegex(err, r"error: file\b")
        locked = self.folder / "locked"
        locked.mkdir(mode=0o555)
        if os.access(locked, os.W_OK):  # root writes anywhere but here
            locked = pathlib.Path("/proc/self/fdinfo")
        _, err = self.rheo("run", scene("tiny2d.yaml"), "--out", locked / "run", code=1)
        self.assertIn(str(locked), err)

    def test_read_only_run_folder(self):
        if os.geteuid() == 0:
            self.skipTest("root may write to a read-only folder")
        self.rheo("run", scene("tiny2d.yaml"), "--out", "a", "--frames", "1-2")
        (self.folder / "a/points").chmod(0o555)
        _, err = self.rheo("run", scene("tiny2d.yaml"), "--out", "a", "--resume", code=1)
        self.assertIn("a/points", err)


class Squeezed(Case):
    """Walls that close on water without an exit end the run; with mended keys it goes on."""
    SCENE = """rheo: 1
dimension: 2
cell: 0.02
frames: {last: 12}
checkpoint: {frames: 1}
physics: {liquid: {}}
bodies: [{shape: {box: {min: [0, 0, -1], max: [0.3, 0.3, 1]}}}]
solids:
  - {name: cylinder, inside_out: true, shape: {box: {min: [0, 0, -1], max: [0.3, 0.5, 1]}}}
  - name: piston
    shape: {box: {min: [-0.2, 0.3, -1.5], max: [0.5, 0.7, 1.5]}}
    motion: {keys: [{time: 0}, {time: 0.1}, {time: 1, translate: [0, -0.2, 0]}]}
"""

    def test_ends_and_goes_on(self):
        path = self.folder / "squeezed.yaml"
        path.write_text(self.SCENE)
        _, err = self.rheo("run", path, "--out", "out", "--quiet", code=1)
        self.assertRegex(err, r"error: step \d+ at time 0\.\d+ s: walls without an exit press 0\.09 m\^2 of material into 0\.08\d* m\^2, "
                              r"0\.00\d+ m\^2 \(\S+ %\) too little, around \(0\.\d+, 0\.\d+, 0\) m\n"
                              r"  its walls: 'piston' \(moves\), 'cylinder'\n  leave an exit ")
        self.assertIn("the last good checkpoint is", err)
        frames = self.frames("out")
        self.assertEqual(frames, list(range(1, len(frames) + 1)))
        self.assertLess(len(frames), 12)
        self.assert_no_leftovers("out")
        before = self.hashes("out")
        path.write_text(self.SCENE.replace("-0.2, 0]}]", "-0.02, 0]}]"))
        self.rheo("run", path, "--out", "out", "--quiet", "--resume", "--changed")
        self.assertEqual(self.frames("out"), list(range(1, 13)))
        after = self.hashes("out")
        self.assertEqual({frame: after[frame] for frame in before}, before)


class GoingOn:
    """What must hold for every method: however a run was stopped, going on gives the bits of the run that was not."""
    scene_name = None
    whole = None  # of the run that was not stopped: hashes of its frames, and how long it took

    def setUp(self):
        super().setUp()
        self.arguments = ["run", scene(self.scene_name), "--out"]

    def reference(self):
        if not type(self).whole:
            start = time.monotonic()
            self.rheo(*self.arguments, "whole", "--quiet")
            type(self).whole = self.hashes("whole"), time.monotonic() - start
        expected, self.seconds = self.whole
        return expected

    def test_interrupt_then_resume(self):
        expected = self.reference()
        code, err = self.interrupt_at(3, *self.arguments, "a")
        self.assertEqual(code, 3, err)
        self.assertIn("stopping after this step (again to leave at once)", err)
        self.assertIn("--resume", err)
        self.assertGreater(len(self.checkpoints("a")), 0)
        self.assert_no_leftovers("a")
        self.assertLess(len(self.frames("a")), len(expected))
        self.hash(self.checkpoints("a")[-1])
        # A changed scene is refused and nothing is touched.
        before = self.hashes("a")
        _, err = self.rheo(*self.arguments, "a", "--resume", "--set", "gravity=[0, -3, 0]", code=2)
        self.assertIn("scene", err)
        self.assertEqual(self.hashes("a"), before)
        # So is going on without saying so.
        self.rheo(*self.arguments, "a", code=2)
        self.rheo(*self.arguments, "a", "--resume")
        self.assertEqual(self.hashes("a"), expected)
        # A run that is complete has nothing left to do.
        self.assertIn("nothing was left to do", self.rheo(*self.arguments, "a", "--resume")[1])
        self.assertEqual(self.hashes("a"), expected)

    def test_frames_in_parts(self):
        expected = self.reference()
        self.rheo(*self.arguments, "a", "--frames", "1-8")
        self.assertEqual(self.frames("a"), list(range(1, 9)))
        self.rheo(*self.arguments, "a", "--frames", "9-13", "--resume")
        self.assertEqual(self.frames("a"), list(range(1, 14)))
        self.rheo(*self.arguments, "a", "--resume")
        self.assertEqual(self.hashes("a"), expected)

    def test_kill_then_resume(self):
        expected = self.reference()
        moments = random.Random(7)
        for _ in range(4):
            process = self.start(*self.arguments, "a", "--resume")
            time.sleep(moments.uniform(0.05, 0.4) * self.seconds)
            process.kill()
            self.finish(process)
            for frame, value in self.hashes("a").items():  # whatever is there is whole and right
                self.assertEqual(value, expected[frame], frame)
        self.rheo(*self.arguments, "a", "--resume")
        self.assertEqual(self.hashes("a"), expected)
        self.assert_no_leftovers("a")
        steps = [json.loads(line)["step"] for line in (self.folder / "a/log.jsonl").read_text().splitlines()]
        self.assertEqual(sorted(set(steps)), list(range(min(steps), max(steps) + 1)))


PROBES = """
probes:
  - {name: P, where: {point: {position: [0.9, 0.05, 0]}}}
  - {name: H, where: {line: {from: [0.7, 0, 0], to: [0.7, 1, 0]}}}
  - {name: Q, where: {rectangle: {corner: [0.5, -1, 0], side_a: [0, 3, 0]}}}
  - {name: right, where: {box: {min: [0.5, 0, -1], max: [1, 1, 1]}}}
  - {name: walls, where: {solid: {name: tank}}}
"""


class Probes(Case):
    """probes.csv: the same bytes for any number of threads, and however often the run was stopped or killed."""

    def setUp(self):
        super().setUp()
        self.scene = self.folder / "probed.yaml"
        text = scene("tiny2d.yaml").read_text()
        self.assertIn("last: 24", text)
        self.scene.write_text(text.replace("last: 24", "last: 12") + PROBES)

    def run_probed(self, out, *more):
        self.rheo("run", self.scene, "--out", out, "--quiet", *more)
        return (self.folder / out / "probes.csv").read_bytes()

    def kill_and_resume(self, *more):
        began = time.monotonic()
        expected = self.run_probed("whole", *more)
        seconds = time.monotonic() - began
        for share in (0.3, 0.5, 0.7):
            process = self.start("run", self.scene, "--out", "a", "--quiet", "--resume", *more)
            time.sleep(share * seconds)
            process.kill()
            self.finish(process)
        self.assertEqual(self.run_probed("a", "--resume", *more), expected)
        return expected.decode().splitlines()

    def test_every_step(self):
        rows = self.kill_and_resume()
        steps = (self.folder / "whole/log.jsonl").read_text().splitlines()
        self.assertEqual(len(rows), len(steps) + 1)
        self.assertTrue(rows[0].startswith("time [s],P.pressure [Pa],P.velocity.x [m/s],"), rows[0])
        last = dict(zip(rows[0].split(","), map(float, rows[-1].split(","))))
        self.assertAlmostEqual(last["time [s]"], 11 / 24, places=6)
        passed = sum(float(row.split(",")[rows[0].split(",").index("Q.flow [m^2/s]")]) * (float(row.split(",")[0]) - before)
                     for row, before in zip(rows[1:], [0] + [float(row.split(",")[0]) for row in rows[1:]]))
        self.assertAlmostEqual(passed, last["right.volume [m^2]"], places=6)
        info, _ = self.rheo("info", "whole")
        self.assertRegex(info, r"walls\.force\.y \[N/m\] +-\d")
        self.assertIn(f"{len(steps)} rows from", info)

    def test_even_times_and_threads(self):
        rows = self.kill_and_resume("--set", "output.probe_rate=100")
        self.assertEqual([row.split(",")[0] for row in rows[1:]], [f"{n / 100:.9g}" for n in range(1, 46)])
        one = self.run_probed("one", "--set", "output.probe_rate=100", "--threads", 1)
        self.assertEqual(self.run_probed("three", "--set", "output.probe_rate=100", "--threads", 3), one)
        self.assertEqual(one.decode().splitlines(), rows)

    def test_probes_change_nothing(self):
        self.run_probed("with", "--frames", "1-6")
        self.rheo("run", scene("tiny2d.yaml"), "--out", "without", "--quiet", "--frames", "1-6")
        for name in ("with", "without"):
            setattr(self, name, self.rheo("info", "--hash", f"{name}/points/points.0006.vdb")[0])
        self.assertEqual(getattr(self, "with"), self.without)

    def test_other_columns_are_not_lost(self):
        before = self.run_probed("a", "--frames", "1-6")
        self.scene.write_text(self.scene.read_text().replace("name: H", "name: gauge"))
        _, err = self.rheo("run", self.scene, "--out", "a", "--resume", code=2)
        self.assertIn("other columns", err)
        self.assertEqual((self.folder / "a/probes.csv").read_bytes(), before)

    def test_files_of_others_stay(self):
        (self.folder / "a").mkdir()
        (self.folder / "a/probes.csv").write_text("my,own,numbers\n")
        _, err = self.rheo("run", self.scene, "--out", "a", code=2)
        self.assertIn("probes.csv: found a file that was not made by rheo", err)
        self.assertEqual((self.folder / "a/probes.csv").read_text(), "my,own,numbers\n")

    def test_check_warns(self):
        text = self.scene.read_text().replace("from: [0.7, 0, 0], to: [0.7, 1, 0]", "from: [2, 0, 0], to: [2, 1, 0]")
        self.scene.write_text(text)
        _, err = self.rheo("check", self.scene, "--quiet")
        self.assertRegex(err, r"probed\.yaml:\d+:\d+: probe 1 \('H'\) lies outside of the scene's containers")


class SplashGoesOn(GoingOn, Case):
    scene_name = "tiny_splash.yaml"


class StopAndGoOn(GoingOn, Case):
    scene_name = "tiny2d.yaml"

    def test_terminate_is_an_interrupt(self):
        process = self.start(*self.arguments, "a")
        self.wait_for("a/points/points.0002.vdb", process)
        process.send_signal(signal.SIGTERM)
        code, err = self.finish(process)
        self.assertEqual(code, 3, err)

    def test_second_signal_leaves_at_once(self):
        process = self.start(*self.arguments, "a")
        self.wait_for("a/points/points.0002.vdb", process)
        # Both are pending when the process wakes up, so no step can end between them.
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        code, err = self.finish(process)
        self.assertEqual(code, 130, err)
        self.assertEqual(sorted(self.hashes("a")), self.frames("a"))

    def test_damaged_checkpoint(self):
        expected = self.reference()
        self.rheo(*self.arguments, "a", "--frames", "1-8")
        self.assertGreater(len(self.checkpoints("a")), 1)
        newest = self.checkpoints("a")[-1]
        newest.write_bytes(newest.read_bytes()[: newest.stat().st_size // 2])
        self.rheo(*self.arguments, "a", "--resume")
        self.assertEqual(self.hashes("a"), expected)

    def test_killed_before_any_checkpoint(self):
        arguments = [*self.arguments, "a", "--set", "checkpoint.frames=0"]
        process = self.start(*arguments)
        self.wait_for("a/points/points.0001.vdb", process)
        process.kill()
        self.finish(process)
        self.assertEqual(self.checkpoints("a"), [])
        self.rheo(*arguments, "--resume", "--set", "gravity=[0, -3, 0]", code=2)
        _, err = self.rheo(*arguments, "--resume")
        self.assertIn("no checkpoint", err)
        self.assertEqual(self.hashes("a"), self.reference())


class Splash(Case):
    """What users see of the splash method."""
    scene_name = "tiny_splash.yaml"

    def run_and_look(self, name, *settings):
        """What `rheo info` tells of the run's last frame."""
        words = [word for setting in settings for word in ("--set", setting)]
        self.rheo("run", scene(self.scene_name), "--out", name, "--quiet", *words)
        last = self.frames(name)[-1]
        return self.rheo("info", f"{name}/points/points.{last:04d}.vdb")[0]

    def test_check(self):
        out, err = self.rheo("check", scene(self.scene_name))
        self.assertRegex(err, r"particles at the start +1 350\n")  # 10 x 15 cells with 9 each, exactly: the lattice is not jittered
        for words in ("  splash:", "incompressibility: unilateral ", "density_correction: true "):
            self.assertIn(words, out)
        for setting, expected in (("form=shars", "did you mean 'shares'"), ("sucton_depth=3", "did you mean 'suction_depth'"),
                                  ("particles_per_axis=5", "between 1 and 4"), ("air=0", "physics.splash.air")):
            with self.subTest(setting=setting):
                self.assertIn(expected, self.rheo("check", scene(self.scene_name), "--set", f"physics.splash.{setting}", code=2)[1])
        (self.folder / "typo.yaml").write_text(scene(self.scene_name).read_text().replace("splash: {}", "splsh: {}"))
        self.assertIn("did you mean 'splash'", self.rheo("check", "typo.yaml", code=2)[1])

    def test_groups_and_stages(self):
        found = self.run_and_look("a")
        particles = int(re.search(r"(\d+) points", found).group(1))
        for group in ("spray", "foam"):
            count = int(re.search(rf"group {group} of (\d+) points", found).group(1))
            self.assertGreater(count, 0, "a jet and a falling dam have some")
            self.assertLess(count, particles)
        self.assertNotIn("pressure", found)
        out, _ = self.rheo("info", "a")
        stages = ["sort", "solids", "to_grid", "density", "forces", "predict", "pressure", "extend", "update", "spray", "advect", "collide"]
        self.assertEqual(re.findall(rf"(?m)^  ({'|'.join(stages)}) +[\d.]+ s ", out), stages)
        self.assertRegex(out, r"unilateral.step +[0-9.]+ MB")
        steps = [json.loads(line) for line in (self.folder / "a/log.jsonl").read_text().splitlines()]
        self.assertEqual({tuple(step["stages"]) for step in steps}, {tuple(stages)})

    def test_groups_and_pressure_are_chosen(self):
        found = self.run_and_look("a", "frames.last=6", "physics.splash.spray=false", "physics.splash.pressure=true")
        self.assertNotIn("group", found)
        self.assertIn("pressure:float", found)

    def test_doc(self):
        self.assertRegex(self.rheo("doc")[0], r"(?m)^  splash +Violent")
        complete = self.rheo("check", scene(self.scene_name))[0]
        block = complete[complete.index("  splash:\n"):complete.index("\nbodies:")]
        names = re.findall(r"(?m)^    (\w+): ", block)
        self.assertGreater(len(names), 15)
        plain, markdown = self.rheo("doc", "splash")[0], self.rheo("doc", "splash", "--markdown")[0]
        for name in names:
            self.assertRegex(plain, rf"(?m)^  {name}\b")
            self.assertIn(name, markdown)
        self.assertIn("did you mean", self.rheo("doc", "splsh", code=2)[1])


class Look(Case):
    def setUp(self):
        super().setUp()
        self.rheo("run", scene("tiny2d.yaml"), "--out", "a", "--frames", "1-4", "--quiet")

    def test_info(self):
        out, err = self.rheo("info", "a")
        self.assertEqual(err, "")
        for row in ("title +tiny dam", "frames +1 to 4", "particles +2 [345]", "simulated +0.125 s", "checkpoints +[1-9]",
                    "sub-steps", "iterations", "volume %", "wall time by stage", "all steps .*100.0%", "disk +",
                    "memory by label", "incompressible.step +[0-9.]+ MB +[0-9.]+ B", "peak, all at one time"):
            self.assertRegex(out, row)
        stages = json.loads((self.folder / "a/log.jsonl").read_text().splitlines()[0])["stages"]
        for stage in stages:
            self.assertIn(stage, out)
        self.assertIn("points", self.rheo("info", "a/points/points.0001.vdb")[0])
        self.assertIn("points", self.rheo("info", self.checkpoints("a")[-1])[0])

    def test_memory_by_label(self):
        log = self.folder / "a/log.jsonl"
        *before, last = log.read_text().splitlines()
        step = json.loads(last)
        step.update(particles=1000, peak=9000000, resident=11000000, peaks={"small": 1, "points.P": 2000000, "liquid.step": 8000000})
        old = [{**line, "particles": 500} for line in map(json.loads, before) if "peaks" not in line]
        log.write_text("".join(json.dumps(line) + "\n" for line in [*old, step]))
        rows = re.findall(r"(?m)^  (\S.*?) +([\d.]+) MB +([\d.]+) B$", self.rheo("info", "a")[0])
        self.assertEqual(rows, [("liquid.step", "8.00", "8000.00"), ("points.P", "2.00", "2000.00"), ("(smaller ones)", "0.00", "0.00"),
                                ("sum of the peaks", "10.00", "10000.00"), ("peak, all at one time", "9.00", "9000.00"),
                                ("process, with libraries", "11.00", "11000.00")])
        # A resumed run counts anew: the higher peak of each label stands.
        step.update(step=step["step"] + 1, peak=7000000, peaks={"points.P": 3000000, "liquid.step": 1})
        with log.open("a") as file:
            file.write(json.dumps(step) + "\n")
        rows = dict(re.findall(r"(?m)^  (\S.*?) +([\d.]+) MB ", self.rheo("info", "a")[0]))
        self.assertEqual((rows["liquid.step"], rows["points.P"], rows["peak, all at one time"]), ("8.00", "3.00", "9.00"))

    def test_log_without_peaks(self):
        """Runs of earlier versions have no such line."""
        log = self.folder / "a/log.jsonl"
        lines = [{k: v for k, v in json.loads(line).items() if k not in ("peak", "peaks", "resident")} for line in log.read_text().splitlines()]
        log.write_text("".join(json.dumps(line) + "\n" for line in lines))
        out, err = self.rheo("info", "a")
        self.assertEqual(err, "")
        self.assertNotIn("memory by label", out)

    def test_hash_of_last_checkpoint_is_stable(self):
        newest = self.checkpoints("a")[-1]
        self.assertEqual(self.hash(newest), self.hash(newest))
        self.assertIn("--hash", self.rheo("info", "--hash", "a/scene.yaml", code=2)[1])

    def test_broken_log(self):
        log = self.folder / "a/log.jsonl"
        whole = self.rheo("info", "a")[0]
        text = log.read_bytes()
        table = lambda output: output[output.index("sub-steps"):]
        log.write_bytes(text + text.splitlines()[-1][:40])  # the run is writing a line right now
        self.assertEqual(table(self.rheo("info", "a")[0]), table(whole))
        # A resumed run does its last steps again; garbage is counted, not believed.
        tail = b"".join(text.splitlines(keepends=True)[-3:])
        log.write_bytes(text + b'not json\n{"step":}\n\0\xff{\n{"stages":{"a"\n' + tail)
        out, err = self.rheo("info", "a")
        self.assertEqual(table(out), table(whole))
        self.assertIn("passed over 4 lines", err)

    def test_ply(self):
        self.rheo("run", scene("tiny2d.yaml"), "--out", "p", "--frames", "1", "--set", "output.ply=true")
        out, _ = self.rheo("info", "p/points/points.0001.ply")
        self.assertRegex(out, r"2 \d\d\d vertex")
        self.assertIn("x, y, z", out)

    def test_not_a_run(self):
        (self.folder / "empty").mkdir()
        for command in ("info", "render"):
            self.assertIn("scene.yaml", self.rheo(command, "empty", code=2)[1])
        self.assertIn("gone", self.rheo("info", "gone", code=1)[1])
        self.rheo("info", "a/scene.yaml", code=2)

    def picture(self, path):
        """(width, height, raw filtered rows) of a PNG, checksums verified."""
        data = path.read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        at, packed, size = 8, b"", None
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + length]
            self.assertEqual(zlib.crc32(kind + body), struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0])
            if kind == b"IHDR":
                size = struct.unpack(">II", body[:8])
            if kind == b"IDAT":
                packed += body
            at += 12 + length
        return (*size, zlib.decompress(packed))

    def test_render(self):
        out, _ = self.rheo("render", "a", "--frames", "2-3", "--size", "320x200")
        self.assertEqual(out.split(), ["a/picture/picture.0002.png", "a/picture/picture.0003.png"])
        rows = []
        for name in out.split():
            width, height, raw = self.picture(self.folder / name)
            self.assertEqual((width, height), (320, 200))
            self.assertGreater(len(set(raw)), 8, "a picture shows something")
            rows.append(raw)
        self.assertNotEqual(rows[0], rows[1])
        self.rheo("render", "a", "--frames", "4", "--out", "pictures", "--size", "64x64")
        self.assertTrue((self.folder / "pictures/picture.0004.png").exists())
        self.assertIn("1 to 4", self.rheo("render", "a", "--frames", "7-9", code=2)[1])


class Terminal(Case):
    def on_terminal(self, columns, environment=None):
        """Everything a run writes to a terminal of that width."""
        try:
            controller, terminal = pty.openpty()
        except OSError as reason:  # a bare container without /dev/pts
            self.skipTest(f"no pseudo-terminals here: {reason}")
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        clean = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        process = subprocess.Popen([str(harness.RHEO), "run", str(scene("tiny2d.yaml")), "--out", f"t{columns}", "--force", "--set", "frames.last=8"],
                                   cwd=self.folder, stdout=terminal, stderr=terminal, stdin=terminal,
                                   env={**clean, "TERM": "xterm", **(environment or {})})
        os.close(terminal)
        text = b""
        while True:
            try:
                part = os.read(controller, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        os.close(controller)
        self.assertEqual(process.wait(timeout=harness.TIMEOUT), 0)
        return text.decode()

    def test_bar_fits(self):
        for columns in (30, 60, 80, 160):
            with self.subTest(columns=columns):
                text = self.on_terminal(columns)
                plain = re.sub(r"\033\[[0-9;]*[mK]", "", text)
                live = [part for part in re.split(r"[\r\n]", plain) if part.startswith("frame")]
                self.assertGreater(len(live), 1)
                self.assertLess(max(map(len, live)), columns)
                if columns >= 60:
                    self.assertIn("[", live[-1])
                if columns >= 160:
                    for word in ("particles", "iterations", "volume", "left", "step"):
                        self.assertIn(word, live[-1])
                self.assertIn("frame 8/8", live[-1])
                self.assertIn("\033[36m" if columns >= 60 else "frame", text)

    def test_no_color(self):
        self.assertNotRegex(self.on_terminal(80, {"NO_COLOR": "1"}), r"\033\[[0-9;]*m")

    def test_dumb_terminal(self):
        text = self.on_terminal(80, {"TERM": "dumb"})
        self.assertNotIn("\033", text)
        self.assertEqual(len(re.findall(r"frame \d+/8 ", text)), 8)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    harness.RHEO = pathlib.Path(sys.argv.pop(1)).resolve()
    harness.SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
