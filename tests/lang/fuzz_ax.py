#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Runs programs made at random (generate_ax.py) through `rheo ax` and vdb_ax and compares what they give.

usage: fuzz_ax.py --data AX_DATA --rheo RHEO [--ax vdb_ax] [--count N] [--seed S] [--volumes] [--verdicts] [--bundle N] [--keep FOLDER]

  --count N      so many programs; program n of a seed is the same whatever the count
  --volumes      on volumes instead of points
  --verdicts     mutants of such programs, a token changed or a type: is accepted and refused by both, or by none? Their values are not compared
  --bundle N     so many programs are run as one, in scopes of their own, which is what makes thousands of them take minutes
  --keep FOLDER  writes what differs there, one file a program

Programs that differ are made smaller until nothing can be left out, and printed with the first difference. What differs on purpose and cannot be
kept out of the programs is in KNOWN below, with reasons. Exit 0 when all agree, 1 when not, 77 when vdb_ax is not installed.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import compare_ax
import generate_ax

# Verdicts that differ on purpose: (what the program has, reason). Only mutants have these.
KNOWN = []


class Pair:
    """Both programs on the same inputs, in a folder of its own."""

    def __init__(self, arguments, folder):
        self.runners = []
        for rheo in (None, arguments.rheo):
            own = pathlib.Path(folder) / ("ours" if rheo else "theirs")
            own.mkdir(parents=True)
            self.runners.append(compare_ax.Runner(argparse.Namespace(data=arguments.data, ax=arguments.ax, rheo=rheo), own))
        self.kind = "volumes" if arguments.volumes else "points"
        self.verdict = None  # of the original on the last program

    def difference(self, code, verdicts=False):
        """None, or what differs; "crashed" of the original is no difference."""
        try:
            theirs, ours = [runner.run(self.kind, "program", code) for runner in self.runners]
        except subprocess.TimeoutExpired as late:
            return f"no end after {late.timeout} s: {late.cmd[0]}"
        self.verdict = theirs[0]
        if ours[0] == "crashed":
            return "ours crashed"
        if theirs[0] == "crashed":
            return None
        if theirs[0] != ours[0]:
            return f"ours {ours[0]}, theirs {theirs[0]}"
        return None if verdicts else compare_ax.compare_rows(ours[1], theirs[1])


def program_of(arguments, n, prefix):
    domain = "volumes" if arguments.volumes else "points"
    return generate_ax.Generator(f"{arguments.seed}/{domain}/{n}", domain, prefix).program()


def mutant_of(arguments, n):
    """The text of a program with one token another."""
    rng = random.Random(f"{arguments.seed}/mutant/{n}")
    domain = "volumes" if arguments.volumes else "points"
    program = generate_ax.Generator(f"{arguments.seed}/small/{n}", domain, "x").program(statements=2, depth=2)
    tokens = re.findall(r'"[^"]*"|[\w.]+@\w+|[A-Za-z_]\w*|[\d.]+\w*|[-+*/%&|^=<>!]=?|\s+|.', program.text())
    solid = [i for i, t in enumerate(tokens) if not t.isspace()]
    at = rng.choice(solid)
    r = rng.random()
    if r < 0.25:
        tokens[at] = ""
    elif r < 0.4:
        tokens[at] *= 2
    elif r < 0.6:
        tokens[at] = tokens[rng.choice(solid)]
    else:
        pools = [["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "&&", "||", "==", "<", "=", "+=", ","], generate_ax.LOCALS,
                 ["++", "--", "-", "!", "~", "+"], ["1", "1.0", "2l", '"s"', "true", "{1,2,3}", "i@i", "v@v", "mat3f@m"], list("(){}[];,.?:@$")]
        tokens[at] = rng.choice(rng.choice(pools))
    return "".join(tokens)


def known(code):
    return next((reason for pattern, reason in KNOWN if re.search(pattern, code)), None)


def minimised(program, differs):
    """The smallest program found that still differs."""
    again = True
    while again:
        again = False
        for smaller in generate_ax.smaller(program):
            if len(smaller.text()) < len(program.text()) and differs(smaller.text()):
                program, again = smaller, True
                break
    return program


def minimised_text(code, differs):
    """The same for a mutant: lines, then tokens."""
    for pattern in (r"[^\n]*\n?", r"\w+|\s+|."):
        parts, i = [p for p in re.findall(pattern, code) if p], 0
        while i < len(parts):
            rest = parts[:i] + parts[i + 1:]
            if differs("".join(rest)):
                parts = rest
            else:
                i += 1
        code = "".join(parts)
    return code


def search(pair, programs, counts):
    """The programs of a bundle that differ: halves of halves. A bundle that both refuse, or the original does not survive, says nothing of its parts."""
    problem = pair.difference("".join(p.text() for _, p in programs))
    if len(programs) == 1 or (not problem and pair.verdict == "accepted"):
        counts[pair.verdict] = counts.get(pair.verdict, 0) + len(programs)
        return programs if problem else []
    middle = len(programs) // 2
    return search(pair, programs[:middle], counts) + search(pair, programs[middle:], counts)


def run_bundle(arguments, folder, begin, end):
    """Numbers, texts and differences of the programs begin .. end that differ, and how many had which verdict of the original."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        pair, found, counts = Pair(arguments, own), [], {}
        if arguments.verdicts:
            for n in range(begin, end):
                code = mutant_of(arguments, n)
                problem = pair.difference(code, True)
                counts[pair.verdict] = counts.get(pair.verdict, 0) + 1
                if problem and not known(code):
                    small = minimised_text(code, lambda text: not known(text) and pair.difference(text, True))
                    found.append((n, small, pair.difference(small, True)))
            return found, counts
        for n, program in search(pair, [(n, program_of(arguments, n, f"x{n}_")) for n in range(begin, end)], counts):
            small = minimised(program, pair.difference)
            found.append((n, small.text(), pair.difference(small.text())))
        return found, counts


def arguments_of():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--rheo", required=True)
    parser.add_argument("--ax", default="vdb_ax")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bundle", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--volumes", action="store_true")
    parser.add_argument("--verdicts", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    return parser.parse_args()


def main():
    arguments = arguments_of()
    if not shutil.which(arguments.ax):
        print("fuzz_ax: vdb_ax is not installed")
        return 77
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    begins = range(arguments.first, arguments.first + arguments.count, arguments.bundle)
    end = arguments.first + arguments.count
    wrong, verdicts = 0, {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for found, counts in pool.map(lambda b: run_bundle(arguments, folder, b, min(b + arguments.bundle, end)), begins):
            for verdict, count in counts.items():
                verdicts[verdict] = verdicts.get(verdict, 0) + count
            for n, code, problem in found:
                wrong += 1
                print(f"--- program {n} of seed {arguments.seed}: {problem}\n{code}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    (arguments.keep / f"seed{arguments.seed}_{n}.ax").write_text(f"// {problem}\n{code}", encoding="utf-8")
    print(f"fuzz_ax: {arguments.count} programs ({', '.join(f'{verdicts[v]} {v}' for v in sorted(verdicts))} by the original), {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
