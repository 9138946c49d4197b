# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""The commands that work on a run: full disks, folders that may not be written, Control-C, memory that runs out. Whole files or none, and words that help."""
import hashlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import common

RHEO = SOURCE = None
SANITIZED = False  # built with a sanitizer, which needs its memory to itself


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = common.open_folder("commands-")
        cls.folder = pathlib.Path(cls.holder.name)
        cls.rheo = common.program_for_others(RHEO, cls.folder)
        cls.run_folder = cls.folder / "run"
        common.run(RHEO, SOURCE / "tests/reliability/scenes/program.yaml", cls.run_folder, "--set", "expressions=[]")
        cls.expected, cls.sizes = {}, {}
        for name in cls.commands():
            out = cls.folder / "whole" / name
            done = cls.call(name, out)
            assert done.returncode == 0, f"{name}: {done.stderr}"
            cls.expected[name] = cls.digest(out)
            cls.sizes[name] = sum(path.stat().st_size for path in out.iterdir())

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def tearDown(self):
        subprocess.run(["umount", str(self.folder / "small")], capture_output=True)

    @classmethod
    def commands(cls):
        """Words of each command, but for where its files go."""
        run, frames = str(cls.run_folder), sorted(map(str, (cls.run_folder / "points").glob("*.vdb")))
        out = {"surface": ["surface", run, "--mesh", "--quiet", "--set", "voxel=0.02"], "quick": ["render", run, "--quick", "--size", "640x480"],
               "traced": ["render", run, "--size", "160x120", "--samples", "4"]}
        if shutil.which("ffmpeg"):
            out["film"] = ["render", run, "--quick", "--size", "320x240", "--film"]
        probe = subprocess.run([RHEO, "ax", "--check", "@a = 1;"], capture_output=True, text=True, env=common.environment())
        if probe.returncode == 0:
            out["ax"] = ["ax", "@a = 1;", *frames]
        return out

    @classmethod
    def call(cls, name, out, *more, **options):
        where = f"{out}/" if name == "ax" else str(out)
        return subprocess.run([cls.rheo, *cls.commands()[name], "--out", where, *more], capture_output=True, text=True, timeout=common.TIMEOUT,
                              env=common.environment(), **options)

    @staticmethod
    def digest(folder):
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())} if folder.exists() else {}

    def check_part(self, name, out):
        """What is there is whole and right; returns how much that is."""
        found = self.digest(out)
        for file, value in found.items():
            self.assertEqual(value, self.expected[name].get(file), f"{name}: {file}")
        return len(found)

    def small(self, bytes_):
        folder = self.folder / "small"
        if not common.mount_small(folder, bytes_):
            self.skipTest("this user may not mount a small file system")
        return folder

    def test_full_disk(self):
        small = self.small(1 << 20)
        for name, size in self.sizes.items():
            failed = 0
            for part in (0.05, 0.4, 0.9):
                with self.subTest(command=name, part=part):
                    subprocess.run(["mount", "-o", f"remount,size={max(int(part * size), 8192)}", str(small)], check=True)
                    done = self.call(name, small / "out")
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    if done.returncode:
                        self.assertIn("No space left on device", done.stderr)
                        self.assertIn(str(small / "out"), done.stderr)
                    self.assertEqual(list(small.rglob("*.tmp-*")), [])
                    self.check_part(name, small / "out")
                    failed += done.returncode
                shutil.rmtree(small / "out", ignore_errors=True)
            self.assertGreater(failed, 0, f"{name}: the disks were too large to fill")

    def test_read_only(self):
        small = self.small(1 << 20)
        (small / "out").mkdir()
        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
        for name in self.sizes:
            for out in (small / "out", small / "new"):
                with self.subTest(command=name, out=out.name):
                    done = self.call(name, out)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn("Read-only file system", done.stderr)

    def test_no_permission(self):
        locked = self.folder / "locked"
        locked.mkdir(mode=0o555)
        for name in self.sizes:
            for out in (locked, locked / "new"):
                with self.subTest(command=name, out=out.name):
                    done = self.call(name, out, **common.somebody_else())
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn("Permission denied", done.stderr)
        self.assertEqual(list(locked.iterdir()), [])

    def test_stopped(self):
        """Control-C as a terminal sends it, to all that was started: exit 3 after the running file; the rest can be made later."""
        for name, files in self.expected.items():
            with self.subTest(command=name):
                out = self.folder / f"stopped-{name}"
                where = f"{out}/" if name == "ax" else str(out)
                process = subprocess.Popen([self.rheo, *self.commands()[name], "--out", where], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                           env=common.environment(), start_new_session=True)
                limit = time.monotonic() + common.TIMEOUT
                while process.poll() is None and not any(".tmp-" not in path.name for path in (out.iterdir() if out.exists() else ())):
                    self.assertLess(time.monotonic(), limit)
                    time.sleep(0.001)
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGINT)
                _, err = process.communicate(timeout=common.TIMEOUT)
                self.assertIn(process.returncode, (0, 3) if name == "ax" else (3,), err)
                self.assertEqual([path for path in out.iterdir() if ".tmp-" in path.name], [])
                count = self.check_part(name, out)
                self.assertGreater(count, 0)
                if process.returncode == 3:
                    self.assertLess(count, len(files))
                if "render" in self.commands()[name]:
                    self.assertRegex(err, r"stopped: \d of 6 pictures in .*" + ("and no film" if name == "film" else ""))
                    self.assertFalse((out / "film.mp4").exists())
                more = ["--frames", "2-6"] if name == "surface" else []
                self.assertEqual(self.call(name, out, *more).returncode, 0)
                self.assertEqual(self.digest(out), files)

    def test_output_that_cannot_be_written(self):
        scene = str(SOURCE / "tests/reliability/scenes/splash.yaml")
        for words in (["check", scene], ["info", str(self.run_folder)], ["doc", "scene"], ["help"], ["--version"],
                      ["render", str(self.run_folder), "--quick", "--size", "64x48", "--out", str(self.folder / "printed")], ["view", str(self.run_folder)]):
            with self.subTest(words=words), open("/dev/full", "w") as full:
                done = subprocess.run([RHEO, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=common.TIMEOUT, env=common.environment())
                if words[0] == "view" and "built without" in done.stderr:
                    continue
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("standard output cannot be written", done.stderr)

    def least_room(self):
        """Address space (MB) with which the program just comes up."""
        room = 64
        while room < 4096:
            if self.with_room(room, ["info", str(self.run_folder)]).returncode == 0:
                return room
            room += 16
        self.skipTest("does not start in 4 GB of address space")

    @staticmethod
    def with_room(room, words):
        limit = room << 20
        return subprocess.run([RHEO, *words], capture_output=True, text=True, timeout=common.TIMEOUT, env=common.environment(),
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

    def test_memory(self):
        """Too little memory for all of it: exit 1 and the word, whole files only. LLVM ends the program without memory, so `ax` is left out."""
        if SANITIZED:
            self.skipTest("sanitizers need address space of their own")
        least, failed = self.least_room(), 0
        for more in (8, 24, 48, 96):
            for name in self.sizes:
                if name == "ax":
                    continue
                with self.subTest(command=name, more=more):
                    out = self.folder / f"tight-{name}-{more}"
                    done = self.with_room(least + more, [*self.commands()[name], "--out", str(out)])
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    if done.returncode:
                        self.assertRegex(done.stderr, "memory|Thread creation failed|Cannot allocate|ffmpeg failed")  # the second: the runtime of OpenMP
                        failed += 1
                    self.assertEqual([path for path in out.iterdir() if ".tmp-" in path.name] if out.exists() else [], [])
                    self.check_part(name, out)
        self.assertGreater(failed, 0)


if __name__ == "__main__":
    RHEO, SOURCE = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    SANITIZED = any(mark in pathlib.Path(RHEO).read_bytes() for mark in (b"__asan_init", b"__tsan_init"))
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
