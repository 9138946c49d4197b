// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The bytes a stage must move between memory and caches: everything it needs from memory is read once, everything it
// leaves in memory for later stages is written once, and what is used again inside the stage comes from caches. So this
// is what a perfect stage would move in this design, not what ours moves; model bytes / time / measured bandwidth is
// the share of the machine's bound that was reached. A share near 1 cannot get better without moving less; a low share
// means arithmetic, waiting, or traffic that need not be.
//
//   particle   one particle: position 12 bytes, velocity 12, identity 8 (FLIP; APIC's matrix of 36 bytes is
//              not counted)
//   value      one cell of one tile of one field, 4 bytes; a tile has 512, in the liquid or not
//   cell       one cell with an unknown pressure; solvers need to touch no other
//   iteration  of the pressure solve; of a stage that has a solve of its own (splash: density and pressure),
//              of that
//
// docs/performance.md has the same table in words. A stage that is not listed has no share; add it here when it gets a
// name.
#include <string.h>
#include "bench.h"

enum { POSITION = 12, VELOCITY = 12, IDENTITY = 8, VALUE = 4, FACES = 3 * VALUE };

// One iteration of conjugate gradients with a multigrid V-cycle, per unknown: x, r, p are read and written, A p is
// written and read (32 bytes); on the finest level of the cycle a sweep down and one up read and write the solution and
// read the right-hand side (24), residual and correction read and write once more (16); coarser levels add a seventh of
// these. Coefficients come from bits. The splash method's iterations (MPRGP: solve/mprgp.h) count as the same: x, g, p
// and A p, a cycle on the free set. What an expansion or a change of the free set costs more is not counted.
// Preconditioned by MIC(0), an iteration must move 24 bytes instead of the cycle's: its rows' shares are too high.
static const double iteration = 8 * VALUE + (6 + 4) * VALUE * 8.0 / 7.0;

