#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""OpenVDB's own programs open our frames: vdb_tool finds every point, vdb_ax every attribute by name and type and no
others, and every group; and we open what vdb_ax wrote, with types that we do not write ourselves."""
import os
import shutil
import sys

from common import check, frames, run, run_folder, tool


def ply_count(path):
    with open(path, "rb") as file:
        for line in file:
            if line.startswith(b"element vertex"):
                return int(line.split()[2])
            if line.startswith(b"end_header"):
                break
    return 0


def vdb_tool_count(frame, folder):
    out = os.path.join(folder, "out.ply")
    run(tool("vdb_tool"), "-read", frame, "-vdb2points", "-write", out)
    count = ply_count(out)
    os.remove(out)
    return count


def check_attributes(frame):
    ax = [tool("vdb_ax"), "-i", frame, "--create-missing", "OFF", "-s"]
    # Reading an attribute under another type than the file's is an error of vdb_ax, so this proves the types.
    for code in ("vec3f@P;", "vec3f@v;", "int64@id;", "float@radius;"):
        value = code.split("@")
        run(*ax, f"{value[0]}@{value[1][:-1]} = {value[0]}@{value[1]}")
    run(*ax, "float@nothing = float@nothing;", expect=None)
    run(*ax, "float@v = float@v;", expect=None)


def check_foreign(helper, frame, folder):
    out = os.path.join(folder, "foreign.vdb")
    code = 'double@d = 0.5; vec3d@w = {1,2,3}; string@name = "x"; int16@small = 3; addtogroup("g"); float@radius = 0.25f;'
    run(tool("vdb_ax"), "-i", frame, "-o", out, "-s", code)
    text = run(helper, "--read", out)
    for line in ("1000 points", "P vec3f", "id int64", "d float 0.5", "w vec3f 1 2 3", "radius float 0.25",
                 "spray group 250", "foam group 100", "g group 1000"):
        check(line in text, f"expected '{line}' from a file of vdb_ax, found\n{text}")
    for word in ("name", "small"):
        check(word not in text, f"'{word}' is of a type that should be skipped, found\n{text}")


def check_groups(helper, frame, folder):
    """Our groups are OpenVDB's: vdb_ax finds their points, those alone, and what it changes comes back to us."""
    out = os.path.join(folder, "groups.vdb")
    run(tool("vdb_tool"), "-read", frame, "-write", out)  # which names no groups, but must pass them on
    text = run(helper, "--read", out)
    check("spray group 250" in text and "foam group 100" in text, f"expected the groups in a file of vdb_tool, found\n{text}")
    # A quarter is spray, a tenth foam, a twentieth both: ids count from 5000000000.
    code = ('if (ingroup("spray")) { vec3f@v = {0, 0, 0}; addtogroup("slow"); } if (ingroup("spray") && ingroup("foam")) addtogroup("both"); '
            'if (ingroup("spray") == (int64@id % 4 == 0)) addtogroup("right"); if (ingroup("nobody")) addtogroup("wrong"); '
            'if (vec3f@v.x == 0) removefromgroup("foam");')
    run(tool("vdb_ax"), "-i", frame, "-o", out, "-s", code)
    text = run(helper, "--read", out)
    for line in ("spray group 250", "slow group 250", "both group 50", "right group 1000", "foam group 50"):
        check(line in text, f"expected '{line}' from a file of vdb_ax, found\n{text}")
    check("wrong group 0" in text or "wrong" not in text, f"expected nobody in 'wrong', found\n{text}")


def main():
    folder, temporary = run_folder(sys.argv)
    try:
        for number, frame in enumerate(frames(folder), 1):
            count = vdb_tool_count(frame, folder)
            check(count > 0, f"{frame}: vdb_tool finds no points")
            if temporary:
                check(count == 1000 * number, f"{frame}: {count} points, expected {1000 * number}")
            check_attributes(frame)
            metadata = run(tool("vdb_print"), "-m", frame)
            for name in ("version", "scene_hash", "unit", "frame", "time", "fps", "cell", "up"):
                check(f"rheo_{name}" in metadata, f"{frame}: no metadata rheo_{name}\n{metadata}")
        if temporary:
            check(vdb_tool_count(os.path.join(folder, "one.vdb"), folder) == 1, "one.vdb: expected one point")
            # vdb_tool refuses to extract nothing, but the file itself must be in order.
            text = run(tool("vdb_tool"), "-read", os.path.join(folder, "empty.vdb"), "-print")
            check("points" in text, f"empty.vdb: no points grid\n{text}")
            check_foreign(sys.argv[2], frames(folder)[0], folder)
            check_groups(sys.argv[2], frames(folder)[0], folder)
    finally:
        if temporary:
            shutil.rmtree(folder)
    print("vdb_tool and vdb_ax agree")


if __name__ == "__main__":
    main()
