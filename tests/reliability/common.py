# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""What the reliability tests share: the list of tiny scenes and comparing runs byte by byte.

The scenes are the files of tests/reliability/scenes, at least one for each physics: a new method comes with one more file there.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

TIMEOUT = 300  # s


LAYERS = {"whitewater", "mist"}  # methods that cannot be without a base run: tests/cli/test_layers.py kills them


def scenes(source, rheo, only=None):
    """Paths of the tiny scenes; fails when a physics that the program knows has none. Those with programs are left out of a build without them."""
    found = sorted((source / "tests" / "reliability" / "scenes").glob("*.yaml"))
    text = {path: path.read_text() for path in found}
    for method in known_methods(source):
        if method not in LAYERS and not any(re.search(rf"(?m)^  {method}:", t) for t in text.values()):
            raise SystemExit(f"no scene for the physics '{method}' in tests/reliability/scenes")
    return [path for path in found if (not only or path.stem in only) and can_run(rheo, path)]


def known_methods(source):
    """The names in the registry of methods."""
    registry = (source / "src" / "physics" / "registry.c").read_text()
    names = re.search(r"rh_physics_methods\[\] = \{(.*?)\}", registry, re.S).group(1)
    return re.findall(r"&rh_(\w+)", names)


def can_run(rheo, scene):
    done = subprocess.run([rheo, "check", str(scene), "--quiet"], capture_output=True, text=True)
    if done.returncode == 0:
        return True
    if "without" in done.stderr and "LLVM" in done.stderr:
        print(f"skipped {scene.name}: {done.stderr.strip()}")
        return False
    raise SystemExit(f"{scene}: {done.stderr}")


def mount_small(folder, bytes_):
    """A file system of so many bytes; False where that is not allowed."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={bytes_}", "tmpfs", str(folder)], capture_output=True, text=True)
    return done.returncode == 0


def open_folder(prefix):
    """A temporary folder whose content any user may read, outside of the build, which may lie where others cannot look."""
    holder = tempfile.TemporaryDirectory(prefix=f"rheo-{prefix}", ignore_cleanup_errors=True)
    os.chmod(holder.name, 0o755)
    return holder


def program_for_others(rheo, folder):
    """A copy of the program that any user may start."""
    return shutil.copy(rheo, folder / "rheo")


def somebody_else():
    """For root, whom no permission stops: makes a child of subprocess a user who owns nothing here. Others are stopped as they are."""
    return {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}


def environment():
    return {**os.environ, "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "4000"}


def run(rheo, scene, folder, *more, code=0, **options):
    done = subprocess.run([rheo, "run", str(scene), "--out", str(folder), "--quiet", *map(str, more)], capture_output=True, text=True,
                          timeout=TIMEOUT, env=environment(), **options)
    if code is not None and done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}, expected {code}: {scene.name} {more}\n{done.stderr}")
    return done


def digest(folder):
    """Every file that a run hands to people, by its bytes: frames and surfaces. Checkpoints and the log hold times of the clock."""
    out = {}
    for kind in ("points", "fields", "surface"):
        for path in sorted((pathlib.Path(folder) / kind).glob("*")):
            out[f"{kind}/{path.name}"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return out


def compare(expected, folder, what, partly=False):
    """Whatever is there is whole and right; unless `partly`, all of it is there and nothing else."""
    found = digest(folder)
    names = [name for name in found if ".tmp-" not in name]
    for name in names:
        if found[name] != expected.get(name):
            raise AssertionError(f"{what}: {name} differs from the uninterrupted run")
    if not partly and (set(names) != set(expected) or len(names) != len(found)):
        raise AssertionError(f"{what}: found {sorted(found)}, expected {sorted(expected)}")
