# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Disks that fill up, folders that go away or may not be written, two runs at once: clear words, nothing lost."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import common

RHEO = SOURCE = None
LONG = bool(os.environ.get("RHEO_LONG"))  # also what takes minutes


class Disk(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory(prefix="disk-", dir=".", ignore_cleanup_errors=True)
        self.folder = pathlib.Path(self.holder.name).resolve()
        self.scenes = common.scenes(SOURCE, RHEO)
        self.scene = self.scenes[0]

    def tearDown(self):
        subprocess.run(["umount", str(self.folder / "small")], capture_output=True)
        self.holder.cleanup()

    def start(self, folder, *more):
        return subprocess.Popen([RHEO, "run", str(self.scene), "--out", str(folder), *more], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True, env=common.environment())

    def wait_for(self, path, process):
        limit = time.monotonic() + common.TIMEOUT
        while not path.exists():
            self.assertIsNone(process.poll(), f"ended before {path} was there")
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.001)

    def test_full_disk(self):
        """At many sizes of the disk: the run stops with the last good checkpoint named, nothing is cut short, and goes on when there is space."""
        small = self.folder / "small"
        if not common.mount_small(small, 1 << 20):
            self.skipTest("this user may not mount a small file system")
        sizes = (0.1, 0.35, 0.6, 0.8, 0.95)
        for n, scene in enumerate(self.scenes):
            # In turns, so that every size is tried with some scenes and every scene with some sizes.
            parts = sizes if LONG else (sizes[n % 5], sizes[(n + 2) % 5])
            common.run(RHEO, scene, self.folder / "whole")
            expected = common.digest(self.folder / "whole")
            whole = sum(p.stat().st_size for p in (self.folder / "whole").rglob("*") if p.is_file())
            stopped = 0
            for part in parts:
                run = small / "run"
                subprocess.run(["mount", "-o", f"remount,size={max(int(part * whole), 8192)}", str(small)], check=True)
                done = common.run(RHEO, scene, run, code=None)
                with self.subTest(scene=scene.stem, part=part):
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    stopped += done.returncode
                    if done.returncode:
                        self.assertIn("No space left on device", done.stderr)
                        self.assertRegex(done.stderr, r"the last good checkpoint is |there is no checkpoint yet|cannot (make|write)")
                    common.compare(expected, run, f"{scene.stem} on a disk of {part}", partly=True)
                    self.assertEqual(list(run.rglob("*.tmp-*")), [])
                    subprocess.run(["mount", "-o", f"remount,size={4 * whole}", str(small)], check=True)
                    common.run(RHEO, scene, run, "--resume")
                    common.compare(expected, run, f"{scene.stem} after space was made")
                shutil.rmtree(run)
            self.assertGreaterEqual(stopped, 3 if LONG else 1, "the disks were too large to fill")
            shutil.rmtree(self.folder / "whole")

    def test_space_is_watched(self):
        """A disk that will not do for the whole run: told at the first frame, while the run goes on."""
        small = self.folder / "small"
        if not common.mount_small(small, 5 << 20):
            self.skipTest("this user may not mount a small file system")
        done = common.run(RHEO, self.scene, small / "run", "--set", "frames.last=900", "--frames", "1-3", code=0)
        self.assertNotIn("MB left", done.stderr)
        done = common.run(RHEO, self.scene, small / "run", "--set", "frames.last=900", "--force", code=1)
        self.assertRegex(done.stderr, r"warning: the disk of .* has \d\.\d MB left; the 89\d frames to come will need about \d+\.\d MB")
        self.assertEqual(done.stderr.count("MB left"), 1)

    def test_only_own_files_count(self):
        """Other programs fill the disk while frames are written: the warning goes by the size of this run's files."""
        small = self.folder / "small"
        if not common.mount_small(small, 120 << 20):
            self.skipTest("this user may not mount a small file system")
        process = self.start(small / "run", "--set", "frames.last=60")
        other = small / "other"
        with open(other, "wb") as file:
            for _ in range(300):  # megabytes between any two frames, 30 MB in all
                if process.poll() is not None:
                    break
                file.write(bytes(100000))
                file.flush()
                time.sleep(0.002)
        _, err = process.communicate(timeout=common.TIMEOUT)
        self.assertEqual(process.returncode, 0, err)
        self.assertNotIn("MB left", err)

    def test_removed_folder(self):
        run = self.folder / "run"
        process = self.start(run)
        self.wait_for(run / "points" / "points.0002.vdb", process)
        process.send_signal(signal.SIGSTOP)
        shutil.rmtree(run)
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=common.TIMEOUT)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(str(run), err)
        self.assertRegex(err, "[Nn]o such file")
        common.run(RHEO, self.scene, run, "--resume")

    def test_read_only(self):
        """A file system that became read-only, and folders whose permissions are missing."""
        common.run(RHEO, self.scene, self.folder / "whole")
        expected = common.digest(self.folder / "whole")
        small = self.folder / "small"
        if not common.mount_small(small, 64 << 20):
            self.skipTest("this user may not mount a file system")
        common.run(RHEO, self.scene, small / "run", "--frames", "1-4")
        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
        done = common.run(RHEO, self.scene, small / "run", "--resume", code=1)
        self.assertIn("Read-only file system", done.stderr)
        done = common.run(RHEO, self.scene, small / "other", code=1)
        self.assertIn("Read-only file system", done.stderr)
        subprocess.run(["mount", "-o", "remount,rw", str(small)], check=True)
        common.run(RHEO, self.scene, small / "run", "--resume")
        common.compare(expected, small / "run", "after the file system could be written again")

    def test_no_permission(self):
        with common.open_folder("permission-") as name:
            folder = pathlib.Path(name)
            rheo, scene, else_ = common.program_for_others(RHEO, folder), folder / "scene.yaml", common.somebody_else()
            shutil.copy(self.scene, scene)
            locked, run = folder / "locked", folder / "run"
            locked.mkdir(mode=0o555)
            for out in (locked, locked / "run"):
                self.assertIn("Permission denied", common.run(rheo, scene, out, code=1, **else_).stderr)
            self.assertEqual(list(locked.iterdir()), [])
            # A run of somebody else, or one whose permissions are gone: told, and left as it was.
            common.run(rheo, scene, run, "--frames", "1-4")
            parts = [run, *(part for part in run.iterdir() if part.is_dir())]
            before = common.digest(run)
            for part in parts:
                part.chmod(0o555)
            for more in (("--resume",), ("--force",)):
                done = common.run(rheo, scene, run, *more, code=1, **else_)
                self.assertIn("Permission denied", done.stderr)
            self.assertEqual(common.digest(run), before)
            for part in parts:
                part.chmod(0o755)
            common.run(rheo, scene, run, "--resume")
            common.run(RHEO, self.scene, self.folder / "whole")
            common.compare(common.digest(self.folder / "whole"), run, "with its permissions back")
            scene.chmod(0o000)
            self.assertIn("Permission denied", common.run(rheo, scene, folder / "other", code=1, **else_).stderr)

    def test_two_runs_at_once(self):
        run = self.folder / "run"
        first = self.start(run)
        self.wait_for(run / "points" / "points.0001.vdb", first)
        first.send_signal(signal.SIGSTOP)
        for more in ((), ("--resume",), ("--force",)):
            done = common.run(RHEO, self.scene, run, *more, code=2)
            self.assertRegex(done.stderr, rf"another run is writing to this folder: process {first.pid} on|already holds")
        first.send_signal(signal.SIGCONT)
        _, err = first.communicate(timeout=common.TIMEOUT)
        self.assertEqual(first.returncode, 0, err)
        common.run(RHEO, self.scene, self.folder / "whole")
        common.compare(common.digest(self.folder / "whole"), run, "with others at the door")
        self.assertFalse((run / ".lock").exists())


if __name__ == "__main__":
    RHEO, SOURCE = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
