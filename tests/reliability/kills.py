#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Kills runs at random moments with SIGKILL and resumes them until they are done.

After every kill whatever is on disk must be whole and right; at the end all bytes must be those of a run that was never stopped.
  kills.py RHEO SOURCE [--kills N] [--seed S] [--only SCENE ...]
"""
import argparse
import json
import pathlib
import random
import signal
import subprocess
import tempfile
import time

import common


def kill_once(rheo, scene, folder, moment):
    """True when the run was killed, False when it was done before."""
    process = subprocess.Popen([rheo, "run", str(scene), "--out", str(folder), "--resume", "--quiet"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, env=common.environment())
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    _, err = process.communicate(timeout=common.TIMEOUT)
    if process.returncode not in (0, -signal.SIGKILL):
        raise AssertionError(f"{scene.name}: exit code {process.returncode} when resumed\n{err}")
    return process.returncode != 0


def check_log(folder):
    """Every step once, in order, whatever happened."""
    steps = [json.loads(line)["step"] for line in (folder / "log.jsonl").read_text().splitlines()]
    if steps != list(range(1, len(steps) + 1)):
        raise AssertionError(f"{folder}: the log has steps {steps}")


def torture(rheo, scene, work, draw, kills):
    """Runs of the scene, one after the other, until so many were killed. Returns (kills, runs)."""
    start = time.monotonic()
    common.run(rheo, scene, work / "whole")
    seconds, expected = time.monotonic() - start, common.digest(work / "whole")
    done = runs = 0
    while done < kills:
        folder, runs, goes = work / f"run{runs}", runs + 1, 0
        while kill_once(rheo, scene, folder, draw.uniform(0, 0.7) * seconds):
            done, goes = done + 1, goes + 1
            common.compare(expected, folder, f"{scene.name} after kill {done}", partly=True)
            if done >= kills or goes > 30:
                common.run(rheo, scene, folder, "--resume")
                break
        # The clock of a shared machine: moments follow what runs take now, so that few are done before they are killed.
        seconds *= 0.7 if goes < 2 else 1.3 if goes > 12 else 1
        common.compare(expected, folder, f"{scene.name}, run {runs}")
        check_log(folder)
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
    return done, runs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rheo")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=9, help="in all, over all scenes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    scenes = common.scenes(options.source, options.rheo, options.only)
    draw, total = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory(prefix="kills-", dir=".") as work:
        for number, scene in enumerate(scenes):
            share = (options.kills - total + len(scenes) - number - 1) // (len(scenes) - number)
            folder = pathlib.Path(work, scene.stem)
            folder.mkdir()
            done, runs = torture(str(pathlib.Path(options.rheo).resolve()), scene, folder, draw, share)
            total += done
            print(f"{scene.stem}: {done} kills in {runs} runs, all bytes equal", flush=True)
    print(f"{total} kills")


if __name__ == "__main__":
    main()
