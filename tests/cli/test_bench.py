#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""The benchmark program from outside: its table, its options, its CSV. No time is judged.

usage: test_bench.py BENCH SOURCE_DIR
"""
import csv
import math
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import unittest

BENCH = None
SOURCE = None
STAGE_COLUMNS = ("_ms_per_step", "_model_bytes_per_particle_step", "_bandwidth_share")
COLUMNS = """entry group scene resolution threads repeats steps particles cells tiles ms_per_step cpu_ms_per_step ns_per_particle_step
iterations_mean iterations_most peak_bytes peak_bytes_per_particle resident_bytes resident_bytes_per_particle copy_gb_per_s
triad_gb_per_s model_bytes_per_particle_step bandwidth_share hash error""".split()
SURFACE_COLUMNS = """entry group points_set size method velocity threads repeats points seconds cpu_seconds ns_per_point peer_ratio active_voxels leaves
level_set_bytes peak_bytes peak_bytes_per_point resident_bytes resident_bytes_per_point hash error""".split()
EXPRESSION_COLUMNS = ["entry", "group", "program", "where", "threads", "repeats", "points", "left",
                      *(f"{side}_{field}" for side in ("ours", "peer") for field in ("seconds", "compile_seconds", "read_seconds", "execute_seconds",
                                                                                    "write_seconds", "cpu_seconds", "resident_bytes")),
                      "peer_ratio", "execute_ratio", "error"]
NEIGHBOURS_COLUMNS = """entry group dimension by_particle threads repeats points pairs build_ns_per_point build_bound_ns_per_point lists_ns_per_point
lists_ns_per_pair lists_bound_ns_per_point tests test_ns resident_bytes hash error""".split()
SOLVES_COLUMNS = """entry group threads particles unknowns levels_iterations levels_cpu_s plain_iterations plain_cpu_s sweeps sweeps_cpu_s sweeps_error
sweeps_done resident_bytes error""".split()
SPLASH_COLUMNS = """entry group scene resolution preconditioner expansion threads steps simulated_seconds particles cells solves_ms_per_step ms_per_step
solves_mic_ratio mic_ratio peak_bytes resident_bytes published_id published_particles error""".split()
SAND_COLUMNS = """entry scene model threads steps simulated_seconds particles s_per_frame published_particles published_s_per_frame ratio error""".split()
# Which of our stages do the work of a published one.
SPLASH_PARTS = {"solve": ("density", "pressure"), "extrapolate": ("extend",), "advect": ("update", "spray", "advect", "collide", "sort"),
                "rasterise": ("to_grid", "forces", "predict"), "solids": ("solids",)}
# Table 3.2 of the method's source: particles; seconds a frame: all, solve, extrapolate, advect, rasterise.
PUBLISHED = {"r1-start": ("R1", 104988, 7.8, 5.1, 0.8, 0.7, 0.7), "r2-start": ("R2", 1539000, 21.7, 5.2, 0.5, 9, 6.8)}


class Program(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory(prefix="scratch-bench-", dir=".")
        self.csv = pathlib.Path(self.holder.name).resolve() / "out.csv"

    def tearDown(self):
        self.holder.cleanup()

    def bench(self, *arguments, code=0, limit=None):
        """`limit`: bytes of address space."""
        restrict = limit and (lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        done = subprocess.run([str(BENCH), *map(str, arguments)], capture_output=True, text=True, timeout=300, preexec_fn=restrict)
        self.assertEqual(done.returncode, code, f"bench {arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def rows(self, path=None, columns=COLUMNS):
        with (path or self.csv).open(newline="") as file:
            lines = list(csv.reader(file))
        header, rows = lines[0], lines[1:]
        self.assertEqual(header[:len(columns)], columns)
        self.assertEqual(len(set(header)), len(header))
        for row in rows:
            self.assertEqual(len(row), len(header))
        return header, [dict(zip(header, row)) for row in rows]

    def entries(self):
        """Words of the lines of all tables."""
        tables = self.bench("--list")[0].split("\n\n")
        self.assertEqual(len(tables), 5)
        return [[line.split() for line in table.splitlines()[1:]] for table in tables]


class Bench(Program):
    def test_list(self):
        liquid, surface, expressions, neighbours, solves = self.entries()
        names = [words[0] for words in liquid + surface + expressions + neighbours + solves]
        self.assertEqual(len(names), len(set(names)))
        for name in ("dam-64", "dam-128", "growth-32M", "one-thread", "two-threads", "tiny"):
            self.assertIn(name, names)
        for words in liquid:
            self.assertTrue((SOURCE / ("" if "/" in words[2] else "bench/scenes") / f"{words[2]}.yaml").exists(), words)

    def test_help(self):
        out, _ = self.bench("--help")
        for option in ("--list", "--only", "--long", "--repeats", "--threads", "--memory", "--csv"):
            self.assertIn(option, out)

    def test_tiny(self):
        out, _ = self.bench("--only", "tiny", "--csv", self.csv, "--threads", 2, "--memory")
        header, (row,) = self.rows()
        self.assertEqual((row["entry"], row["scene"], row["threads"], row["repeats"], row["error"]), ("tiny", "dam_cube", "2", "2", ""))
        # 0.24 m^3 in cells of 0.1 m with 8 particles each; two frames at rest take at least a step each.
        self.assertEqual(float(row["particles"]), 1920)
        self.assertGreaterEqual(int(row["steps"]), 2)
        self.assertRegex(row["hash"], r"^[0-9a-f]{16}$")
        for name in COLUMNS[7:-2]:
            self.assertGreater(float(row[name]), 0, name)
        self.assertAlmostEqual(float(row["ns_per_particle_step"]) * 1920 / 1e6 / float(row["ms_per_step"]), 1, places=4)
        self.assertAlmostEqual(float(row["peak_bytes_per_particle"]), int(row["peak_bytes"]) / 1920, delta=0.01)
        stages = header[len(COLUMNS):]
        self.assertGreater(len(stages), 3)
        for names in zip(stages[::3], stages[1::3], stages[2::3]):
            self.assertEqual([name.removesuffix(end) for name, end in zip(names, STAGE_COLUMNS)], [names[0].removesuffix(STAGE_COLUMNS[0])] * 3)
            self.assertIn(names[0].removesuffix(STAGE_COLUMNS[0]), out)
        times = sum(float(row[name]) for name in stages[::3])
        self.assertLessEqual(times, float(row["ms_per_step"]) * 1.05 + 0.01)
        self.assertRegex(out, r"(?m)^tiny .* 1920 ")
        self.assertIn("Memory by label, tiny, 1920 particles", out)
        self.assertIn(str(self.csv), out)
        self.assertEqual([path.name for path in self.csv.parent.iterdir()], ["out.csv"])

    def test_every_stage_is_in_the_model(self):
        """A stage that gets a new name must get its line in bench/traffic.c."""
        for entry in ("tiny", "tiny-mg-2", "tiny-sand", "tiny-sand-source", "tiny-dye"):
            self.bench("--only", entry, "--csv", self.csv, "--repeats", 1)
            header, (row,) = self.rows()
            unknown = [name for name in header if name.endswith(STAGE_COLUMNS[1]) and name not in COLUMNS and float(row[name]) == 0]
            self.assertEqual(unknown, [], entry)

    def test_threads_give_the_same_particles(self):
        found = []
        for threads in (1, 2, 3):
            self.bench("--only", "tiny", "--csv", self.csv, "--threads", threads, "--repeats", 1)
            found.append(self.rows()[1][0])
        self.assertEqual([row["threads"] for row in found], ["1", "2", "3"])
        self.assertEqual(len({row["hash"] for row in found}), 1)

    def test_two_worlds(self):
        """At the same time in one process, each in its context: the particles of one alone, and the work of both."""
        self.bench("--only", "tiny", "--only", "tiny-worlds", "--csv", self.csv, "--repeats", 1)
        one, two = self.rows()[1]
        self.assertEqual((one["hash"], one["particles"]), (two["hash"], two["particles"]))
        self.assertEqual(2 * int(one["steps"]), int(two["steps"]))

    def test_failed_entry(self):
        """A run that cannot get its memory is a row that says so, and exit code 1."""
        limit = 1000 << 20  # enough for the bandwidth's arrays, not for 62 million particles
        if subprocess.run([str(BENCH), "--only", "tiny", "--csv", str(self.csv)], capture_output=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))).returncode:
            self.skipTest("this build needs more address space than the test allows (sanitizers)")
        out, err = self.bench("--only", "growth-64M", "--csv", self.csv, code=1, limit=limit)
        self.assertIn("failed", err)
        self.assertRegex(out, r"growth-64M +failed: .*memory")
        (row,) = self.rows()[1]
        self.assertEqual((row["entry"], row["steps"], row["ns_per_particle_step"]), ("growth-64M", "0", ""))
        self.assertIn("memory", row["error"])

    def test_wrong_options(self):
        for words, expected in ((["--only", "tinny"], "'tiny'"), (["--only", "surfaces"], "'surface'"), (["--only", "splsh"], "'splash'"), (["--only", "splash-spere"], "'splash-sphere'"), (["--repeats", "0"], "from 1"), (["--threads", "x"], "'x'"),
                                (["--lsit"], "'--list'"), (["--only"], "value"), (["fast"], "'fast'")):
            with self.subTest(words=words):
                out, err = self.bench(*words, code=2)
                self.assertEqual(out, "")
                self.assertIn(expected, err)

    def test_csv_that_cannot_be_written(self):
        _, err = self.bench("--only", "tiny", "--csv", self.csv.parent / "none" / "out.csv", "--repeats", 1, code=1)
        self.assertIn("cannot write", err)


class Surface(Program):
    def surface(self, *arguments, **keywords):
        """Output of the program, and the rows of its CSV by name."""
        out, _ = self.bench(*arguments, "--csv", self.csv, **keywords)
        header, rows = self.rows(self.csv.with_name("out_surface.csv"), SURFACE_COLUMNS)
        return out, header, {row["entry"]: row for row in rows}

    def only(self, *names):
        return [word for name in names for word in ("--only", name)]

    def test_list(self):
        _, surface, _, _, _ = self.entries()
        groups = {words[1] for words in surface}
        self.assertEqual(groups, {"surface-splash", "surface-velocity", "surface-sea", "surface-threads", "surface-tiny"})
        methods = {words[4] for words in surface if words[1] == "surface-splash"}
        self.assertEqual(methods, {"peer", "sphere", "ellipsoid", "averaged", "solenthaler", "density"})
        # What is compared with the peer is repeated as often as the peer.
        repeats = {}
        for words in surface:
            repeats.setdefault((words[1], words[2], words[3]), set()).add(words[6])
        self.assertEqual([work for work, found in repeats.items() if len(found) > 1], [])

    def test_tiny(self):
        out, header, rows = self.surface("--only", "surface-tiny", "--threads", 2, "--memory")
        self.assertEqual([path.name for path in self.csv.parent.iterdir()], ["out_surface.csv"])
        self.assertEqual(len(rows), 7)
        for name, row in rows.items():
            # 0.24 m^3 at 16 cells a metre with 8 particles each: 7 x 10 x 16 cells or so.
            self.assertTrue(7000 < int(row["points"]) < 9000, row)
            self.assertEqual((row["points"], row["repeats"], row["error"]), (rows["tiny-peer"]["points"], "2", ""))
            self.assertAlmostEqual(float(row["ns_per_point"]) * int(row["points"]) / 1e9 / float(row["seconds"]), 1, places=4)
            for column in ("seconds", "cpu_seconds", "active_voxels", "leaves", "level_set_bytes", "resident_bytes"):
                self.assertGreater(float(row[column]), 0, (name, column))
            stages = [float(row[stage]) for stage in header[len(SURFACE_COLUMNS):] if row[stage]]
            if row["method"] == "peer":
                self.assertEqual((stages, row["peak_bytes"], row["hash"]), ([], "", ""))
            else:
                self.assertGreaterEqual(len(stages), 4)
                self.assertLessEqual(sum(stages), float(row["seconds"]) * 1.05 + 1e-4)
                self.assertGreater(int(row["peak_bytes"]), 12 * int(row["points"]))
                self.assertRegex(row["hash"], r"^[0-9a-f]{16}$")
                self.assertIn(f"Memory by label, {name}, ", out)
        self.assertEqual(header[len(SURFACE_COLUMNS):], [f"{stage}_seconds" for stage in ("sort", "shapes", "leaves", "stamp", "finish")])
        self.assertRegex(out, r"(?m)^tiny-sphere +2 +\d+ ")
        self.assertIn("Threads, ellipsoid", out)
        self.assertNotIn("DIFFER", out)

    def test_the_same_work_as_the_peer(self):
        """Spheres of one radius: both must find the same surface, and ours need not be wider. Ratios are between rows of the same work."""
        _, _, rows = self.surface("--only", "surface-tiny", "--repeats", 1)
        peer, sphere = (int(rows[name]["active_voxels"]) for name in ("tiny-peer", "tiny-sphere"))
        self.assertTrue(0.9 * peer < sphere <= peer, (sphere, peer))
        for name, of in (("tiny-sphere", "tiny-peer"), ("tiny-ellipsoid", "tiny-peer"), ("tiny-ellipsoid-v", "tiny-peer-v")):
            ratio = float(rows[of]["seconds"]) / float(rows[name]["seconds"])
            self.assertAlmostEqual(float(rows[name]["peer_ratio"]) / ratio, 1, places=3)
        self.assertGreater(int(rows["tiny-peer-v"]["level_set_bytes"]), 2 * int(rows["tiny-peer"]["level_set_bytes"]))
        self.assertGreater(int(rows["tiny-ellipsoid-v"]["level_set_bytes"]), 2 * int(rows["tiny-ellipsoid"]["level_set_bytes"]))

    def test_threads_give_the_same_band(self):
        found = [self.surface("--only", "tiny-ellipsoid-v", "--threads", threads, "--repeats", 1)[2]["tiny-ellipsoid-v"] for threads in (1, 2, 3)]
        self.assertEqual([row["threads"] for row in found], ["1", "2", "3"])
        self.assertEqual(len({row["hash"] for row in found}), 1)

    def test_work_of_a_point_in_the_sea(self):
        """Five times the points, five times the voxels: what makes the ratio of times a measure of the method."""
        out, _, rows = self.surface(*self.only("sea-sphere-0.1M", "sea-sphere-0.5M"), "--repeats", 1)
        small, large = rows["sea-sphere-0.1M"], rows["sea-sphere-0.5M"]
        self.assertAlmostEqual(int(small["points"]) / 1e5, 1, delta=0.02)
        for name in ("points", "active_voxels", "leaves"):
            self.assertAlmostEqual(int(large[name]) / int(small[name]) / 5, 1, delta=0.02, msg=name)
        self.assertIn("Growth, sphere", out)
        self.assertEqual(small["peer_ratio"], "")

    def test_failed_entry(self):
        limit = 1000 << 20
        if subprocess.run([str(BENCH), "--only", "tiny-sphere", "--csv", str(self.csv)], capture_output=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))).returncode:
            self.skipTest("this build needs more address space than the test allows (sanitizers)")
        out, _, rows = self.surface("--only", "sea-sphere-20M", code=1, limit=limit)
        self.assertRegex(out, r"sea-sphere-20M +failed: .*memory")
        self.assertEqual((rows["sea-sphere-20M"]["points"], rows["sea-sphere-20M"]["seconds"]), ("0", ""))
        self.assertIn("memory", rows["sea-sphere-20M"]["error"])


class Neighbours(Program):
    def test_list(self):
        neighbours = self.entries()[3]
        self.assertEqual({int(words[2]) for words in neighbours if words[1] == "neighbours"}, {10 ** 5, 10 ** 6, 10 ** 7})

    def test_tiny(self):
        found = []
        for threads in (1, 3):
            out, _ = self.bench("--only", "neighbours-tiny", "--csv", self.csv, "--threads", threads)
            self.assertEqual([path.name for path in self.csv.parent.iterdir()], ["out_neighbours.csv"])
            _, (row,) = self.rows(self.csv.with_name("out_neighbours.csv"), NEIGHBOURS_COLUMNS)
            self.assertEqual((row["points"], row["repeats"], row["threads"], row["error"]), ("2000", "2", str(threads), ""))
            # A ball of two spacings holds 33.5 points and the point itself; fewer near the box's sides.
            self.assertTrue(20 < int(row["pairs"]) / 2000 < 34.5, row)
            self.assertGreater(8 * int(row["tests"]), 2 * int(row["pairs"]))
            for name in NEIGHBOURS_COLUMNS[8:16]:
                self.assertGreater(float(row[name]), 0, name)
            self.assertRegex(out, r"(?m)^tiny-near .* 2000 ")
            found.append(row["hash"])
        self.assertEqual(found[0], found[1])


class Solves(Program):
    def test_tiny(self):
        found = []
        for threads in (1, 3):
            out, _ = self.bench("--only", "solve-tiny", "--csv", self.csv, "--threads", threads)
            self.assertEqual([path.name for path in self.csv.parent.iterdir()], ["out_solves.csv"])
            _, (row,) = self.rows(self.csv.with_name("out_solves.csv"), SOLVES_COLUMNS)
            self.assertEqual((row["particles"], row["threads"], row["error"]), ("1728", str(threads), ""))
            self.assertLess(2 * int(row["levels_iterations"]), int(row["plain_iterations"]))
            self.assertRegex(out, r"(?m)^solve-tiny .* 1728 ")
            found.append((row["unknowns"], row["levels_iterations"], row["plain_iterations"]))
        self.assertEqual(found[0], found[1])


class Expressions(Program):
    def test_list(self):
        _, _, expressions, _, _ = self.entries()
        always = {(words[2], words[3]): int(words[4]) for words in expressions if words[1] in ("expressions-memory", "expressions-files")}
        self.assertEqual(set(always), {("step", "memory"), ("products", "memory"), ("decimation", "memory"), ("step", "files"), ("decimation", "files")})
        self.assertEqual(set(always.values()), {10000000})
        families = [words[2] for words in expressions if words[1] == "expressions-families"]
        self.assertTrue({"noise", "curl", "trigonometry", "powers", "random", "strings"} < set(families), families)

    def test_tiny(self):
        before = set(BENCH.parent.glob("bench_scratch.*"))
        out, _ = self.bench("--only", "expressions-tiny", "--csv", self.csv, "--threads", 2)
        self.assertEqual([path.name for path in self.csv.parent.iterdir()], ["out_expressions.csv"])
        _, rows = self.rows(self.csv.with_name("out_expressions.csv"), EXPRESSION_COLUMNS)
        self.assertEqual(len(rows), 6)
        for row in rows:
            self.assertEqual((row["points"], row["repeats"], row["threads"], row["error"]), ("20000", "2", "2", ""))
            # Half of the points are left, the same ones on both sides (the program compares).
            share = int(row["left"]) / 20000
            self.assertTrue(0.48 < share < 0.52 if row["program"] == "decimation" else share == 1, row)
            for field in ("seconds", "execute_seconds", "compile_seconds"):
                self.assertGreater(float(row[f"ours_{field}"]), 0, row)
            if row["where"] == "files":
                self.assertGreaterEqual(float(row["ours_seconds"]), float(row["ours_execute_seconds"]))
            if row["peer_ratio"]:
                self.assertAlmostEqual(float(row["peer_ratio"]) * float(row["ours_seconds"]) / float(row["peer_seconds"]), 1, places=3)
                self.assertGreater(float(row["execute_ratio"]), 0)
            else:
                self.assertIn("is not installed", out)
        self.assertIn("Expressions in memory", out)
        self.assertRegex(out, r"(?m)^tiny-file-step +2 +20000 ")
        self.assertEqual(set(BENCH.parent.glob("bench_scratch.*")) - before, set())


class Splash(Program):
    def splash(self, *names, **keywords):
        """Output of the program, and the rows of both CSV files by name."""
        out, _ = self.bench(*[word for name in names for word in ("--only", name)], "--csv", self.csv, **keywords)
        plain, more = self.rows()[1], self.rows(self.csv.with_name("out_splash.csv"), SPLASH_COLUMNS)[1]
        self.assertEqual([row["entry"] for row in plain], [row["entry"] for row in more])
        return out, {row["entry"]: row for row in plain}, {row["entry"]: row for row in more}

    def test_list(self):
        """All published scenes at their own size, three of them always; the study has all its variants."""
        liquid, _, _, _, _ = self.entries()
        frames = {words[0][:2]: words for words in liquid if words[1] == "splash-frames"}
        self.assertEqual(sorted(frames), [f"r{n}" for n in range(1, 8)])
        self.assertEqual(sorted(name for name, words in frames.items() if words[-1] != "long"), ["r1", "r2", "r7"])
        for words in frames.values():
            self.assertTrue(words[2].startswith("scenes/splash/") and "small" not in words[2], words)
            self.assertEqual([word for word in words if "=" in word], [])  # no settings: the scenes as they are
        study = [words for words in liquid if words[1] == "splash-iterations"]
        found = {}
        for words in study:
            settings = dict(word.rsplit(".", 1)[-1].split("=") if "physics" in word else word.split("=") for word in words if "=" in word)
            found.setdefault((settings["preconditioner"], settings["expansion"]), []).append(float(settings["cell"]))
        for expansion in ("projected", "gradient"):
            for preconditioner, sizes in (("multigrid", 4), ("mic", 4), ("none", 2)):
                cells = found[preconditioner, expansion]
                self.assertEqual((len(cells), cells), (sizes, sorted(set(cells), reverse=True)))
                self.assertEqual(cells, found["multigrid", expansion][:sizes])

    def test_frames(self):
        """Seconds a frame by stage are those of the plain CSV, the published ones those of the source, ratios only for the same work."""
        out, plain, more = self.splash("splash-start")
        for name, (identity, particles, *theirs) in PUBLISHED.items():
            row, stages = more[name], plain[name]
            self.assertEqual((row["published_id"], float(row["published_particles"]), row["error"]), (identity, particles, ""))
            frames = float(row["simulated_seconds"]) * 30
            self.assertAlmostEqual(frames, {"r1-start": 2, "r2-start": 1}[name], places=5)  # a dam that has not begun to fall takes one step a frame
            each = int(stages["steps"]) / frames / 1000
            for part, ours in SPLASH_PARTS.items():
                expected = each * sum(float(stages[stage + STAGE_COLUMNS[0]]) for stage in ours)
                self.assertAlmostEqual(float(row[f"{part}_s_per_frame"]) / expected, 1, places=3, msg=part)
            self.assertAlmostEqual(float(row["total_s_per_frame"]) / (each * float(stages["ms_per_step"])), 1, places=3)
            told = sum(float(row[f"{part}_s_per_frame"]) for part in SPLASH_PARTS)
            self.assertAlmostEqual((told + float(row["rest_s_per_frame"])) / float(row["total_s_per_frame"]), 1, places=3)
            for part, value in zip(("total", "solve", "extrapolate", "advect", "rasterise"), theirs):
                self.assertEqual(float(row[f"{part}_published_s_per_frame"]), value)
                if name == "r1-start":  # the fountains have hardly begun
                    self.assertEqual(row[f"{part}_ratio"], "")
                else:
                    self.assertAlmostEqual(float(row[f"{part}_ratio"]) * float(row[f"{part}_s_per_frame"]) / value, 1, places=3)
            self.assertGreater(int(row["peak_bytes"]), 32 * float(row["particles"]))
        self.assertEqual(float(more["r2-start"]["particles"]), 1539000)
        self.assertIn("solve = density + pressure", out)
        self.assertRegex(out, r"(?m)^r2-start +ours +\d+ +1539000 ")
        self.assertNotIn("Splash: steps of", out)

    def test_study(self):
        """Kinds of steps add up, the exponent is the slope between two resolutions, times are compared with MIC(0) at the same one."""
        out, plain, more = self.splash("splash-tiny")
        for name, row in more.items():
            for solve in ("density", "pressure"):
                kinds = sum(float(row[f"{solve}_{kind}"]) for kind in ("cg", "expansions", "proportionings"))
                self.assertAlmostEqual(kinds, float(row[f"{solve}_steps"]), delta=0.002, msg=name)
                self.assertGreater(float(row[f"{solve}_preparations"]), 0)
            self.assertAlmostEqual(float(row["density_steps"]) + float(row["pressure_steps"]), float(row["both_steps"]), delta=0.002)
            self.assertAlmostEqual(float(row["both_steps"]), float(plain[name]["iterations_mean"]), delta=0.002)
            mic = more[name.replace("-mg-", "-mic-")]
            for ratio, time in (("mic_ratio", "ms_per_step"), ("solves_mic_ratio", "solves_ms_per_step")):
                self.assertAlmostEqual(float(row[ratio]) * float(row[time]) / float(mic[time]), 1, places=3)
        for kind in ("mg", "mic"):
            small, large = more[f"tiny-{kind}-2"], more[f"tiny-{kind}-4"]
            longer = math.log(float(large["cells"]) / float(small["cells"])) / 3
            for solve in ("density", "pressure", "both"):
                slope = math.log(float(large[f"{solve}_steps"]) / float(small[f"{solve}_steps"])) / longer
                self.assertAlmostEqual(float(large[f"{solve}_exponent"]), slope, places=2)
        # Not a matter of time: what the preconditioner is for.
        self.assertLess(float(more["tiny-mg-4"]["both_steps"]), 0.6 * float(more["tiny-mic-4"]["both_steps"]))
        self.assertRegex(out, r"exponent +density -?[\d.]+, pressure -?[\d.]+, both -?[\d.]+")
        self.assertNotIn("Iterations of the pressure solve, mean (most)", out)

    def test_without(self):
        """Runs without a splash leave no second file."""
        self.bench("--only", "tiny", "--csv", self.csv, "--repeats", 1)
        self.assertEqual([path.name for path in self.csv.parent.iterdir()], ["out.csv"])


class Sand(Program):
    def sand(self, *names):
        """Output of the program, and the rows of both CSV files by name."""
        out, _ = self.bench(*[word for name in names for word in ("--only", name)], "--csv", self.csv, "--repeats", 1)
        plain, more = self.rows()[1], self.rows(self.csv.with_name("out_sand.csv"), SAND_COLUMNS)[1]
        self.assertEqual([row["entry"] for row in plain], [row["entry"] for row in more])
        return out, {row["entry"]: row for row in plain}, {row["entry"]: row for row in more}

    def test_list(self):
        """Both published scenes at their own size, each with both models; the model is the only setting."""
        rows = [words for words in self.entries()[0] if words[1] == "sand"]
        found = {(words[2], *(word for word in words if "=" in word)) for words in rows}
        self.assertEqual(found, {(f"scenes/sand/{scene}", f"physics.{method}={{}}")
                                 for scene in ("column", "figure_sand_rough") for method in ("sand", "sand_incompressible")})

    def test_frames(self):
        """Seconds a frame are those of the plain CSV; the published ones stand where the work is the same, and nowhere else."""
        out, plain, more = self.sand("sand-start", "sand-tiny")
        for name, row in more.items():
            frames = float(row["simulated_seconds"]) * 30
            self.assertAlmostEqual(float(row["s_per_frame"]) * frames / (int(row["steps"]) * float(plain[name]["ms_per_step"]) / 1000), 1, places=3)
            self.assertEqual(row["model"], "incompressible" if name.endswith("-source") else "unilateral")
        row = more["column-start"]
        self.assertEqual((float(row["particles"]), float(row["published_particles"]), float(row["published_s_per_frame"])), (432000, 433479, 12))
        self.assertAlmostEqual(float(row["ratio"]) * float(row["s_per_frame"]) / 12, 1, places=3)
        for name in ("tiny-sand", "tiny-sand-source"):
            self.assertEqual((more[name]["published_s_per_frame"], more[name]["ratio"]), ("", ""))
        self.assertNotEqual(plain["tiny-sand"]["hash"], plain["tiny-sand-source"]["hash"])
        table = out[out.index("Sand: seconds a frame"):].split("\n\n")[1].splitlines()
        stages = table[0].split()[7:]
        for line in table[1:]:
            shares = [float(word) for word in line.split()[8:] if word != "-"]
            self.assertTrue(80 < sum(shares) < 101, line)
            self.assertEqual(len(line.split()), 8 + len(stages))
        self.assertIn("friction", stages)
        self.assertNotIn("Splash: ", out)


class Peers(unittest.TestCase):
    def test_help_and_wrong_values(self):
        tool = [sys.executable, str(SOURCE / "tools" / "bench-peers")]
        self.assertIn("--resolution", subprocess.run([*tool, "--help"], capture_output=True, text=True, check=True).stdout)
        self.assertEqual(subprocess.run([*tool, "--frames", "0"], capture_output=True).returncode, 2)

    def test_without_blender(self):
        done = subprocess.run([sys.executable, str(SOURCE / "tools" / "bench-peers")], capture_output=True, text=True, env={"PATH": "/nowhere"})
        self.assertEqual(done.returncode, 77)
        self.assertRegex(done.stderr, re.compile("not installed.*install-deps --clients"))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    BENCH = pathlib.Path(sys.argv.pop(1)).resolve()
    SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
