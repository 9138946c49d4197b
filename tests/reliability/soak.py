#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Short runs of all kinds, one after the other, for a time; then no growth of memory or file handles.

The library is asked, not the program: a process that ends gives everything back. soak_worker (tests/reliability/soak_worker.c) does the runs in one
process and prints a line a round: resident bytes, bytes and blocks in use, open files. The first third of the rounds warms caches up; after that the
resident size may not grow by more than a tenth and the counts not at all.
  soak.py WORKER SOURCE RHEO [--seconds S]
"""
import argparse
import pathlib
import subprocess
import tempfile

import common


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("worker")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("rheo")
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    scenes = [str(path.resolve()) for path in common.scenes(options.source, options.rheo)]
    with tempfile.TemporaryDirectory(prefix="soak-", dir=".") as work:
        done = subprocess.run([str(pathlib.Path(options.worker).resolve()), str(options.seconds), *scenes], cwd=work, stdout=subprocess.PIPE,
                              text=True, env=common.environment())
    if done.returncode != 0:
        raise SystemExit(f"the worker failed with {done.returncode}\n{done.stdout[-2000:]}")
    rounds = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    late = rounds[len(rounds) // 3:]
    if len(late) < 3:
        raise SystemExit(f"only {len(rounds)} rounds in {options.seconds} s: no judgement")
    first, last = late[0], late[-1]
    print(f"{len(rounds)} rounds of {len(scenes)} scenes; resident {first[0] / 1e6:.1f} MB after a third of them, {last[0] / 1e6:.1f} MB at the end; "
          f"{last[1]} bytes in {last[2]} blocks and {last[3]} open files after each")
    if any(line[1:] != first[1:] for line in late):
        raise SystemExit(f"bytes, blocks or open files changed: {sorted(set(line[1:] for line in late))}")
    if last[0] > 1.1 * first[0]:
        raise SystemExit("the resident size grew")


if __name__ == "__main__":
    main()
