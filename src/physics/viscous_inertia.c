// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// B pushes a face with its open share o of the difference of pressure (less at shores), so a link is o^2 / m. With the
// operator of the projection in its place, whose faces at the surface have the liquid part of the way to it as their
// mass, turns in thin liquid (1 Pa s in cells of 2 cm) went three times as slowly, and grew where single particles flew
// ahead of the surface.
#include "physics/viscous_inertia.h"

#include <string.h>

static const float ZEROS[RH_CELLS];

typedef struct ways {
    rh_faces mass, stiffness;  // share^2 / what each lower face opposes: how easily it moves
} ways;

static void measure_tile(const rh_pressure *p, const rh_viscosity_system *viscosity, int32_t t, ways w)
{
    const rh_tiles *tiles = p->tiles;
    for (int a = 0; a < tiles->dimension; a++) {
        int64_t at = (int64_t)t * tiles->cells;
        float pushed[RH_CELLS], mass[RH_CELLS], stiffness[RH_CELLS];
        rh_pressure_pushed(p, t, a, pushed);
        rh_viscosity_diagonal(viscosity, t, a, mass, stiffness);
        for (int c = 0; c < tiles->cells; c++) {
            float share = p->cut->open[a][t][c] * pushed[c];
            w.mass.axis[a][at + c] = mass[c] > 0 ? share * share / mass[c] : 0;
            w.stiffness.axis[a][at + c] = stiffness[c] > 0 ? share * share / stiffness[c] : 0;
        }
    }
}

static void link_tile(const rh_viscous_inertia *m, const rh_pressure *p, rh_faces links, int32_t n)
{
    const rh_tiles *tiles = p->tiles;
    int32_t t = p->layout.listed[n];
    float *block = rh_poisson_block(&m->matrix, n);
    rh_bit_rows bits = rh_bit_rows_of(tiles, p->layout.unknown, t);
    rh_rows link[3];
    for (int a = 0; a < tiles->dimension; a++) link[a] = rh_rows_of(tiles, links.axis[a], t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int here = bits.here[r];
        rh_f8 diagonal = rh_f8_all(0);
        for (int a = 0; a < tiles->dimension; a++) {
            rh_f8 own = rh_f8_load(link[a].here + 8 * r);
            rh_f8_store(block + (a + 1) * tiles->cells + 8 * r,
                        rh_f8_masked(own, here & rh_bits_row_below(&bits, a, r)));
            diagonal += own + rh_row_above(&link[a], a, r);
        }
        here &= rh_i8_bits(diagonal > rh_f8_all(0));
        rh_f8_store(block + 8 * r, rh_f8_select(rh_i8_from_bits(here), diagonal, rh_f8_all(1)));
    }
}

// What stress opposes to a change of a cell's volume, faces being springs side by side. In the midst of liquid S^-1 is
// 2 mu t / (rho h^2), and this 3/4 of it (in three dimensions 2/3); even pressure in liquid with a free surface all
// around meets only mu (2/3 mu). So it lies between the two: scaled to 2 mu it took up to four turns more, 21 for
// liquids of 1e-3 and 1e3 Pa s side by side in three dimensions. Cells of which a wall leaves a little open resist as
// little as their faces are wide. (With the mean of the stresses in the cell alone, which knows nothing of walls, 1e6
// Pa s took 38 turns to 1e-5.)
static void resist_tile(const rh_viscous_inertia *m, const rh_pressure *p, rh_faces eases, int32_t n)
{
    const rh_tiles *tiles = p->tiles;
    int32_t t = p->layout.listed[n];
    float *out = m->resistance + (int64_t)n * tiles->cells;
    rh_bit_rows bits = rh_bit_rows_of(tiles, p->layout.unknown, t);
    for (int r = 0; r < tiles->cells / 8; r++) {
        rh_f8 sum = rh_f8_all(0);
        for (int a = 0; a < tiles->dimension; a++) {
            rh_rows ease = rh_rows_of(tiles, eases.axis[a], t, ZEROS);
            sum += rh_f8_load(ease.here + 8 * r) + rh_row_above(&ease, a, r);
        }
        rh_f8 k = rh_f8_select(sum > rh_f8_all(0), 1 / sum, rh_f8_all(0));
        rh_f8_store(out + 8 * r, rh_f8_masked(k, bits.here[r]));
    }
}

rh_code rh_viscous_inertia_prepare(rh_viscous_inertia *m, const rh_pressure *p, const rh_viscosity_system *viscosity,
                                   rh_arena *arena, rh_status *status)
{
    ways w;
    *m = (rh_viscous_inertia){.matrix = p->matrix, .pockets = &p->unfelt};
    RH_TRY(rh_faces_new(&w.mass, p->tiles, false, arena, status));
    RH_TRY(rh_faces_new(&w.stiffness, p->tiles, false, arena, status));
    m->resistance = rh_poisson_vector(&m->matrix, arena, status);
    m->matrix.block = rh_arena_take(arena, ((size_t)m->matrix.count + 1) * sizeof *m->matrix.block, status);
    if (!m->matrix.block || !m->resistance) return RH_MEMORY;
    for (int32_t n = 0; n < m->matrix.count; n++) m->matrix.block[n] = -1;
    RH_TRY(rh_poisson_take_blocks(&m->matrix, arena, status));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < p->tiles->count; t++) measure_tile(p, viscosity, t, w);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < m->matrix.count; n++) {
        link_tile(m, p, w.mass, n);
        resist_tile(m, p, w.stiffness, n);
    }
    RH_TRY(rh_preconditioner_init(&m->preconditioner, p->which, &m->matrix, arena, status));
    m->preconditioner.bodies = p->preconditioner.bodies;
    m->preconditioner.pockets = m->pockets;
    return m->preconditioner.method->prepare(&m->preconditioner, arena, status);
}

void rh_viscous_inertia_precondition(const rh_viscous_inertia *m, const float *r, float *z, float *spare)
{
    const float *found = m->preconditioner.method->apply(&m->preconditioner, r, z, spare);
    if (found != z) memcpy(z, found, rh_poisson_values(&m->matrix) * sizeof *z);
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < (int64_t)rh_poisson_values(&m->matrix); c++) z[c] += m->resistance[c] * r[c];
    rh_pockets_balance(m->pockets, &m->matrix, z);
}
