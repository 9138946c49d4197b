// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The table of benchmarks. Cells per metre decide the size: the dam holds 1.92 r^3 particles, the pool 3.6 r^3.
// The splash method runs its scenes as they are (scenes/splash): what was published was measured on their resolutions
// and particle counts. So does sand (scenes/sand).
#include "bench.h"

#define CELL(metres)    \
    {                   \
        "cell=" #metres \
    }
#define THICK(metres, pascal_seconds)                                                          \
    {                                                                                          \
        "cell=" #metres, "physics.liquid.viscosity=" #pascal_seconds, "solids[0].wall=no_slip" \
    }
// The dam over the obstacle for the study of the solver. Two particles an axis, not three: the solves are as large, and
// 8 particles a cell get to the measured frame sooner than 27. As many iterations as it takes: no row shall end for
// want of them.
#define STUDY(row_name, metres, per_metre, row_preconditioner, row_expansion, ...)                                 \
    {                                                                                                              \
        row_name, "splash-iterations", "scenes/splash/dam_over_obstacle",                                          \
            {"cell=" #metres, "physics.splash.particles_per_axis=2",                                               \
             "physics.splash.preconditioner=" row_preconditioner, "physics.splash.expansion=" row_expansion,       \
             "physics.splash.max_iterations=100000"},                                                              \
            .resolution = per_metre, .preconditioner = row_preconditioner, .expansion = row_expansion, .skip = 15, \
            .frames = 1, .repeats = 1, __VA_ARGS__                                                                 \
    }
#define STUDIES(short_name, row_preconditioner, row_expansion, end, small)                                           \
    STUDY(short_name "-5" end, 0.2, 5, row_preconditioner, row_expansion, .when = small),                            \
        STUDY(short_name "-10" end, 0.1, 10, row_preconditioner, row_expansion, .when = small),                      \
        STUDY(short_name "-15" end, 0.06666666666666667, 15, row_preconditioner, row_expansion, .when = BENCH_LONG), \
        STUDY(short_name "-20" end, 0.05, 20, row_preconditioner, row_expansion, .when = BENCH_LONG)
#define TINY_STUDY(row_name, metres, per_metre, row_preconditioner)                                              \
    {                                                                                                            \
        row_name, "splash-tiny", "scenes/splash/dam_over_obstacle",                                              \
            {"cell=" #metres, "physics.splash.particles_per_axis=2",                                             \
             "physics.splash.preconditioner=" row_preconditioner},                                               \
            .resolution = per_metre, .preconditioner = row_preconditioner, .expansion = "projected", .skip = 12, \
            .frames = 2, .repeats = 2, .when = BENCH_NAMED                                                       \
    }
