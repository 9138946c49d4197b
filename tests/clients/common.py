# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""What the client scripts share: a run folder, calling a program, failing with a reason."""
import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77  # CTest counts this exit status as "skipped"


def tool(name):
    path = shutil.which(name)
    if not path:
        print(f"skipped: {name} is not installed")
        sys.exit(SKIP)
    return path


def run(*command, expect=0):
    """Runs a program; its exit status must be 0, or not 0 when expect is None. Returns its output."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    good = done.returncode != 0 if expect is None else done.returncode == expect
    check(good, f"{' '.join(command)}\n  ended with {done.returncode}\n{done.stdout}")
    return done.stdout


def check(condition, message):
    if not condition:
        print(f"FAILED: {message}")
        sys.exit(1)


def run_folder(words):
    """`script RUN` uses a run folder; `script --make HELPER` makes one in a temporary folder beside the build."""
    if len(words) == 3 and words[1] == "--make":
        folder = tempfile.mkdtemp(prefix="scratch-clients-", dir=os.getcwd())
        run(words[2], folder)
        return folder, True
    check(len(words) == 2, "expected: RUN, or --make HELPER")
    return words[1], False


def frames(folder):
    points = os.path.join(folder, "points")
    names = sorted(n for n in os.listdir(points) if n.endswith(".vdb"))
    check(names, f"no frames in {points}")
    return [os.path.join(points, n) for n in names]
