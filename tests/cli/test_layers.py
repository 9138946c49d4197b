# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Runs that stand on other runs, and fields in frames, from outside: bytes do not depend on threads, stops and kills; the base is never
written; what is wrong is said with the file. OpenVDB's own tools open the fields where they are installed.

usage: test_layers.py RHEO SOURCE
"""
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BASE = """rheo: 1
cell: 0.05
dimension: 2
frames: {last: 8}
physics: {liquid: {}}
bodies: [{shape: {box: {min: [0, 0, -1], max: [0.4, 0.5, 1]}}}]
solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 1, 1]}}}]
"""
LAYER = """rheo: 1
cell: 0.025
dimension: 2
frames: {last: 8}
checkpoint: {frames: 2, minutes: 0.0005}
from: {water: base}
physics: {dye: {carried_by: water, diffusivity: 0.0002}}
bodies: [{shape: {box: {min: [0.1, 0.1, -1], max: [0.3, 0.4, 1]}}}]
"""
WHITEWATER = """rheo: 1
cell: 0.05
dimension: 2
frames: {last: 8}
checkpoint: {frames: 2, minutes: 0.0005}
from: {water: base}
physics: {whitewater: {over: water, amount: 20, speed_from: 0.1, speed_to: 1, trapped_air_from: 0.01, trapped_air_to: 0.3}}
solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 1, 1]}}}]
"""
MIST = """rheo: 1
cell: 0.1
dimension: 2
frames: {last: 8}
checkpoint: {frames: 2, minutes: 0.0005}
from: {white: white}
physics: {mist: {over: white, wind: [0.5, 0, 0]}}
"""
POOL = """rheo: 1
cell: 0.05
dimension: 2
frames: {last: 7}
physics: {liquid: {}}
bodies: [{shape: {box: {min: [0, 0, -1], max: [1, 0.3, 1]}}}]
solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 1, 1]}}}]
"""
RAIN = """rheo: 1
cell: 0.02
dimension: 2
frames: {last: 7}
physics: {ballistic: {particles_per_axis: 1}}
bodies: [{velocity: [0.3, -1.5, 0], shape: {box: {min: [0.2, 0.45, -1], max: [0.8, 0.55, 1]}}}]
"""
ENTRIES = """rheo: 1
cell: 0.05
dimension: 2
frames: {last: 7}
from: {water: pool, rain: rain}
physics: {whitewater: {over: water, drops: rain, amount: 0, entry: 3}}
"""
ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "4000"}


def rheo(*words, code=0):
    done = subprocess.run([RHEO, *map(str, words)], capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
    assert done.returncode == code, f"rheo {words}: exit {done.returncode}, expected {code}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def digest(folder, parts=("points", "fields")):
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
            for part in parts for p in sorted((folder / part).glob("*"))}


def everything(folder):
    return {str(p): (p.stat().st_mtime_ns, hashlib.sha256(p.read_bytes()).hexdigest()) for p in sorted(folder.rglob("*")) if p.is_file()}


def kill_once(scene, folder, seconds):
    process = subprocess.Popen([RHEO, "run", str(scene), "--out", str(folder), "--resume", "--quiet"], env=ENVIRONMENT)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()


def bytes_are_the_same(work, scene):
    before = everything(work / "base")
    rheo("run", scene, "--out", work / "one", "--threads", 1, "--quiet")
    whole = digest(work / "one")
    assert len(whole) == 16 and any("fields.0008.vdb" in name for name in whole), whole
    rheo("run", scene, "--out", work / "three", "--threads", 3, "--quiet")
    assert digest(work / "three") == whole, "three threads give other bytes"
    rheo("run", scene, "--out", work / "stopped", "--frames", "1-4", "--quiet")
    rheo("run", scene, "--out", work / "stopped", "--resume", "--quiet")
    assert digest(work / "stopped") == whole, "a run that was stopped gives other bytes"
    for seconds in (0.12, 0.35):
        kill_once(scene, work / "killed", seconds)
    rheo("run", scene, "--out", work / "killed", "--resume", "--quiet")
    assert digest(work / "killed") == whole, "a run that was killed gives other bytes"
    (work / "one" / "fields" / "fields.0003.vdb").unlink()  # a frame without its field is missing, and is made again
    rheo("run", scene, "--out", work / "one", "--resume", "--quiet")
    assert digest(work / "one") == whole, "a field that went missing was not made again"
    assert everything(work / "base") == before, "the base was written to"
    text = rheo("info", work / "one")
    assert "fields       1 to 8" in text and "from         water: " in text, text
    assert "dye: float" in rheo("info", work / "one" / "fields" / "fields.0008.vdb")
    for command in ("surface", "render"):  # of what, there being no particles?
        text = rheo(command, work / "one", code=2)
        assert "found no particles" in text and f"{work / 'one'}/fields" in text, text


def the_flow_carries(work):
    """The ink's centre has moved with the water: down and to the right."""
    text = {n: rheo("info", work / "one" / "fields" / f"fields.000{n}.vdb") for n in (1, 8)}
    right = {n: int(t.split("..[")[1].split(",")[0]) for n, t in text.items()}
    assert right[8] > right[1] + 4, text


