#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Scenes and files of others: pipes and devices, files that are no business of a scene, folders it must stay in, damaged .vdb files of other programs, and
programs that do not end.

usage: test_guard.py RHEO SOURCE_DIR [unittest options]
"""
import os
import pathlib
import random
import re
import resource
import shlex
import signal
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import harness  # noqa: E402
from harness import Case, scene  # noqa: E402

SECRET = "root:x:0:0:secret:/nowhere:/bin/sh\n"
TRIANGLES = "v 0 0 0\nv .3 0 0\nv 0 .3 0\nv 0 0 .3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


class Paths(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "secret").write_text(SECRET)

    def with_solid(self, file):
        text = scene("tiny3d.yaml").read_text().replace("sphere: {center: [0.7, 0.1, 0.15], radius: 0.1}", f'mesh: {{file: "{file}"}}')
        self.assertIn("mesh:", text)
        (self.folder / "s.yaml").write_text(text)
        return "s.yaml"

    def refused(self, *words):
        """By check and by run, at once, without a word of the secret and without a trace."""
        for command in (["check"], ["run", "--out", "none"]):
            _, err = self.rheo(*command, *words, code=2)
            self.assertNotIn("root:", err)
            self.assertNotIn("secret:/nowhere", err)
            self.assertFalse((self.folder / "none").exists())
        return err

    def test_meshes_that_are_no_files(self):
        os.mkfifo(self.folder / "pipe.obj")
        self.assertIn("pipe or a device", self.refused(self.with_solid("pipe.obj")))
        (self.folder / "zero.obj").symlink_to("/dev/zero")
        self.assertIn("pipe or a device", self.refused(self.with_solid("zero.obj")))

    def test_mesh_that_is_a_secret(self):
        for ending in ("obj", "ply", "stl"):
            (self.folder / f"link.{ending}").symlink_to("secret")
            self.assertIn("no mesh", self.refused(self.with_solid(f"link.{ending}")))

    def test_includes(self):
        (self.folder / "pipe.yaml").unlink(missing_ok=True)
        os.mkfifo(self.folder / "pipe.yaml")
        contents = {"passwd": SECRET, "yaml": "password: root:secret\nuser: root\n", "list": "- root:\n- secret:/nowhere\n", "broken": "a: [root:\nb: {secret:/nowhere\n",
                    "double": "root: 1\nroot: secret:/nowhere\n"}
        for name, text in contents.items():
            (self.folder / name).write_text(text)
        for name in [*contents, "pipe.yaml"]:
            with self.subTest(name=name):
                (self.folder / "s.yaml").write_text(f"include: {name}\n" + scene("tiny2d.yaml").read_text())
                self.assertRegex(self.refused("s.yaml"), rf"s\.yaml:1:10: .*'{name}'")
        # A part of a scene is one, and what is wrong in it is told as ever.
        (self.folder / "part.yaml").write_text("title: of a part\nseed: 3\n")
        (self.folder / "s.yaml").write_text("include: part.yaml\n" + scene("tiny2d.yaml").read_text().replace("title:", "# title:"))
        self.assertIn("of a part", self.rheo("check", "s.yaml")[0])
        (self.folder / "part.yaml").write_text("cell: 0.1\nbodys: []\n")
        self.assertIn("part.yaml:2:1: unknown key 'bodys'", self.rheo("check", "s.yaml", code=2)[1])

    def test_programs(self):
        (self.folder / "link.ax").symlink_to("secret")
        for name in ("secret", "link.ax"):
            (self.folder / "s.yaml").write_text(scene("tiny2d.yaml").read_text() + f"expressions: [{{at: frame, file: {name}}}]\n")
            self.assertIn(".ax", self.refused("s.yaml"))

    def test_sandbox(self):
        box = self.folder / "box"
        box.mkdir()
        (box / "in.obj").write_text(TRIANGLES)
        (self.folder / "out.obj").write_text(TRIANGLES)
        (box / "link.obj").symlink_to("../out.obj")
        (box / "part.yaml").write_text("title: part\nphysics: {liquid: {}}\n")
        (self.folder / "part.yaml").write_text("title: part\nphysics: {liquid: {}}\n")
        (box / "deep").mkdir()
        for mesh, fine in (("box/in.obj", True), ("box/deep/../in.obj", True), ("out.obj", False), ("box/link.obj", False), ("box/../out.obj", False),
                           ("nothing.obj", False), (self.folder / "boxes.obj", False)):
            with self.subTest(mesh=mesh):
                name = self.with_solid(mesh)
                if fine:
                    self.rheo("check", name, "--sandbox", "box", "--quiet")
                else:
                    self.assertIn("--sandbox", self.refused(name, "--sandbox", "box"))
        for part, fine in (("box/part.yaml", True), ("part.yaml", False), ("/etc/hostname", False)):
            (self.folder / "s.yaml").write_text(f"include: {part}\n" + scene("tiny2d.yaml").read_text())
            if fine:
                self.rheo("check", "s.yaml", "--sandbox", "box", "--quiet")
            else:
                self.assertIn("--sandbox", self.refused("s.yaml", "--sandbox", "box"))
        self.assertIn("--sandbox", self.refused("s.yaml", "--sandbox", "no_such_folder"))
        # Scenes of runs, too.
        self.rheo("run", self.with_solid("out.obj"), "--out", "a", "--frames", "1-1", "--quiet")
        for command in ("render", "surface", "view"):
            self.assertIn("--sandbox", self.rheo(command, "a", "--sandbox", "box", code=2)[1])


class Foreign(Case):
    """Damaged .vdb files without a seal: whatever is in them, the program says so and ends as it should."""

    def unsealed(self):
        self.rheo("run", scene("tiny2d.yaml"), "--out", "a", "--frames", "1-2", "--quiet")
        return (self.folder / "a/points/points.0002.vdb").read_bytes()[:-16]

    def test_whole_ones_are_read_as_ever(self):
        (self.folder / "f.0001.vdb").write_bytes(self.unsealed())
        self.assertEqual(self.hash("f.0001.vdb"), self.hash("a/points/points.0002.vdb"))
        self.assertEqual(self.rheo("info", "f.0001.vdb")[0].splitlines()[1:], self.rheo("info", "a/points/points.0002.vdb")[0].splitlines()[1:])
        self.rheo("ax", "v@P.y += 1;", "f.0001.vdb", "-o", "up.vdb")
        self.rheo("ax", "v@P.y += 1;", "a/points/points.0002.vdb", "-o", "same.vdb")
        self.assertEqual(self.hash("up.vdb"), self.hash("same.vdb"))
        self.rheo("surface", "f.0001.vdb", "--quiet")

    def processes(self, *arguments):
        """How many a command takes: the loader of each writes a file of its own."""
        for old in self.folder.glob("loader.*"):
            old.unlink()
        watched = {**os.environ, "LD_DEBUG": "statistics", "LD_DEBUG_OUTPUT": str(self.folder / "loader"), "OMP_WAIT_POLICY": "passive"}
        subprocess.run([str(harness.RHEO), *arguments], cwd=self.folder, capture_output=True, timeout=harness.TIMEOUT, env=watched, check=True)
        return len(list(self.folder.glob("loader.*")))

    def test_are_read_by_another_process(self):
        (self.folder / "f.0001.vdb").write_bytes(self.unsealed())
        ours = "a/points/points.0002.vdb"
        for command in (["info"], ["info", "--hash"], ["surface", "--quiet"], ["ax", "v@P.y += 1;", "--out", "up.vdb"]):
            self.assertEqual(self.processes(*command, ours), 1, command)
            self.assertEqual(self.processes(*command, "f.0001.vdb"), 2, command)

    def test_ours_are_checked_before_they_are_read(self):
        self.unsealed()
        damaged = bytearray((self.folder / "a/points/points.0002.vdb").read_bytes())
        damaged[len(damaged) // 2] ^= 255
        (self.folder / "d.0001.vdb").write_bytes(damaged)
        for command in (["info", "d.0001.vdb"], ["surface", "d.0001.vdb"], ["ax", "v@P.y += 1;", "d.0001.vdb", "-o", "up.vdb"]):
            self.assertIn("its bytes do not match its checksum", self.rheo(*command, code=2)[1])

    def test_damaged_ones(self):
        data = self.unsealed()
        chance = random.Random(20)
        for number in range(60):
            damaged = bytearray(data)
            for _ in range(chance.choice((1, 4, 16))):
                at = chance.randrange(len(data))
                damaged[at] = chance.choice((0, 255, damaged[at] ^ (1 << chance.randrange(8)), chance.randrange(256)))
            if number % 3 == 0:  # a length
                at = chance.randrange(len(data) - 8)
                damaged[at:at + 8] = struct.pack("<Q", chance.choice((1 << 20, 1 << 33, (1 << 64) - 1)))
            (self.folder / "d.0001.vdb").write_bytes(damaged)
            command = (["info", "d.0001.vdb"], ["info", "--hash", "d.0001.vdb"], ["ax", "v@P.y += 1;", "d.0001.vdb", "-o", "up.vdb"])[number % 3]
            done = subprocess.run([str(harness.RHEO), *command], cwd=self.folder, capture_output=True, timeout=harness.TIMEOUT)
            with self.subTest(number=number):
                self.assertIn(done.returncode, (0, 1, 2), done.stderr)
                if done.returncode:
                    self.assertRegex(done.stderr.decode(errors="replace"), r"^rheo: ")


class Pipes(Case):
    """Pipes where files are expected are refused, not waited for; and ax replaces nothing that is not ours."""

    def test_as_arguments(self):
        for name in ("pipe.vdb", "pipe.ply"):
            os.mkfifo(self.folder / name)
            err = self.rheo("info", name, code=1)[1]
            self.assertIn("is a pipe or a device", err)
        for command in (["ax", "f@x = 1;", "pipe.vdb", "-o", "out.vdb"], ["surface", "pipe.vdb"], ["info", "--hash", "pipe.vdb"]):
            self.assertIn("is a pipe or a device", self.rheo(*command, code=1)[1])
        (self.folder / "zero.vdb").symlink_to("/dev/zero")
        self.assertIn("is a pipe or a device", self.rheo("ax", "f@x = 1;", "zero.vdb", "-o", "out.vdb", code=1)[1])
        self.assertIn("is a pipe or a device", self.rheo("surface", "pipe.ply", code=2)[1])

    def test_scene_of_a_run(self):
        (self.folder / "a").mkdir()
        os.mkfifo(self.folder / "a" / "scene.yaml")
        for command in ("info", "render", "surface"):
            self.assertIn("is a pipe or a device", self.rheo(command, "a", code=1)[1])

    def test_ax_keeps_what_is_not_ours(self):
        self.rheo("run", scene("tiny2d.yaml"), "--out", "b", "--frames", "1-1", "--quiet")
        (self.folder / "mine.txt").write_text("mine\n")
        self.assertIn("not made by rheo", self.rheo("ax", "f@x = 1;", "b/points/points.0001.vdb", "-o", "mine.txt", code=2)[1])
        self.assertEqual((self.folder / "mine.txt").read_text(), "mine\n")


class Stopping(Case):
    """A program that goes on for minutes ends within a second of Control-C: of the processor's, which other programs do not make longer."""
    ENDLESS = "float s = 0; for (int i = 0; i < 2000000000; i++) { s += 1.0f / float(i + 1) + @k; } @k = s;"
    NESTED = "float s = 0; for (int i = 0; i < 1000; i++) for (int j = 0; j < 1000; j++) for (int k = 0; k < 1000; k++) s += @k + float(i * j); @k = s;"
    THREADS = 2

    @staticmethod
    def used(pid):
        """Seconds of the processor that a process has used, all its threads together."""
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def interrupt(self, *arguments, after=1.5):
        before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        process = self.start(*arguments)
        used = 0
        while used < after:  # of the processor's time, too: on a loaded machine a program takes seconds to begin
            time.sleep(0.05)
            self.assertIsNone(process.poll(), "it was to take long")
            used = self.used(process.pid)
        process.send_signal(signal.SIGINT)
        code, err = self.finish(process)
        self.assertEqual(code, 3, err)
        self.assertLess(sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before - used, self.THREADS)
        return err

    def test_ax(self):
        self.rheo("run", scene("tiny2d.yaml"), "--out", "a", "--frames", "1-1", "--quiet")
        for code in (self.ENDLESS, self.NESTED):
            self.interrupt("ax", code, "a/points/points.0001.vdb", "-o", "b.vdb", "--budget", "2147483647", "--threads", self.THREADS)
            self.assertFalse((self.folder / "b.vdb").exists())

    def test_run(self):
        text = scene("tiny2d.yaml").read_text() + f"expressions: [{{at: step, budget: 2147483647, code: '{self.ENDLESS}', start: 0.08}}]\n"
        (self.folder / "s.yaml").write_text(text)
        process = self.start("run", "s.yaml", "--out", "a", "--threads", "2", "--set", "checkpoint.frames=1")
        self.wait_for("a/points/points.0002.vdb", process)
        process.kill()
        self.finish(process)
        self.interrupt("run", "s.yaml", "--out", "a", "--threads", "2", "--resume", "--set", "checkpoint.frames=1", after=3)
        self.assertGreater(len(self.checkpoints("a")), 0)

    def test_advice_after_it(self):
        """The command that goes on, as a shell reads it, does go on, also with values that were set."""
        _, err = self.interrupt_at(1, "run", scene("tiny2d.yaml"), "--out", "a", "--set", "title='it''s'", "--set", "cell=0.04")
        found = re.search(r"(?m)^  go on       rheo (.*)$", err)
        if not found:
            self.skipTest("it was done before the signal came")
        self.rheo(*shlex.split(found.group(1)))


