// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Implicit incompressible SPH: M. Ihmsen, J. Cornelis, B. Solenthaler, C. Horvath, M. Teschner, IEEE TVCG 20(3), 2014.
// Sweeps q_i <- max(0, q_i + w (excess_i + change_i) / -own_i), from half of the last pressure; a sweep is two loops
// over all neighbours, of the acceleration that q gives and of the change of density that this makes. At least two.
#include <math.h>
#include "base/parallel.h"
#include "physics/sph/pressure.h"

static const float RELAXATION = 0.5f;
enum { LEAST = 2 };

// One sweep; the mean of what is too dense before it.
static double sweep(rh_sph_fluid *f, const float *own)
{
    int64_t blocks = rh_blocks(f->count);
    rh_sph_push(f);
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t b = 0; b < blocks; b++) {
        double sum = 0;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, f->count); i++) {
            if (!(own[i] < 0)) continue;
            float left = f->excess[i] + rh_sph_change(f, i);
            sum += (double)rh_max_of(left, 0);
            f->q[i] = rh_max_of(f->q[i] - RELAXATION * left / own[i], 0);
        }
        f->sums[b] = sum;
    }
    return rh_sph_sum(f) / (double)f->count;
}

rh_code rh_sph_solve_iisph(rh_sph_fluid *f, const rh_sph_solve_options *o, rh_arena *arena, rh_sph_solved *out,
                           rh_status *status)
{
    *out = (rh_sph_solved){.unknowns = f->count};
    float *own = rh_arena_take(arena, ((size_t)f->count + 1) * sizeof *own, status);
    if (!own) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) {
        own[i] = rh_sph_own_change(f, i);
        f->q[i] = own[i] < 0 ? 0.5f * f->q[i] : 0;
    }
    do {
        out->error = sweep(f, own);
        out->iterations++;
        if (!isfinite(out->error)) return rh_fail(status, RH_NUMERIC, "sph: the pressure is not finite");
        out->converged = out->error < o->tolerance;
    } while ((!out->converged || out->iterations < LEAST) && out->iterations < o->max_iterations);
    rh_sph_push(f);
    return RH_OK;
}