def mistakes_are_said(work, scene):
    text = rheo("check", scene, "--set", "physics.dye.carried_by=wather", code=2)
    assert "did you mean 'water'" in text, text
    text = rheo("check", scene, "--set", "frames.last=20", code=2)
    assert "'water' ends at" in text and "layer.yaml:" in text, text
    text = rheo("check", scene, "--set", "from=[{name: water, run: nowhere}]", code=2)
    assert "nowhere" in text and "expected the folder of a run" in text, text
    text = rheo("check", scene, "--sandbox", work / "inner", code=2)
    assert "sandbox" in text, text
    # The folder that the layer would write to is its base: nothing of that may go.
    before = everything(work / "base")
    for words in ([], ["--force"], ["--resume"], ["--resume", "--changed"]):
        text = rheo("run", scene, "--out", work / "base", "--quiet", *words, code=2)
        assert everything(work / "base") == before, (words, text)
    text = rheo("run", scene, "--out", work / "inner" / ".." / "base", "--quiet", "--force", code=2)
    assert "layer.yaml:6:" in text and "'water' is the folder that this run would write to" in text, text
    # A frame of the base that is missing: its file is named, and nothing of the layer is lost.
    frame = work / "base" / "points" / "points.0006.vdb"
    moved = frame.rename(work / "aside.vdb")
    text = rheo("run", scene, "--out", work / "gap", "--quiet", code=2)
    assert str(frame.name) in text and "missing" in text, text
    shutil.move(moved, frame)
    rheo("run", scene, "--out", work / "gap", "--resume", "--quiet")
    assert digest(work / "gap") == digest(work / "one")
    # A base that was made again with other water.
    rheo("run", scene, "--out", work / "changed", "--frames", "1-4", "--quiet")
    rheo("run", work / "base.yaml", "--out", work / "base", "--set", "gravity=[0, -20, 0]", "--force", "--quiet")
    text = rheo("run", scene, "--out", work / "changed", "--resume", "--quiet", code=2)
    assert "the base was made again" in text and "points.0001.vdb" not in text.split("--changed")[1], text
    rheo("run", scene, "--out", work / "changed", "--resume", "--changed", "--quiet")


def mist_floats_over_it(work):
    """Mist of the whitewater's spray: the same bytes whatever threads and kills; a name that is not there is told."""
    scene = work / "mist.yaml"
    scene.write_text(MIST)
    rheo("run", scene, "--out", work / "mist", "--threads", 1, "--quiet")
    whole = digest(work / "mist")
    kill_once(scene, work / "mist_killed", 0.15)
    rheo("run", scene, "--out", work / "mist_killed", "--resume", "--threads", 3, "--quiet")
    assert digest(work / "mist_killed") == whole, "mist that was killed gives other bytes"
    text = rheo("info", work / "mist" / "fields" / "fields.0008.vdb")
    assert "mist: float, fog volume" in text and "air: vec3s" in text, text
    text = rheo("check", scene, "--set", "physics.mist.over=whit", code=2)
    assert "did you mean 'white'" in text, text


