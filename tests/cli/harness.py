# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""What the command-line tests share: running the program in a folder of its own, looking into a run."""
import hashlib
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

RHEO = None    # path of the program
SOURCE = None  # the source tree

TIMEOUT = 120  # s; a program that hangs is a failure, not a stuck test


class Case(unittest.TestCase):
    """Each test works in a fresh folder, which is its current folder for the program."""

    def setUp(self):
        self.holder = tempfile.TemporaryDirectory(prefix="scratch-cli-", dir=".", ignore_cleanup_errors=True)
        self.folder = pathlib.Path(self.holder.name).resolve()

    def tearDown(self):
        self.holder.cleanup()

    def rheo(self, *arguments, code=0, folder=None):
        """Runs the program, requires the exit code, returns (stdout, stderr)."""
        done = subprocess.run([str(RHEO), *map(str, arguments)], cwd=folder or self.folder, capture_output=True,
                              timeout=TIMEOUT)
        out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        self.assertEqual(done.returncode, code, f"rheo {' '.join(map(str, arguments))}\n{out}\n{err}")
        return out, err

    def start(self, *arguments):
        return subprocess.Popen([str(RHEO), *map(str, arguments)], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)

    def finish(self, process):
        _, err = process.communicate(timeout=TIMEOUT)
        return process.returncode, err.decode("utf-8", "replace")

    def wait_for(self, path, process):
        """Until a file is there. The program must still be running then."""
        limit = time.monotonic() + TIMEOUT
        while not (self.folder / path).exists():
            self.assertIsNone(process.poll(), f"ended before {path} was there")
            self.assertLess(time.monotonic(), limit, f"no {path}")
            time.sleep(0.001)

    def interrupt_at(self, frame, *arguments):
        """Starts a run, sends Control-C when a frame's file appears, returns (exit code, stderr)."""
        process = self.start(*arguments)
        folder = arguments[arguments.index("--out") + 1]
        try:
            self.wait_for(f"{folder}/points/points.{frame:04d}.vdb", process)
            process.send_signal(signal.SIGINT)
            return self.finish(process)
        finally:
            process.kill()
            process.wait()
            process.stderr.close()

    def frames(self, run):
        found = sorted((self.folder / run / "points").glob("points.*.vdb"))
        return [int(re.fullmatch(r"points\.(\d{4,})\.vdb", path.name).group(1)) for path in found]

    def hash(self, path):
        out, _ = self.rheo("info", "--hash", path)
        self.assertRegex(out, r"^[0-9a-f]{16}\n$")
        return out.strip()

    def hashes(self, run):
        """Of the bytes of its frames. (A start of the program for each of them took half of the time of these tests.)"""
        files = {frame: self.folder / run / f"points/points.{frame:04d}.vdb" for frame in self.frames(run)}
        return {frame: hashlib.sha256(path.read_bytes()).hexdigest() for frame, path in files.items()}

    def contents(self, run):
        """The program's own hashes: of the points alone, whatever the file says of the scene they come from."""
        return {frame: self.hash(f"{run}/points/points.{frame:04d}.vdb") for frame in self.frames(run)}

    def checkpoints(self, run):
        return sorted((self.folder / run / "checkpoint").glob("*.h5"), key=lambda path: path.stat().st_mtime_ns)

    def assert_no_leftovers(self, run):
        self.assertEqual([str(p) for p in (self.folder / run).rglob("*.tmp-*")], [])


def scene(name):
    return SOURCE / "tests" / "cli" / name


def expectations(table):
    """Rows of a table "file TAB expected substring"; lines that start with # are comments.

    A row that starts with @place names the place alone: what is wrong there shows only when meshes are read.
    """
    rows = []
    for line in table.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, words = line.partition("\t")
            rows.append((table.parent / name, words.removeprefix("@place ")))
    return rows
