# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Many sets of values from one scene: a run each, named by its values, and one picture of all; called again it makes nothing anew; what is wrong
is told before anything is run.

usage: test_wedge.py RHEO
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

SCENE = """rheo: 1
cell: 0.05
frames: {last: 3}
physics: {droplets: {radius: 0.01, drag: none}}
bodies: [{shape: {box: {min: [0, 0, 0], max: [0.2, 0.2, 0.2]}}}]
"""


def rheo(*words, code=0):
    done = subprocess.run([RHEO, *map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, f"rheo {words}: exit {done.returncode}, expected {code}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def main():
    with tempfile.TemporaryDirectory(prefix="rheo-wedge") as name:
        work = pathlib.Path(name)
        scene, out = work / "drops.yaml", work / "all"
        scene.write_text(SCENE)
        words = ["wedge", scene, "physics.droplets.radius=0.005,0.01", "gravity=[0,-9.81,0],[0,0,0],[1, 0, 0]", "--out", out, "--quiet"]
        for wrong, told in (("physics.droplets.radus=1,2", "did you mean 'radius'"), ("cell=0.05,", "expected a value"), ("cell", "path=value"),
                            ("physics.droplets.radius=0.001,9", "radius")):
            text = rheo("wedge", scene, wrong, "--out", out, code=2)
            assert told in text and not out.exists(), text
        assert "expected SCENE path=value" in rheo("wedge", scene, "--out", out, code=2)
        assert rheo(*words).strip() == f"{out}/contact_sheet.png"
        runs = sorted(p.name for p in out.iterdir() if p.is_dir())
        assert len(runs) == 6 and "radius=0.005,gravity=_0,-9.81,0_" in runs, runs
        for run in runs:
            assert len(list((out / run / "points").glob("*.vdb"))) == 3, run
        sheet = (out / "contact_sheet.png").read_bytes()
        assert struct.unpack(">II", sheet[16:24]) == (3 * 480, 2 * 270)
        times = {p: p.stat().st_mtime_ns for p in out.rglob("points.*.vdb")}
        (out / runs[0] / "points" / "points.0003.vdb").unlink()  # is made again, the others are left alone
        rheo(*words)
        assert sum(p.stat().st_mtime_ns != t for p, t in times.items()) == 1
        killed(work, scene)
    print("wedges are as they should be")


def killed(work, scene):
    """Killed at any moment, before the first frame or between two runs, and called again it makes the same files."""
    frames = {}
    for out, moments in ((work / "whole", ()), (work / "killed", (0.02, 0.05, 0.1, 0.2, 0.4))):
        words = [RHEO, "wedge", scene, "cell=0.05,0.04", "--out", f"{out}/", "--set", "frames.last=12", "--quiet"]
        for moment in moments:
            child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                child.wait(timeout=moment)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        assert rheo(*words[1:]).strip() == f"{out}/contact_sheet.png"
        frames[out] = {p.relative_to(out): p.read_bytes() for p in out.rglob("points.*.vdb")}
    whole, again = frames.values()
    assert len(whole) == 24 and whole == again, (sorted(whole), sorted(again))


RHEO = str(pathlib.Path(sys.argv[1]).resolve())
main()
