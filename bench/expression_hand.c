// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The programs of the benchmark as one would write them in C, with the house's flags: one loop over arrays, OpenMP, the
// operations of the program in its order. Random numbers come from the same generator as those of expressions: it is
// the loop that is compared.
#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "lang/library/library.h"
#include "expression.h"

static inline rh_vec3 acceleration(rh_vec3 v, float radius, float square, float cube)
{
    rh_vec3 d = {2.0f - v.x, 0.0f - v.y, 0.0f - v.z};
    float length = sqrtf(d.x * d.x + d.y * d.y + d.z * d.z);
    float reynolds = length * radius / 1.225f;
    float c = reynolds > 1000.0f ? 24.0f / reynolds : 0.424f;
    float drag = 0.5f * 1.2f * c * length, mass = (4.0f / 3.0f) * 3.14f * cube;
    return (rh_vec3){0.0f - drag * d.x * 4.0f * 3.14f * square / mass,
                     -9.81f - drag * d.y * 4.0f * 3.14f * square / mass,
                     0.0f - drag * d.z * 4.0f * 3.14f * square / mass};
}

static inline void advance(const bench_points *p, int64_t i, float square, float cube)
{
    const float dt = 1.0f / (4.0f * 24.0f);
    rh_vec3 v = p->velocity[i], a = acceleration(v, p->radius[i], square, cube), at = p->position[i];
    v = (rh_vec3){v.x + a.x * dt, v.y + a.y * dt, v.z + a.z * dt};
    p->velocity[i] = v;
    p->position[i] = (rh_vec3){at.x + v.x * dt, at.y + v.y * dt, at.z + v.z * dt};
}

static void step(const bench_points *p)
{
#pragma omp parallel for schedule(static) num_threads(rh_threads())
    for (int64_t i = 0; i < p->count; i++) advance(p, i, powf(p->radius[i], 2.0f), powf(p->radius[i], 3.0f));
}

static void step_products(const bench_points *p)
{
#pragma omp parallel for schedule(static) num_threads(rh_threads())
    for (int64_t i = 0; i < p->count; i++)
        advance(p, i, p->radius[i] * p->radius[i], p->radius[i] * p->radius[i] * p->radius[i]);
}

static void decimate(const bench_points *p)
{
#pragma omp parallel num_threads(rh_threads())
    {
        rh_lang_twister64 twister;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < p->count; i++) {
            rh_lang_twister64_seed(&twister, (uint64_t)(12345 + p->id[i]));
            if ((double)rh_lang_twister64_draw(&twister) * 0x1p-64 > 0.5) p->dead[i] = 1;
        }
    }
}

void bench_hand_run(bench_program program, const bench_points *points)
{
    if (program == BENCH_STEP) step(points);
    else if (program == BENCH_PRODUCTS) step_products(points);
    else decimate(points);
}
