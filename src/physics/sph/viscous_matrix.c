// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The matrix of form stress (T. Takahashi, 4.10 to 4.12, appendix B). With g_ij = grad W_ij, o_i = sum_j g_ij and c_i
// the factor of a particle's stress (viscous_stress.c), the blocks of row i are
//      i           c_i (o_i . o_i + o_i o_i^T)
//      j           -c_i (g_ij . o_i + g_ij o_i^T) + c_j (g_ij . o_j + o_j g_ij^T)
//      k of j      -c_j (g_ij . g_jk + g_jk g_ij^T),  k = i and k = j's neighbours that are i's as well included
// A row is summed up in a table by number of its own (the source's accumulator) and written once.
#include <math.h>
#include <string.h>
#include "physics/sph/viscosity.h"

enum { SLOTS = 2048, MOST = 1024 };  // particles within four spacings: 250 at rest

typedef struct entry {
    uint32_t at;
    float block[9];
} entry;

typedef struct rh_sph_viscous_matrix {
    int64_t *first;  // [count + 1]
    entry *entries;
} rh_sph_viscous_matrix;

typedef struct row {
    int16_t slot[SLOTS];
    entry entries[MOST];
    int count;
    bool over;
} row;

static float *block_of(row *r, uint32_t at)
{
    uint32_t s = at * 2654435761u >> 21;
    while (r->slot[s] >= 0 && r->entries[r->slot[s]].at != at) s = (s + 1) & (SLOTS - 1);
    if (r->slot[s] < 0) {
        if (r->count == MOST) return r->over = true, r->entries[0].block;
        r->slot[s] = (int16_t)r->count;
        r->entries[r->count++] = (entry){.at = at};
    }
    return r->entries[r->slot[s]].block;
}

// block += scale ((g . h) 1 + g h^T)
static void add(float *block, float scale, const float g[3], const float h[3])
{
    float even = g[0] * h[0] + g[1] * h[1] + g[2] * h[2];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) block[3 * a + b] += scale * (g[a] * h[b] + (a == b ? even : 0));
}

// grad W of pair number n of the lists, from particle i.
static uint32_t gradient(const rh_sph_viscous *a, int64_t i, uint64_t n, float g[3])
{
    const rh_sph_fluid *f = a->fluid;
    uint32_t j = f->lists->fluid.near[n];
    if (j == f->lists->fluid.nobody) return j;
    for (int k = 0; k < 3; k++) g[k] = -a->weights[n] * (f->place[4 * i + k] - f->place[4 * (uint64_t)j + k]);
    return j;
}

#define EACH_NUMBER(list, i, n) \
    for (uint64_t n = 8 * (uint64_t)(list).first[i], n##_end = 8 * (uint64_t)(list).first[(i) + 1]; n < n##_end; n++)

static void sum_gradients(const rh_sph_viscous *a, int64_t i, float sum[3])
{
    float g[3] = {0, 0, 0};
    sum[0] = sum[1] = sum[2] = 0;
    EACH_NUMBER(a->fluid->lists->fluid, i, n)
    {
        if (gradient(a, i, n, g) == a->fluid->lists->fluid.nobody) continue;
        for (int k = 0; k < 3; k++) sum[k] += g[k];
    }
}

// `all`: [4 count] the sums of gradients.
static void make_row(const rh_sph_viscous *a, const float *all, int64_t i, row *r)
{
    const rh_sph_list *list = &a->fluid->lists->fluid;
    float g[3] = {0, 0, 0}, h[3] = {0, 0, 0}, c = a->viscous[i];
    memset(r->slot, 0xff, sizeof r->slot);
    r->count = 0;
    add(block_of(r, (uint32_t)i), c, all + 4 * i, all + 4 * i);
    EACH_NUMBER(*list, i, n)
    {
        uint32_t j = gradient(a, i, n, g);
        if (j == list->nobody) continue;
        float other = a->viscous[j];
        add(block_of(r, j), -c, g, all + 4 * i);
        add(block_of(r, j), other, all + 4 * (uint64_t)j, g);
        EACH_NUMBER(*list, j, m)
        {
            uint32_t k = gradient(a, j, m, h);
            if (k != list->nobody) add(block_of(r, k), -other, h, g);
        }
    }
}

rh_code rh_sph_viscous_assemble(rh_sph_viscous *a, rh_arena *arena, rh_status *status)
{
    int64_t count = a->fluid->count;
    rh_sph_viscous_matrix *m = rh_arena_take(arena, sizeof *m, status);
    float *all = rh_arena_take_zero(arena, 4 * ((size_t)count + 1) * sizeof *all, status);
    if (!m || !all) return RH_MEMORY;
    m->first = rh_arena_take_zero(arena, ((size_t)count + 1) * sizeof *m->first, status);
    if (!m->first) return RH_MEMORY;
    bool over = false;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < count; i++) sum_gradients(a, i, all + 4 * i);
#pragma omp parallel for schedule(dynamic, 64) reduction(|| : over)
    for (int64_t i = 0; i < count; i++) {
        row r = {.over = false};
        make_row(a, all, i, &r);
        m->first[i + 1] = r.count, over = over || r.over;
    }
    if (over) return rh_fail(status, RH_NUMERIC, "more than %d particles within four spacings of one", MOST);
    for (int64_t i = 0; i < count; i++) m->first[i + 1] += m->first[i];
    m->entries = rh_arena_take(arena, ((size_t)m->first[count] + 1) * sizeof *m->entries, status);
    if (!m->entries) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < count; i++) {
        row r = {.over = false};
        make_row(a, all, i, &r);
        memcpy(m->entries + m->first[i], r.entries, (size_t)r.count * sizeof *r.entries);
    }
    a->matrix = m;
    return RH_OK;
}

void rh_sph_viscous_matrix_apply(const rh_sph_viscous *a, const float *x, float *y)
{
    const rh_sph_viscous_matrix *m = a->matrix;
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < a->fluid->count; i++) {
        float sum[3] = {0, 0, 0};
        for (int64_t n = m->first[i]; n < m->first[i + 1]; n++) {
            const float *b = m->entries[n].block, *u = x + 4 * (uint64_t)m->entries[n].at;
            for (int k = 0; k < 3; k++) sum[k] += b[3 * k] * u[0] + b[3 * k + 1] * u[1] + b[3 * k + 2] * u[2];
        }
        memcpy(y + 4 * i, sum, sizeof sum);
    }
}

const float *rh_sph_viscous_matrix_block(const rh_sph_viscous *a, int64_t i, int64_t n, uint32_t *at)
{
    const rh_sph_viscous_matrix *m = a->matrix;
    if (m->first[i] + n >= m->first[i + 1]) return NULL;
    *at = m->entries[m->first[i] + n].at;
    return m->entries[m->first[i] + n].block;
}