def drops_leave_bubbles(work):
    """Each drop that falls into a pool leaves three, whatever the steps (a few enter twice, as the surface moves); slow ones leave none."""
    for name, text in (("pool", POOL), ("rain", RAIN)):
        (work / f"{name}.yaml").write_text(text)
        rheo("run", work / f"{name}.yaml", "--out", work / name, "--quiet")
    (work / "entries.yaml").write_text(ENTRIES)
    drops = particles_of(work / "rain", 7)
    for step, speed in ((1, 0.5), (0.007, 0.5), (1, 9)):
        folder = work / f"entries_{step}_{speed}"
        rheo("run", work / "entries.yaml", "--out", folder, "--set", f"max_step={step}", "--set", f"physics.whitewater.entry_speed={speed}", "--quiet")
        found = particles_of(folder, 7)
        assert found == 0 if speed == 9 else abs(found / (3 * drops) - 1) < 0.1, (step, speed, found, drops)
    text = rheo("check", work / "entries.yaml", "--set", "physics.whitewater.drops=rein", code=2)
    assert "did you mean 'rain'" in text, text


def particles_of(folder, frame):
    words = rheo("info", folder / "points" / f"points.{frame:04}.vdb").replace(",", " ").split()
    return int(words[words.index("points") - 1])


def groups_of(folder, frame):
    """How many bubbles and how much foam there are."""
    text = rheo("info", folder / "points" / f"points.{frame:04}.vdb")
    return [int(text.split(f"group {name} of ")[1].split()[0]) for name in ("bubble", "foam")]


def whitewater_rides_on_it(work):
    """A second layer over the same base: the same bytes for threads, stops and kills; the base is not written to; how many particles there
    are does not hang on the length of steps; classes can be left out."""
    scene = work / "white.yaml"
    scene.write_text(WHITEWATER)
    before = everything(work / "base")
    rheo("run", scene, "--out", work / "white", "--threads", 1, "--quiet")
    whole = digest(work / "white")
    rheo("run", scene, "--out", work / "white3", "--threads", 3, "--quiet")
    assert digest(work / "white3") == whole, "three threads give other whitewater"
    rheo("run", scene, "--out", work / "white_stopped", "--frames", "1-4", "--quiet")
    rheo("run", scene, "--out", work / "white_stopped", "--resume", "--quiet")
    assert digest(work / "white_stopped") == whole, "whitewater that was stopped gives other bytes"
    kill_once(scene, work / "white_killed", 0.2)
    rheo("run", scene, "--out", work / "white_killed", "--resume", "--quiet")
    assert digest(work / "white_killed") == whole, "whitewater that was killed gives other bytes"
    assert everything(work / "base") == before, "the base was written to"
    many = particles_of(work / "white", 8)
    assert many > 300, many
    counts = {}
    for step in ("1", "0.004"):  # a whole frame, and a tenth of it
        rheo("run", scene, "--out", work / f"white_{step}", "--set", f"max_step={step}", "--set", "physics.whitewater.amount=40", "--quiet")
        counts[step] = [particles_of(work / f"white_{step}", 8), *groups_of(work / f"white_{step}", 8)]
    for name, long, short in zip(("all", "bubbles", "foam"), counts["1"], counts["0.004"]):
        assert abs(long / short - 1) < (0.05 if name == "all" else 0.08), (name, counts)
    rheo("run", scene, "--out", work / "foam", "--set", "physics.whitewater.spray=false", "--set", "physics.whitewater.bubbles=false", "--quiet")
    assert 0 < particles_of(work / "foam", 8) < many
    frame = work / "white" / "points" / "points.0008.vdb"
    text = rheo("info", frame, "--histogram", "radius")
    assert f"{many:,}".replace(",", " ") in text and "Sauter's mean" in text and len(text.splitlines()) == 24, text
    assert "did you mean 'radius'" in rheo("info", frame, "--histogram", "radios", code=2)
    text = rheo("check", scene, "--set", "physics.whitewater.over=wather", code=2)
    assert "did you mean 'water'" in text, text


