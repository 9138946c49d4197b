#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Small runs under valgrind: no read of what was never written, no access outside, nothing of ours lost.

  memcheck.py RHEO SOURCE [--all]     without --all only the first scene, two frames
Where the program was built for a processor that valgrind does not know, or there is no valgrind, the test is skipped (77).
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import common

ERRORS = 99  # valgrind's exit code when it found something


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rheo")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: there is no valgrind")
        sys.exit(77)
    rheo = str(pathlib.Path(options.rheo).resolve())
    scenes = common.scenes(options.source, rheo)
    suppressions = options.source / "tests" / "reliability" / "valgrind.supp"
    for scene in scenes if options.all else scenes[:1]:
        with tempfile.TemporaryDirectory(prefix="memcheck-", dir=".") as work:
            command = ["valgrind", "--quiet", f"--error-exitcode={ERRORS}", "--leak-check=full", "--errors-for-leak-kinds=definite",
                       f"--suppressions={suppressions}", "--child-silent-after-fork=yes", rheo, "run", str(scene), "--out", f"{work}/run",
                       "--threads", "2", "--frames", "1-3", "--quiet", "--memory", "4G"]
            done = subprocess.run(command, capture_output=True, text=True, env=common.environment())
        if "unhandled instruction" in done.stderr or "this processor lacks" in done.stderr:
            print("skipped: valgrind does not know all instructions of this build")
            sys.exit(77)
        if done.returncode != 0:
            raise SystemExit(f"{scene.stem}: exit code {done.returncode}\n{done.stderr[-8000:]}")
        print(f"{scene.stem}: clean", flush=True)


if __name__ == "__main__":
    main()