static const struct {
    const char *stage;
    double particle, value, cell, cell_iteration, particle_iteration;
    bool lists;  // of methods with lists of neighbours only: others have another stage of that name, below
} model[] = {
    // Every particle moves to its place.
    {"sort", .particle = 2 * (POSITION + VELOCITY + IDENTITY)},
    // Smoothed particles. Positions in, lists (some 40 numbers) and densities out; lists, places and velocities in,
    // velocities or densities out; weights out, lists, weights and places for the first product and for the push, and
    // twice an iteration, four vectors.
    {"neighbours", .particle = POSITION + 4 * 40 + VALUE},
    {"accelerations", .particle = 4 * 40 + 16 + 2 * 16},
    {"densities", .particle = 4 * 40 + 2 * 16 + 2 * VALUE},
    {"projection", .particle = 2 * 4 * 40 + 2 * (8 * 40 + 2 * 16), .cell_iteration = 2 * (8 * 40 + 2 * 16) + 8 * VALUE},
    {"motion", .particle = 4 * 16 + 2 * (POSITION + VELOCITY)},
    // Lists and places in, three numbers a pair out; five products an iteration read these and lists, velocities in and
    // out, and eight passes of vectors.
    {"viscosity", .particle = 4 * 40 + 16 + 3 * 4 * 40, .particle_iteration = 5 * (4 * 4 * 40 + 2 * 16) + 8 * VELOCITY,
     .lists = true},
    // Open shares of faces and the distance to solids are written.
    {"solids", .value = FACES + VALUE},
    // Positions in, level set out.
    {"surface", .particle = POSITION, .value = VALUE},
    // Particles in; velocities, the copy that FLIP subtracts (splash: fillings of faces), and the numbers of particles
    // out.
    {"to_grid", .particle = POSITION + VELOCITY, .value = 2 * FACES + VALUE},
    // Fillings of cells in and out, of faces in, those after it out, the shift out; right-hand side and solution; the
    // solve.
    {"density", .value = 2 * VALUE + 2 * FACES + FACES, .cell = 2 * VALUE, .cell_iteration = iteration},
    // Velocities in and out, the copy that FLIP subtracts out.
    {"forces", .value = 3 * FACES},
    // Sand: the stress that particles carry in; stresses of cells out, velocities in and out.
    {"carried_stress", .particle = POSITION + 36, .value = 6 * VALUE + 2 * FACES},
    // Positions, velocities, fillings of cells (before and after) and of faces in; right-hand side out.
    {"predict", .particle = POSITION, .value = 2 * FACES + 2 * VALUE, .cell = VALUE},
    // Level set in, distances out, in, smoothed out, in; curvature and slope out, and in and out twice as it is
    // smoothed
    // along the surface, which is counted for all cells; curvature of faces out.
    {"tension", .value = 12 * VALUE + FACES},
    // Velocities in, right-hand side out; the solve; velocities in and out with the pressure.
    {"pressure", .cell = FACES + VALUE + VALUE + 2 * FACES, .cell_iteration = iteration},
    // sand_incompressible: masses and strengths out and in, marks of known faces in; of cells, pressure in, velocities
    // in, and in and out for each of the eight portions of friction where cells yield (counted for all), once more for
    // groups. For sand, whose iterations a step does not report and which moves the stress of particles too, it is a
    // lower bound.
    {"friction", .value = 4 * VALUE + 3, .cell = VALUE + FACES + 8 * 2 * FACES + 2 * FACES},
    // Fillings and velocities in, right-hand side out; the solve, where one is needed, is not counted.
    {"make_way", .value = 2 * FACES + VALUE, .cell = VALUE},
    // Velocities in and out.
    // Velocities in and out three times, their change out; the system (stresses and masses) out; the solve, with three
    // unknowns a cell and three sweeps each way.
    {"viscosity", .value = 7 * FACES + 9 * VALUE, .cell_iteration = 3 * (8 * VALUE + (18 + 4) * VALUE * 8.0 / 7.0)},
    {"extend", .value = 2 * FACES},
    // Numbers in, displacement out; at least one iteration of its solve, whose true count a step does not report.
    {"volume", .value = VALUE + FACES, .cell = 2 * VALUE + iteration},
    // Positions and both velocities of the grid in, velocities in and out.
    {"update", .particle = POSITION + 2 * VELOCITY, .value = 2 * FACES},
    // Positions in and out; velocity and displacement in.
    {"advect", .particle = 2 * POSITION, .value = 2 * FACES},
    // Splash: fillings and velocities in, two bytes a particle out.
    {"spray", .particle = POSITION + VELOCITY + 2, .value = FACES + VALUE},
    // Sand: positions in and out, velocities of the grid in.
    {"mix", .particle = 2 * POSITION, .value = FACES},
    // Dye: values in and out, as tiles come and go. Then the right-hand side in, and an iteration of plain conjugate
    // gradients: x, r, p in and out, A p out and in.
    {"tiles", .value = 2 * VALUE},
    {"diffuse", .cell = 2 * VALUE, .cell_iteration = 8 * VALUE},
    // Whitewater: places, velocities, ages and lives in and out, class and three groups out. The cells around are read
    // from caches.
    {"move", .particle = 2 * (POSITION + VELOCITY) + 4 * VALUE + VALUE + 3},
    // Particles in; those that hit something are few.
    {"collide", .particle = POSITION + VELOCITY},
};

double bench_traffic(const char *stage, const bench_work *work)
{
    for (size_t i = 0; i < sizeof model / sizeof model[0]; i++)
        if (strcmp(model[i].stage, stage) == 0 && (work->lists || !model[i].lists))
            return (model[i].particle + model[i].particle_iteration * work->iterations) * work->particles +
                   model[i].value * work->values +
                   (model[i].cell + model[i].cell_iteration * work->iterations) * work->cells;
    return 0;
}
