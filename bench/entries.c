// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The table of benchmarks. Cells per metre decide the size: the dam holds 1.92 r^3 particles, the pool 3.6 r^3.
#include "bench.h"

#define CELL(metres) {"cell=" #metres}

const bench_entry bench_entries[] = {
    // The scene other simulators were measured with: 30 frames at 64 cells, the first 13 at 128.
    {"dam-64", "dam", "dam_cube", CELL(0.015625), .resolution = 64, .frames = 30, .repeats = 3},
    {"dam-128", "dam", "dam_cube", CELL(0.0078125), .resolution = 128, .frames = 13, .repeats = 1},
    {"pool-64", "pool", "pool", CELL(0.015625), .resolution = 64, .frames = 8, .repeats = 2},

    // Growth: the same moment (0.1 to 0.17 s, the column has begun to run) of the same dam with ever more particles.
    {"growth-0.25M", "growth", "dam_cube", CELL(0.02), .skip = 3, .frames = 2, .repeats = 5},
    {"growth-1M", "growth", "dam_cube", CELL(0.0125), .skip = 3, .frames = 2, .repeats = 3},
    {"growth-4M", "growth", "dam_cube", CELL(0.0078125), .skip = 3, .frames = 2, .repeats = 2},
    {"growth-16M", "growth", "dam_cube", CELL(0.005), .skip = 3, .frames = 2, .repeats = 1, .when = BENCH_LONG},
    {"growth-32M", "growth", "dam_cube", CELL(0.00390625), .skip = 3, .frames = 2, .most_steps = 6, .repeats = 1, .when = BENCH_LONG},
    {"growth-64M", "growth", "dam_cube", CELL(0.003125), .skip = 3, .frames = 2, .most_steps = 3, .repeats = 1, .when = BENCH_LONG},

    // Threads: the same work with one and with two.
    {"one-thread", "threads", "dam_cube", CELL(0.0078125), .skip = 2, .frames = 2, .repeats = 2, .threads = 1},
    {"two-threads", "threads", "dam_cube", CELL(0.0078125), .skip = 2, .frames = 2, .repeats = 2, .threads = 2},

    // Iterations of the pressure solve by scene and resolution (the entries above that have a resolution count, too).
    {"dam-32", "iterations", "dam_cube", CELL(0.03125), .resolution = 32, .frames = 30, .repeats = 1},
    {"dam-256", "iterations", "dam_cube", CELL(0.00390625), .resolution = 256, .frames = 13, .repeats = 1, .when = BENCH_LONG},
    {"pool-32", "iterations", "pool", CELL(0.03125), .resolution = 32, .frames = 8, .repeats = 1},
    {"pool-128", "iterations", "pool", CELL(0.0078125), .resolution = 128, .frames = 2, .repeats = 1},
    {"pool-256", "iterations", "pool", CELL(0.00390625), .resolution = 256, .frames = 1, .repeats = 1, .when = BENCH_LONG},
    {"pool-384", "iterations", "pool", CELL(0.0026041666666666665), .resolution = 384, .frames = 1, .most_steps = 2, .repeats = 1, .when = BENCH_LONG},
    {"sheet-32", "iterations", "sheet", CELL(0.03125), .resolution = 32, .frames = 5, .repeats = 1},
    {"sheet-64", "iterations", "sheet", CELL(0.015625), .resolution = 64, .frames = 5, .repeats = 1},
    {"sheet-128", "iterations", "sheet", CELL(0.0078125), .resolution = 128, .frames = 5, .repeats = 1},
    {"sheet-256", "iterations", "sheet", CELL(0.00390625), .resolution = 256, .frames = 5, .repeats = 1, .when = BENCH_LONG},
    {"sheet-384", "iterations", "sheet", CELL(0.0026041666666666665), .resolution = 384, .frames = 5, .repeats = 1, .when = BENCH_LONG},

    // Over in a blink: for the test of this program.
    {"tiny", "tiny", "dam_cube", CELL(0.1), .frames = 2, .repeats = 2, .when = BENCH_NAMED},
};
const int bench_entry_count = sizeof bench_entries / sizeof bench_entries[0];