def programs_of_the_page_run(work, page):
    """What docs/theory/whitewater.md shows to clean up, mask and change whitewater with: every yaml block, in one short run."""
    blocks = [part.split("```")[0] for part in page.read_text().split("```yaml\n")[1:]]
    text = "".join(blocks)
    assert all(text.count(f"{key}:\n") == 1 for key in ("sinks", "masks", "expressions")), text
    (work / "rock.obj").write_text("v .5 .1 0\nv .6 .1 0\nv .5 .2 0\nv .5 .1 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    scene = work / "page.yaml"
    scene.write_text(WHITEWATER.replace("last: 8", "last: 4") + text)
    rheo("run", scene, "--out", work / "page", "--quiet")
    info = rheo("info", work / "page" / "points" / "points.0004.vdb")
    assert all(name in info for name in ("bright", "fresh", "far", "dense")), info


def materials_are_named(work):
    """A base with two materials: the one that the base is called by, and no other in its place."""
    two = BASE.replace("physics: {liquid: {}}", "materials: [{name: water, physics: {liquid: {}}}, {name: dune, physics: {sand: {}}}]")
    (work / "two.yaml").write_text(two.replace("last: 8", "last: 2"))
    rheo("run", work / "two.yaml", "--out", work / "two", "--quiet")
    for name, code in (("water", 0), ("dune", 0), ("wather", 2), ("ink", 2)):
        layer = LAYER.replace("from: {water: base}", f"from: {{{name}: two}}").replace("carried_by: water", f"carried_by: {name}")
        (work / "on_two.yaml").write_text(layer.replace("last: 8", "last: 2"))
        text = rheo("check", work / "on_two.yaml", code=code)
        assert code == 0 or (f"none is called '{name}'" in text and "dune, water" in text and "on_two.yaml:" in text), text
        assert ("did you mean 'water'?" in text) == (name == "wather"), text


def others_open_it(work):
    tool = shutil.which("vdb_tool"), shutil.which("vdb_print")
    frame = work / "one" / "fields" / "fields.0008.vdb"
    if not all(tool):
        print("skipped: OpenVDB's tools are not installed")
        return
    text = subprocess.run([tool[1], "-l", str(frame)], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "dye" in text and "fog volume" in text and "rheo_kind" in text, text
    done = subprocess.run([tool[0], "-read", str(frame), "-print"], capture_output=True, text=True, timeout=60, check=True)
    assert "dye" in done.stdout + done.stderr, done


def main():
    with tempfile.TemporaryDirectory(prefix="rheo-layers") as name:
        work = pathlib.Path(name)
        (work / "inner").mkdir()
        (work / "base.yaml").write_text(BASE)
        scene = work / "layer.yaml"
        scene.write_text(LAYER)
        rheo("run", work / "base.yaml", "--out", work / "base", "--quiet")
        bytes_are_the_same(work, scene)
        the_flow_carries(work)
        others_open_it(work)
        whitewater_rides_on_it(work)
        programs_of_the_page_run(work, pathlib.Path(sys.argv[2]) / "docs" / "theory" / "whitewater.md")
        mist_floats_over_it(work)
        drops_leave_bubbles(work)
        materials_are_named(work)
        mistakes_are_said(work, scene)
    print("layers and fields are as they should be")


RHEO = str(pathlib.Path(sys.argv[1]).resolve())
main()
