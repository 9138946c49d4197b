// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The table of surfacing's benchmarks. The peer stands before the rows that are compared with it and is repeated as
// often.
#include "surface.h"

#define SPLASH(row_name, row_method)                                                     \
    {                                                                                    \
        "splash-" row_name, "surface-splash", BENCH_SPLASH, 64, row_method, .repeats = 3 \
    }
#define VELOCITY(row_name, row_method)                                                                       \
    {                                                                                                        \
        "splash-" row_name, "surface-velocity", BENCH_SPLASH, 64, row_method, .velocity = true, .repeats = 2 \
    }
#define SEA(row_name, squares, row_repeats, row_when)                                                                 \
    {"sea-peer-" row_name, "surface-sea", BENCH_SEA, squares, BENCH_PEER, .repeats = row_repeats, .when = row_when},  \
        {"sea-sphere-" row_name, "surface-sea",          BENCH_SEA,       squares,                                    \
         RH_SURFACING_SPHERE,    .repeats = row_repeats, .when = row_when},                                           \
    {                                                                                                                 \
        "sea-ellipsoid-" row_name, "surface-sea", BENCH_SEA, squares, RH_SURFACING_ELLIPSOID, .repeats = row_repeats, \
                                                                                              .when = row_when        \
    }
#define THREADS(row_name, row_method, row_threads)                                                      \
    {                                                                                                   \
        row_name, "surface-threads", BENCH_SPLASH, 64, row_method, .repeats = 2, .threads = row_threads \
    }
#define TINY(row_name, row_method, ...)                                                                                \
    {                                                                                                                  \
        "tiny-" row_name, "surface-tiny", BENCH_SPLASH, 16, row_method, .repeats = 2, .when = BENCH_NAMED, __VA_ARGS__ \
    }

const bench_surface_entry bench_surface_entries[] = {
    // A real splash, all methods.
    SPLASH("peer", BENCH_PEER),
    SPLASH("sphere", RH_SURFACING_SPHERE),
    SPLASH("ellipsoid", RH_SURFACING_ELLIPSOID),
    SPLASH("averaged", RH_SURFACING_AVERAGED),
    SPLASH("solenthaler", RH_SURFACING_SOLENTHALER),
    SPLASH("density", RH_SURFACING_DENSITY),

    // With velocities carried to the surface, which is what `rheo surface` makes; the peer carries them, too.
    VELOCITY("peer-v", BENCH_PEER),
    VELOCITY("sphere-v", RH_SURFACING_SPHERE),
    VELOCITY("ellipsoid-v", RH_SURFACING_ELLIPSOID),

    // Growth: the same work for each point, ever more points.
    SEA("0.1M", 1, 5, BENCH_ALWAYS),
    SEA("0.5M", 5, 2, BENCH_ALWAYS),
    SEA("2M", 20, 1, BENCH_ALWAYS),
    SEA("10M", 101, 1, BENCH_LONG),
    SEA("20M", 202, 1, BENCH_LONG),
    // The most memory that a user's ten million take.
    {"sea-ellipsoid-v-10M", "surface-sea", BENCH_SEA, 101, RH_SURFACING_ELLIPSOID, .velocity = true, .repeats = 1,
     .when = BENCH_LONG},

    // Threads: the same work with one and with two.
    THREADS("peer-1", BENCH_PEER, 1),
    THREADS("peer-2", BENCH_PEER, 2),
    THREADS("sphere-1", RH_SURFACING_SPHERE, 1),
    THREADS("sphere-2", RH_SURFACING_SPHERE, 2),
    THREADS("ellipsoid-1", RH_SURFACING_ELLIPSOID, 1),
    THREADS("ellipsoid-2", RH_SURFACING_ELLIPSOID, 2),

    // Over in a blink: for the test of this program.
    TINY("peer", BENCH_PEER, .velocity = false),
    TINY("sphere", RH_SURFACING_SPHERE, .velocity = false),
    TINY("ellipsoid", RH_SURFACING_ELLIPSOID, .velocity = false),
    TINY("peer-v", BENCH_PEER, .velocity = true),
    TINY("ellipsoid-v", RH_SURFACING_ELLIPSOID, .velocity = true),
    TINY("ellipsoid-1", RH_SURFACING_ELLIPSOID, .threads = 1),
    TINY("ellipsoid-2", RH_SURFACING_ELLIPSOID, .threads = 2),
};
const int bench_surface_entry_count = sizeof bench_surface_entries / sizeof bench_surface_entries[0];
