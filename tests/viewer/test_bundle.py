#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""The built page in viewer/dist is the one its sources give.

usage: test_bundle.py SOURCE_DIR [WORK_DIR]

Without any tool: the hash of the sources that the build left beside it, the rules for what is in it. Where node and npm are there and the
packages can be had, it is also built again and compared byte by byte.
"""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FILES = ["index.html", "viewer.js", "viewer.css", "decode.js", "licenses.txt", "sources.sha256"]


def hash_of_sources(viewer):
    names = sorted([f"src/{path.name}" for path in (viewer / "src").iterdir()] + ["bundle.mjs", "package-lock.json"])
    total = hashlib.sha256()
    for name in names:
        total.update(f"{name}\n".encode() + (viewer / name).read_bytes())
    return total.hexdigest()


def check_files(viewer):
    found = sorted(path.name for path in (viewer / "dist").iterdir())
    assert found == sorted(FILES), f"dist/ holds {found}, expected {sorted(FILES)}"
    kept = (viewer / "dist" / "sources.sha256").read_text().strip()
    assert kept == hash_of_sources(viewer), "dist/ is older than the sources: run viewer/build"
    # The page asks nobody but its own server; the packages come from wherever npm is set up to get them.
    style = (viewer / "dist" / "viewer.css").read_text()
    assert "url(" not in style and "@import" not in style, "the style refers to other files"
    assert "\"resolved\"" not in (viewer / "package-lock.json").read_text(), "package-lock.json names a host"
    for name in ("src/index.html", "src/main.js"):
        assert not re.search(r"https?://(?!www\.w3\.org)", (viewer / name).read_text()), f"{name} names a host"


def rebuild(viewer, work):
    """Builds in a copy. None when the packages cannot be had."""
    copy = work / "viewer"
    shutil.copytree(viewer, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    installed = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefer-offline"], cwd=copy,
                               capture_output=True, text=True, timeout=600)
    if installed.returncode:
        print(f"the packages cannot be had, so the page was not built again: {installed.stderr.strip()[:300]}")
        return None
    subprocess.run(["node", "bundle.mjs", str(copy / "dist")], cwd=copy, check=True, timeout=600)
    return copy / "dist"


def main():
    viewer = pathlib.Path(sys.argv[1]).resolve() / "viewer"
    check_files(viewer)
    if not shutil.which("npm") or not shutil.which("node"):
        print("sources and page agree; node and npm are not here, so the page was not built again")
        return 0
    with tempfile.TemporaryDirectory(prefix="bundle-", dir=sys.argv[2] if len(sys.argv) > 2 else None) as work:
        again = rebuild(viewer, pathlib.Path(work))
        for name in FILES if again else []:
            assert (again / name).read_bytes() == (viewer / "dist" / name).read_bytes(), f"{name}: a new build gives other bytes"
    print("the page is the one its sources give")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AssertionError as error:
        print(f"test_bundle: {error}", file=sys.stderr)
        sys.exit(1)
