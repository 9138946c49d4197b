#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Compares expressions with OpenVDB AX: the programs of tests/lang/corpus on the same points and volumes.

usage: compare_ax.py --data AX_DATA [--ax vdb_ax] [--record | --rheo RHEO] [--every N] [--only GROUP[/PROGRAM]] [--jobs N]

  without a mode   runs vdb_ax and checks that the golden files still say what it does (--every 25 takes each 25th program)
  --record         runs vdb_ax and writes the golden files
  --rheo RHEO      runs `RHEO ax` and compares with the golden files; what differs on purpose stands in differences.txt

A golden file, golden/GROUP.txt, is a list of
    program NAME
    code LINES           then so many lines, the program as it stands
    accepted             or: refused, or: crashed (the original ended by a signal; nothing is expected of us but not to)
    points COUNT         what the program changed, or made, as ax_data prints it (see there); for volumes "grid" and "voxel" lines
    NAME TYPE VALUE ...
    end
over the inputs golden/points_input.txt and, for groups that begin with "volumes", golden/volumes_input.txt.

Whole numbers, strings and groups must be equal; floating-point numbers may differ by TOLERANCE of the larger (transcendental functions of another
library, sums in another order), and a NaN is a NaN. Exit 0 when all agree, 1 when not, 77 when vdb_ax is not installed.
"""
import argparse
import concurrent.futures
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = {"float": 2e-6, "double": 1e-12, "vec3f": 2e-6, "vec3d": 1e-12, "mat3f": 2e-6, "mat3d": 1e-12, "mat4f": 2e-6, "mat4d": 1e-12}
PARTS = {"vec3i": 3, "vec3f": 3, "vec3d": 3, "mat3f": 9, "mat3d": 9, "mat4f": 16, "mat4d": 16}


def read_corpus(path):
    """(name, code) of each program of a file; the lines before the first are about the file."""
    programs, lines = [], None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("//: "):
            lines = []
            programs.append((line[4:], lines))
        elif lines is not None:
            lines.append(line)
    return [(name, "\n".join(code).strip("\n")) for name, code in programs]


def read_golden(path):
    """{name: (code, verdict, output lines)}"""
    result, lines = {}, iter(path.read_text(encoding="utf-8").splitlines())
    for line in lines:
        if not line.startswith("program "):
            continue
        count = int(next(lines).split()[1])
        code = "\n".join(next(lines) for _ in range(count))
        verdict, out = next(lines), []
        for row in lines:
            if row == "end":
                break
            out.append(row)
        result[line[8:]] = (code, verdict, out)
    return result


def write_golden(path, results):
    with path.open("w", encoding="utf-8") as file:
        file.write("# SPDX-License-Identifier: Apache-2.0\n# SPDX-FileCopyrightText: The Rheo authors\n#\n"
                   "# Recorded by compare_ax.py from OpenVDB AX; the format is described there.\n")
        for name, (code, verdict, out) in results.items():
            rows = code.split("\n") if code else []
            file.write("\n".join([f"program {name}", f"code {len(rows)}", *rows, verdict, *out, "end"]) + "\n")


# ------------------------------------------------------------------------------------------------------------------ what changed

def split_values(rest):
    """Values of a line; strings in quotes may hold blanks, and quotes after a backslash."""
    return re.findall(r'"(?:\\.|[^"\\])*"', rest) if rest.startswith('"') else rest.split()


def read_points(lines):
    """{name: (type, [one tuple of values per point])} and the ids."""
    columns = {}
    count = int(lines[0].split()[1])
    for line in lines[1:]:
        name, kind, *rest = line.split(" ", 2)
        values, width = split_values(rest[0]) if rest else [], PARTS.get(kind, 1)
        columns[name] = (kind, [tuple(values[i * width:(i + 1) * width]) for i in range(count)])
    return count, columns


def changed_points(before, after):
    count, columns = read_points(after)
    _, old = read_points(before)
    if count == 0:
        return ["points 0"]
    rows = [f"points {count}"]
    ids = [int(v[0]) for v in columns["id"][1]]
    if len(ids) != len(old["id"][1]):
        rows.append("id int32 " + " ".join(map(str, ids)))
    for name, (kind, values) in sorted(columns.items()):
        if name == "id" or name.startswith("__"):
            continue
        if name in old and old[name][0] == kind and [old[name][1][i] for i in ids] == values:
            continue
        rows.append(f"{name} {kind} " + " ".join(" ".join(v) for v in values))
    return rows


def split_grids(lines):
    grids = {}
    for line in lines:
        if line.startswith("grid "):
            grids[tuple(line.split()[1:3])] = block = []  # two grids may have one name
        block.append(line)
    return grids


def changed_grids(before, after):
    old = split_grids(before)
    return [line for name, block in sorted(split_grids(after).items()) if old.get(name) != block for line in block]


# --------------------------------------------------------------------------------------------------------------------- running

class Runner:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, pathlib.Path(folder)
        self.before = {}
        for kind in ("points", "volumes"):
            self.tool("make", HERE / "golden" / f"{kind}_input.txt", self.folder / f"{kind}.vdb")
            self.before[kind] = self.tool("dump", self.folder / f"{kind}.vdb")

    def tool(self, *words):
        return subprocess.run([self.arguments.data, *map(str, words)], check=True, capture_output=True, text=True).stdout.splitlines()

    def command(self, source, before, after):
        if self.arguments.rheo:
            return [self.arguments.rheo, "ax", "-f", source, before, "-o", after]
        return [self.arguments.ax, "-i", before, "-f", source, "-o", after, "--threads", "1"]

    def run(self, kind, label, code):
        source, after = self.folder / f"{label}.ax", self.folder / f"{label}.vdb"
        source.write_text(code + "\n", encoding="utf-8")
        done = subprocess.run(self.command(str(source), str(self.folder / f"{kind}.vdb"), str(after)), capture_output=True, timeout=300)
        if done.returncode < 0 or done.returncode >= 128:
            return "crashed", []
        if done.returncode != 0 or not after.exists():
            return "refused", []
        dump = self.tool("dump", after)
        after.unlink()
        return "accepted", changed_points(self.before[kind], dump) if kind == "points" else changed_grids(self.before[kind], dump)


# ------------------------------------------------------------------------------------------------------------------- comparing

def real(word):
    return float.fromhex(word) if word not in ("nan", "-nan") else math.nan


def same_number(found, expected, tolerance):
    if found == expected:
        return True
    if not tolerance:
        return False
    a, b = real(found), real(expected)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or (math.isfinite(a) and math.isfinite(b) and abs(a - b) <= tolerance * max(1e-3, abs(a), abs(b)))


def tolerance_of(words, grid_type):
    return TOLERANCE.get(grid_type if words[0] in ("voxel", "tile") else words[2] if words[0] == "grid" else words[1] if len(words) > 1 else "", 0)


def head_length(words):
    return {"voxel": 4, "tile": 5, "grid": 3, "points": 2}.get(words[0], 2)


def compare_rows(found, expected):
    """The first difference as text, or None."""
    if len(found) != len(expected):
        names = {row.split()[0] for row in found} ^ {row.split()[0] for row in expected}
        return f"{len(found)} lines, expected {len(expected)} ({', '.join(sorted(names))})"
    grid_type = ""
    for row, wanted in zip(found, expected):
        if row == wanted:
            grid_type = row.split()[2] if row.startswith("grid ") else grid_type
            continue
        a, b = row.split(), wanted.split()
        head = head_length(b)
        if a[:head] != b[:head] or len(a) != len(b):
            return f"found {row[:200]}\n    expected {wanted[:200]}"
        grid_type = b[2] if b[0] == "grid" else grid_type
        for i, (x, y) in enumerate(zip(a[head:], b[head:])):
            if not same_number(x, y, tolerance_of(b, grid_type)):
                return f"{' '.join(b[:head])}, value {i}: found {x}, expected {y}"
    return None


def read_differences():
    """{"group/program": reason} for what differs on purpose: lines "group/program: reason"."""
    rows = [line.split(": ", 1) for line in (HERE / "differences.txt").read_text(encoding="utf-8").splitlines() if ": " in line and line[0] != "#"]
    return {name: reason for name, reason in rows}


def compare(key, result, golden, differences, ours):
    if ours and golden[1] == "crashed":
        return "crashed" if result[0] == "crashed" else None
    problem = f"found {result[0]}, expected {golden[1]}" if result[0] != golden[1] else compare_rows(result[1], golden[2])
    if key in differences:
        return None if problem else "listed in differences.txt, but agrees"
    return problem


# ---------------------------------------------------------------------------------------------------------------------- main

def selection(arguments):
    """(group, kind, name, code) of the programs to run."""
    programs = []
    for path in sorted((HERE / "corpus").glob("*.ax")):
        kind = "volumes" if path.stem.startswith("volumes") else "points"
        programs += [(path.stem, kind, name, code) for name, code in read_corpus(path)]
    if arguments.only:
        programs = [p for p in programs if arguments.only in (p[0], f"{p[0]}/{p[2]}")]
    return programs[::arguments.every]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--ax", default="vdb_ax")
    parser.add_argument("--rheo")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if not arguments.rheo and not shutil.which(arguments.ax):
        print("compare_ax: vdb_ax is not installed")
        return 77
    programs = selection(arguments)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runner = Runner(arguments, folder)
        results = list(pool.map(lambda n: runner.run(programs[n][1], f"program{n}", programs[n][3]), range(len(programs))))
    if arguments.record:
        return record(programs, results)
    return report(programs, results, read_differences() if arguments.rheo else {}, bool(arguments.rheo))


def record(programs, results):
    for group in sorted({p[0] for p in programs}):
        rows = {p[2]: (p[3], *r) for p, r in zip(programs, results) if p[0] == group}
        path = HERE / "golden" / f"{group}.txt"
        if path.exists() and len(rows) < len(read_corpus(HERE / "corpus" / f"{group}.ax")):
            rows = {**read_golden(path), **rows}
        write_golden(path, rows)
        print(f"{group}: {len(rows)} programs, {sum(r[1] == 'accepted' for r in rows.values())} accepted,"
              f" {sum(r[1] == 'refused' for r in rows.values())} refused, {sum(r[1] == 'crashed' for r in rows.values())} crashed")
    return 0


def report(programs, results, differences, ours):
    golden, wrong = {}, 0
    for (group, _, name, code), result in zip(programs, results):
        if group not in golden:
            golden[group] = read_golden(HERE / "golden" / f"{group}.txt")
        known = golden[group].get(name)
        if not known or known[0] != code:
            problem = "the golden file does not know this program as it stands; record it"
        else:
            problem = compare(f"{group}/{name}", result, known, differences, ours)
        if problem:
            wrong += 1
            print(f"{group}/{name}: {problem}")
    print(f"compare_ax: {len(programs)} programs, {wrong} differ, {len(differences)} differ on purpose")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