class Poses(Case):
    """solids.csv of somebody else: told with its line, before a run goes on, and nothing of it reaches the terminal."""

    SCENE = """rheo: 1
cell: 0.1
frames: {last: 3}
physics: {ballistic: {}}
bodies: [{shape: {box: {min: [2, 0, 0], max: [2.3, 0.3, 0.3]}}}]
solids: [{name: ball, shape: {sphere: {center: [0, 1, 0], radius: 0.2}}, dynamic: {velocity: [1, 0, 0]}}]
"""

    def test_damaged(self):
        (self.folder / "s.yaml").write_text(self.SCENE)
        self.rheo("run", "s.yaml", "--out", "a", "--quiet")
        path = self.folder / "a" / "solids.csv"
        good = path.read_text().splitlines(keepends=True)
        second = good[2].split(",")

        def other(column, value):
            return "".join([*good[:2], ",".join(second[:column] + [value] + second[column + 1:]), *good[3:]])

        cases = [("", 1), ("\0" * 1000, 1), (good[0][:40], 1), ("x" + "".join(good), 1), (good[0] + "\n" * 10000, 2), (good[0] + "1," * 100000 + "\n", 2),
                 (good[0] + "\x1b]0;secret\x07" * 10 + "\n", 2), (other(4, "nan"), 3), (other(11, "inf"), 3), (other(4, "1e300"), 3), (other(7, "0"), 3),
                 (other(2, "-1"), 3), (other(2, "1e18"), 3), (other(1, ""), 3)]
        for text, line in cases:
            path.write_text(text)
            for words in (["info", "a"], ["render", "a", "--what", "points", "--samples", "1", "--frames", "3", "--size", "64x48", "--out", "p"]):
                _, err = self.rheo(*words, code=2)
                self.assertIn(f"solids.csv:{line}:", err)
                self.assertNotIn("\x1b", err)
        # Going on tells it, too, once the first frame is there; with other titles poses begin anew.
        path.write_text(other(4, "nan"))
        _, err = self.rheo("run", "s.yaml", "--out", "a", "--resume", "--set", "frames.last=5", "--quiet", code=2)
        self.assertIn("solids.csv:3:", err)
        path.unlink()
        self.rheo("run", "s.yaml", "--out", "a", "--resume", "--set", "frames.last=5", "--quiet")
        self.rheo("info", "a")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    harness.RHEO = pathlib.Path(sys.argv.pop(1)).resolve()
    harness.SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