#define SAND(row_name, row_group, row_scene, method, ...)                       \
    {                                                                           \
        row_name, row_group, row_scene, {"physics." #method "={}"}, __VA_ARGS__ \
    }
#define HONEY(row_name, pascal_seconds, setting, ...)                                                  \
    {                                                                                                  \
        "sph-honey-" row_name, "sph", "sph_honey", {"physics.sph.viscosity=" pascal_seconds, setting}, \
            .skip = 1, .frames = 2, .repeats = 1, __VA_ARGS__                                          \
    }
#define PLATE(row_name, ...)                                                                         \
    {                                                                                                \
        row_name, "thin", "plate", {__VA_ARGS__}, .skip = 1, .frames = 3, .repeats = 2, .threads = 1 \
    }
#define THICK_PLATE "solids.plate.shape.box.max=[0.545, 0.7, 0.4]"
#define STILL "solids.plate.motion={}"
#define PLATES(method, physics)                                                   \
    PLATE("thin-" method, physics), PLATE("thick-" method, physics, THICK_PLATE), \
        PLATE("thin-still-" method, physics, STILL), PLATE("thick-still-" method, physics, THICK_PLATE, STILL)

const bench_entry bench_entries[] = {
    // The scene other simulators were measured with: 30 frames at 64 cells, the first 13 at 128.
    {"dam-64", "dam", "dam_cube", CELL(0.015625), .resolution = 64, .frames = 30, .repeats = 3},
    {"dam-128", "dam", "dam_cube", CELL(0.0078125), .resolution = 128, .frames = 13, .repeats = 1},
    {"pool-64", "pool", "pool", CELL(0.015625), .resolution = 64, .frames = 8, .repeats = 2},

    // Viscosity: the dam with walls that hold it, in one viscosity at several sizes and in several at one size.
    {"thick-32", "viscosity", "dam_cube", THICK(0.03125, 100), .resolution = 32, .frames = 3, .repeats = 2},
    {"thick-64", "viscosity", "dam_cube", THICK(0.015625, 100), .resolution = 64, .frames = 3, .repeats = 2},
    {"thick-128", "viscosity", "dam_cube", THICK(0.0078125, 100), .resolution = 128, .frames = 2, .most_steps = 2,
     .repeats = 1},
    {"thin-64", "viscosity", "dam_cube", THICK(0.015625, 0.001), .resolution = 64, .frames = 3, .repeats = 1},
    {"pitch-64", "viscosity", "dam_cube", THICK(0.015625, 1e8), .resolution = 64, .frames = 3, .repeats = 1},

    // Growth: the same moment (0.1 to 0.17 s, the column has begun to run) of the same dam with ever more particles.
    {"growth-0.25M", "growth", "dam_cube", CELL(0.02), .skip = 3, .frames = 2, .repeats = 5},
    {"growth-1M", "growth", "dam_cube", CELL(0.0125), .skip = 3, .frames = 2, .repeats = 3},
    {"growth-4M", "growth", "dam_cube", CELL(0.0078125), .skip = 3, .frames = 2, .repeats = 2},
    {"growth-16M", "growth", "dam_cube", CELL(0.005), .skip = 3, .frames = 2, .repeats = 1, .when = BENCH_LONG},
    {"growth-32M", "growth", "dam_cube", CELL(0.00390625), .skip = 3, .frames = 2, .most_steps = 6, .repeats = 1,
     .when = BENCH_LONG},
    {"growth-64M", "growth", "dam_cube", CELL(0.003125), .skip = 3, .frames = 2, .most_steps = 3, .repeats = 1,
     .when = BENCH_LONG},

    // Threads: the same work with one and with two.
    {"one-thread", "threads", "dam_cube", CELL(0.0078125), .skip = 2, .frames = 2, .repeats = 2, .threads = 1},
    {"two-threads", "threads", "dam_cube", CELL(0.0078125), .skip = 2, .frames = 2, .repeats = 2, .threads = 2},

    // Iterations of the pressure solve by scene and resolution (the entries above that have a resolution count, too).
    {"dam-32", "iterations", "dam_cube", CELL(0.03125), .resolution = 32, .frames = 30, .repeats = 1},
    {"dam-256", "iterations", "dam_cube", CELL(0.00390625), .resolution = 256, .frames = 13, .repeats = 1,
     .when = BENCH_LONG},
    {"pool-32", "iterations", "pool", CELL(0.03125), .resolution = 32, .frames = 8, .repeats = 1},
    {"pool-128", "iterations", "pool", CELL(0.0078125), .resolution = 128, .frames = 2, .repeats = 1},
    {"pool-256", "iterations", "pool", CELL(0.00390625), .resolution = 256, .frames = 1, .repeats = 1,
     .when = BENCH_LONG},
    {"pool-384", "iterations", "pool", CELL(0.0026041666666666665), .resolution = 384, .frames = 1, .most_steps = 2,
     .repeats = 1, .when = BENCH_LONG},
    {"sheet-32", "iterations", "sheet", CELL(0.03125), .resolution = 32, .frames = 5, .repeats = 1},
    {"sheet-64", "iterations", "sheet", CELL(0.015625), .resolution = 64, .frames = 5, .repeats = 1},
    {"sheet-128", "iterations", "sheet", CELL(0.0078125), .resolution = 128, .frames = 5, .repeats = 1},
    {"sheet-256", "iterations", "sheet", CELL(0.00390625), .resolution = 256, .frames = 5, .repeats = 1,
     .when = BENCH_LONG},
    {"sheet-384", "iterations", "sheet", CELL(0.0026041666666666665), .resolution = 384, .frames = 5, .repeats = 1,
     .when = BENCH_LONG},

    // The splash method on the published scenes. Measured are frames in which much happens: the jets have poured as
    // many particles as were published; the water has just hit the block; it shoots down the streets; the four waves
    // have met; all objects have hit the pool; the flood has reached the hills; the first plume rises.
    {"r1-fountains", "splash-frames", "scenes/splash/fountains", .published = 1, .skip = 59, .frames = 3, .repeats = 1},
    {"r2-dam", "splash-frames", "scenes/splash/dam_over_obstacle", .published = 2, .skip = 15, .frames = 2,
     .repeats = 1},
    {"r3-city", "splash-frames", "scenes/splash/city_flood", .published = 3, .skip = 70, .frames = 3, .repeats = 1,
     .when = BENCH_LONG},
    {"r4-four-dams", "splash-frames", "scenes/splash/quadruple_dam", .published = 4, .skip = 31, .frames = 2,
     .repeats = 1, .when = BENCH_LONG},
    {"r5-pool", "splash-frames", "scenes/splash/round_pool", .published = 5, .skip = 43, .frames = 2, .repeats = 1,
     .when = BENCH_LONG},
    {"r6-terrain", "splash-frames", "scenes/splash/terrain_dam", .published = 6, .skip = 42, .frames = 2, .repeats = 1,
     .when = BENCH_LONG},
    {"r7-explosions", "splash-frames", "scenes/splash/explosions", .published = 7, .skip = 6, .frames = 2,
     .repeats = 1},

    // Steps of its solver over resolution: preconditioner and expansion.
    STUDIES("mg", "multigrid", "projected", "", BENCH_ALWAYS),
    STUDIES("mic", "mic", "projected", "", BENCH_ALWAYS),
    STUDY("none-5", 0.2, 5, "none", "projected", .when = BENCH_ALWAYS),
    STUDY("none-10", 0.1, 10, "none", "projected", .when = BENCH_LONG),
    STUDIES("mg", "multigrid", "gradient", "-grad", BENCH_LONG),
    STUDIES("mic", "mic", "gradient", "-grad", BENCH_LONG),
    STUDY("none-5-grad", 0.2, 5, "none", "gradient", .when = BENCH_LONG),
    STUDY("none-10-grad", 0.1, 10, "none", "gradient", .when = BENCH_LONG),

    // Sand, both models: the collapse is in full run, at about a third of a second. The rabbit falls on a rough floor.
    SAND("column", "sand", "scenes/sand/column", sand, .skip = 15, .frames = 2, .repeats = 1),
    SAND("column-source", "sand", "scenes/sand/column", sand_incompressible, .skip = 15, .frames = 2, .repeats = 1,
         .when = BENCH_LONG),
    SAND("rabbit", "sand", "scenes/sand/figure_sand_rough", sand, .skip = 15, .frames = 2, .repeats = 1),
    SAND("rabbit-source", "sand", "scenes/sand/figure_sand_rough", sand_incompressible, .skip = 15, .frames = 2,
         .repeats = 1, .when = BENCH_LONG),

    // Smoothed particles: one second of the dam break that the best open code was measured with (52 704 particles, mean
    // density error 0.05 %: 639 steps, 94 s), with each solver at its start, and growth.
    {"sph-peer", "sph", "sph_dam", .frames = 30, .repeats = 1},
    {"sph-peer-03", "sph", "sph_dam", {"physics.sph.cfl=0.3"}, .frames = 30, .repeats = 1},
    {"sph-exact", "sph", "sph_dam", .skip = 4, .frames = 2, .repeats = 2},
    {"sph-isph", "sph", "sph_dam", {"physics.sph.solver=isph"}, .skip = 4, .frames = 2, .repeats = 2},
    {"sph-levels", "sph", "sph_dam", {"physics.sph.solver=multilevel"}, .skip = 4, .frames = 2, .repeats = 2},
    {"sph-iisph", "sph", "sph_dam", {"physics.sph.solver=iisph"}, .skip = 4, .frames = 2, .repeats = 2},
    {"sph-0.4M", "sph", "sph_dam", CELL(0.015625), .skip = 1, .frames = 1, .repeats = 1, .when = BENCH_LONG},
    {"sph-lev-0.4M",
     "sph",
     "sph_dam",
     {"cell=0.015625", "physics.sph.solver=multilevel"},
     .skip = 1,
     .frames = 1,
     .repeats = 1,
     .when = BENCH_LONG},
    {"sph-3.4M", "sph", "sph_dam", CELL(0.0078125), .skip = 1, .frames = 1, .most_steps = 8, .repeats = 1,
     .when = BENCH_LONG},
    {"sph-11M", "sph", "sph_dam", CELL(0.005208333333333333), .skip = 1, .frames = 1, .most_steps = 4, .repeats = 1,
     .when = BENCH_LONG},

    // Thick liquid of smoothed particles, over viscosity and size, and as the best open code does it: by the diagonal.
    HONEY("1", "1", "cell=0.03125", .threads = 0),
    HONEY("1e3", "1e3", "cell=0.03125", .threads = 0),
    HONEY("1e5", "1e5", "cell=0.03125", .threads = 0),
    HONEY("1e6", "1e6", "cell=0.03125", .threads = 0),
    HONEY("1e6-diag", "1e6", "physics.sph.viscosity_solver=diagonal", .threads = 0),
    HONEY("5k", "1e5", "cell=0.0625", .threads = 0),
    HONEY("0.4M", "1e5", "cell=0.015625", .when = BENCH_LONG),
    HONEY("3.4M", "1e5", "cell=0.0078125", .when = BENCH_LONG),

    // Elastoplastic matter: a block of 40 500 falls and spreads. The source took 21 to 28 microseconds a particle and
    // step,
    // one core of 2007. Explicit, implicit, and growth.
    {"dough", "elastoplastic", "dough_block", .skip = 2, .frames = 1, .most_steps = 40, .repeats = 2},
    {"dough-implicit",
     "elastoplastic",
     "dough_block",
     {"physics.elastoplastic.implicit=true"},
     .skip = 2,
     .frames = 2,
     .repeats = 1},
    {"dough-0.3M", "elastoplastic", "dough_block", CELL(0.01), .frames = 1, .most_steps = 20, .repeats = 1,
     .when = BENCH_LONG},
    {"dough-5M", "elastoplastic", "dough_block", CELL(0.004), .frames = 1, .most_steps = 6, .repeats = 1,
     .when = BENCH_LONG},

    // Surface tension, and the same drop without.
    {"tension", "tension", "scenes/drop_tension", {"cell=0.00016"}, .skip = 4, .frames = 4, .repeats = 2},
    {"tension-none",
     "tension",
     "scenes/drop_tension",
     {"cell=0.00016", "physics.liquid.surface_tension=0"},
     .skip = 4,
     .frames = 4,
     .repeats = 2},

    // Drops that meet, and the same without.
    {"drops", "droplets", "drops", .skip = 1, .frames = 3, .repeats = 2},
    {"drops-free", "droplets", "drops", {"physics.droplets.collisions=false"}, .skip = 1, .frames = 3, .repeats = 2},

    // A layer of ten times as many particles as its base has, and the frames of the base that it takes as long as:
    // eight, as it sorts in every eighth step.
    {"whitewater", "whitewater", "whitewater", .base = "scenes/dam_break_obstacle", .base_setting = "cell=0.04",
     .skip = 31, .frames = 8, .repeats = 1},
    {"whitewater-base", "whitewater", "scenes/dam_break_obstacle", CELL(0.04), .skip = 31, .frames = 8, .repeats = 1},

    // Two materials in one run; a field without particles (counted by its cells); a solid whose mesh changes with every
    // step; and the same dam alone on one thread and twice at the same time, in two contexts of one thread each.
    {"two-materials", "materials", "scenes/two_materials", .skip = 8, .frames = 2, .repeats = 2},
    {"dye", "fields", "scenes/dye/stirred", CELL(0.01), .skip = 4, .frames = 4, .repeats = 2},
    {"fish", "sequences", "scenes/fish", .skip = 4, .frames = 2, .repeats = 2},
    // A hundred solids that the liquid moves; as many that keys move, on the same ways, or hardly at all.
    {"crates", "solids", "scenes/crates", .skip = 12, .frames = 2, .repeats = 2},
    {"crates-followed", "solids", "crates_followed", .skip = 12, .frames = 2, .repeats = 2},
    {"crates-keyed", "solids", "crates_keyed", .skip = 12, .frames = 2, .repeats = 2},
    // A wall of 0.4 cells in water, moving and still, against one of three cells, for both kinds of step.
    PLATES("splash", "physics={splash: {}}"),
    PLATES("liquid", "physics={liquid: {}}"),
    {"one-world", "contexts", "dam_cube", CELL(0.02), .skip = 3, .frames = 2, .repeats = 3, .threads = 1},
    {"two-worlds", "contexts", "dam_cube", CELL(0.02), .skip = 3, .frames = 2, .repeats = 3, .threads = 1, .worlds = 2},

    // Over in a blink: for the test of this program. The published scenes at their start, where times mean nothing: one
    // with all its particles, one with hardly any, which must get no ratio.
    {"tiny", "tiny", "dam_cube", CELL(0.1), .frames = 2, .repeats = 2, .when = BENCH_NAMED},
    {"tiny-worlds", "rooms-tiny", "dam_cube", CELL(0.1), .frames = 2, .repeats = 2, .threads = 1, .worlds = 2,
     .when = BENCH_NAMED},
    {"tiny-dye", "rooms-tiny", "scenes/dye/stirred", CELL(0.05), .frames = 2, .repeats = 2, .when = BENCH_NAMED},
    {"r1-start", "splash-start", "scenes/splash/fountains", .published = 1, .frames = 2, .repeats = 2,
     .when = BENCH_NAMED},
    {"r2-start", "splash-start", "scenes/splash/dam_over_obstacle", .published = 2, .frames = 1, .most_steps = 1,
     .repeats = 1, .when = BENCH_NAMED},
    TINY_STUDY("tiny-mg-2", 0.5, 2, "multigrid"),
    TINY_STUDY("tiny-mg-4", 0.25, 4, "multigrid"),
    TINY_STUDY("tiny-mic-2", 0.5, 2, "mic"),
    TINY_STUDY("tiny-mic-4", 0.25, 4, "mic"),
    SAND("column-start", "sand-start", "scenes/sand/column", sand, .frames = 1, .most_steps = 1, .repeats = 1,
         .when = BENCH_NAMED),
    SAND("tiny-sand", "sand-tiny", "scenes/sand/small/column", sand, .frames = 2, .repeats = 2, .when = BENCH_NAMED),
    SAND("tiny-sand-source", "sand-tiny", "scenes/sand/small/column", sand_incompressible, .frames = 2, .repeats = 2,
         .when = BENCH_NAMED),
};
const int bench_entry_count = sizeof bench_entries / sizeof bench_entries[0];
