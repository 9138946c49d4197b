// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// L D L^T on the pattern of A, column by column; tau times what elimination would put outside the pattern is taken from
// the two diagonals concerned, and a pivot below sigma a_ii is a_ii again (R. Bridson, "Fluid Simulation for Computer
// Graphics", 2nd ed. 2015, section 5.1, for the pressure). A is no M-matrix: entries between components have either
// sign, and pivots are replaced now and then.
#include "solve/viscous_mic.h"

#include <string.h>

static const double TAU = 0.97, SIGMA = 0.25;
enum { MOST = 15 };  // entries of a row

// A place on the tiles.
typedef struct place {
    int32_t tile;
    int cell;
} place;

static place step_from(const rh_tiles *tiles, place p, int axis, int by)
{
    static const int across[3] = {1, 3, 9}, along[3] = {1, 8, 64};
    int at = p.cell / along[axis] & 7;
    if (p.tile < 0) return p;
    if (at + by < 0 || at + by > 7)
        return (place){tiles->near[p.tile][RH_HERE + by * across[axis]], p.cell - 7 * by * along[axis]};
    return (place){p.tile, p.cell + by * along[axis]};
}

// The faces of a stress with their signs.
typedef struct strain {
    int count;
    int component[4];
    place at[4];
    float sign[4];
} strain;

static strain strain_at(const rh_tiles *tiles, int q, place p)
{
    if (q < 3) return (strain){2, {q, q}, {step_from(tiles, p, q, 1), p}, {1, -1}};
    int a = q == 5, b = q == 3 ? 1 : 2;
    return (strain){4, {a, a, b, b}, {p, step_from(tiles, p, b, -1), p, step_from(tiles, p, a, -1)}, {1, -1, 1, -1}};
}

typedef struct row {
    int count;
    int32_t column[4 * 6];
    double value[4 * 6];
} row;

static void add_entry(row *r, int32_t column, double value)
{
    int n = 0;
    while (n < r->count && r->column[n] != column) n++;
    if (n == r->count) r->column[r->count] = column, r->value[r->count++] = 0;
    r->value[n] += value;
}

static void add_stress(const rh_viscous *a, const int32_t *number, int q, place p, int component, place own, row *r)
{
    if (p.tile < 0) return;
    double k = (double)a->stress[q][(int64_t)p.tile * a->tiles.cells + p.cell];
    if (k == 0) return;
    strain s = strain_at(&a->tiles, q, p);
    float sign = 0;
    for (int n = 0; n < s.count; n++)
        if (s.component[n] == component && s.at[n].tile == own.tile && s.at[n].cell == own.cell) sign = s.sign[n];
    for (int n = 0; n < s.count; n++) {
        if (s.at[n].tile < 0) continue;
        int32_t of = number[s.component[n] * a->lane + (int64_t)s.at[n].tile * a->tiles.cells + s.at[n].cell];
        if (of >= 0) add_entry(r, of, (double)(sign * s.sign[n]) * k);
    }
}

static void find_row(const rh_viscous *a, const int32_t *number, int64_t at, row *r)
{
    int d = (int)(at / a->lane), cells = a->tiles.cells;
    place p = {(int32_t)(at % a->lane / cells), (int)(at % a->lane % cells)};
    r->count = 0;
    add_entry(r, number[at], (double)a->mass[d][at % a->lane]);
    add_stress(a, number, d, p, d, p, r);
    add_stress(a, number, d, step_from(&a->tiles, p, d, -1), d, p, r);
    for (int b = 0; b < a->tiles.dimension; b++) {
        if (b == d) continue;
        add_stress(a, number, rh_shear_of(d, b), p, d, p, r);
        add_stress(a, number, rh_shear_of(d, b), step_from(&a->tiles, p, b, 1), d, p, r);
    }
}

static void sort_row(row *r)
{
    for (int n = 1; n < r->count; n++)
        for (int i = n; i > 0 && r->column[i] < r->column[i - 1]; i--) {
            int32_t column = r->column[i];
            double value = r->value[i];
            r->column[i] = r->column[i - 1], r->value[i] = r->value[i - 1];
            r->column[i - 1] = column, r->value[i - 1] = value;
        }
}

// Numbers in the order of tiles and cells, so that neighbours are near each other.
static void number_unknowns(rh_viscous_mic *m, const rh_viscous *a, int32_t *number)
{
    m->count = 0;
    memset(number, -1, (size_t)rh_viscous_size(a) * sizeof *number);
    for (int64_t c = 0; c < a->lane; c++)
        for (int d = 0; d < a->tiles.dimension; d++) {
            if (a->kind[d][c] != RH_FACE_UNKNOWN) continue;
            m->at[m->count] = d * a->lane + c;
            number[d * a->lane + c] = (int32_t)m->count++;
        }
}

// The upper part of A, and its diagonal in `diagonal`.
static void fill(rh_viscous_mic *m, const rh_viscous *a, const int32_t *number, double *diagonal)
{
    row r;
    m->first[0] = 0;
    for (int64_t i = 0; i < m->count; i++) {
        int64_t end = m->first[i];
        find_row(a, number, m->at[i], &r);
        sort_row(&r);
        for (int n = 0; n < r.count; n++) {
            if (r.column[n] == i) diagonal[i] = r.value[n];
            if (r.column[n] <= i) continue;
            m->column[end] = r.column[n];
            m->entry[end++] = (float)r.value[n];
        }
        m->first[i + 1] = end;
    }
}

static float *find_entry(const rh_viscous_mic *m, int32_t i, int32_t j)
{
    for (int64_t n = m->first[i]; n < m->first[i + 1]; n++)
        if (m->column[n] == j) return &m->entry[n];
    return NULL;
}

static void eliminate(rh_viscous_mic *m, int64_t k, double *diagonal, double original)
{
    if (!(diagonal[k] > SIGMA * original)) diagonal[k] = original, m->replaced++;
    for (int64_t i = m->first[k]; i < m->first[k + 1]; i++) {
        double share = (double)m->entry[i] / diagonal[k];
        diagonal[m->column[i]] -= share * (double)m->entry[i];
        for (int64_t j = i + 1; j < m->first[k + 1]; j++) {
            double change = share * (double)m->entry[j];
            float *entry = find_entry(m, m->column[i], m->column[j]);
            if (entry) *entry -= (float)change;
            else diagonal[m->column[i]] -= TAU * change, diagonal[m->column[j]] -= TAU * change;
        }
    }
    m->inverse[k] = (float)(1 / diagonal[k]);
    for (int64_t i = m->first[k]; i < m->first[k + 1]; i++) m->entry[i] *= m->inverse[k];
}

rh_code rh_viscous_mic_create(rh_viscous_mic *m, const rh_viscous *a, rh_arena *arena, rh_status *status)
{
    size_t count = (size_t)a->unknowns, entries = count * MOST;
    *m = (rh_viscous_mic){0};
    m->at = rh_arena_take(arena, (count + 1) * sizeof *m->at, status);
    m->first = rh_arena_take(arena, (count + 1) * sizeof *m->first, status);
    m->column = rh_arena_take(arena, (entries + 1) * sizeof *m->column, status);
    m->entry = rh_arena_take(arena, (entries + 1) * sizeof *m->entry, status);
    m->inverse = rh_arena_take(arena, (count + 1) * sizeof *m->inverse, status);
    m->scratch = rh_arena_take(arena, (count + 1) * sizeof *m->scratch, status);
    if (!m->at || !m->first || !m->column || !m->entry || !m->inverse || !m->scratch) return RH_MEMORY;
    rh_arena_mark mark = rh_arena_save(arena);
    int32_t *number = rh_arena_take(arena, (size_t)rh_viscous_size(a) * sizeof *number, status);
    double *original = rh_arena_take(arena, (count + 1) * sizeof *original, status);
    if (!number || !original) return RH_MEMORY;
    number_unknowns(m, a, number);
    fill(m, a, number, m->scratch);
    memcpy(original, m->scratch, count * sizeof *original);
    for (int64_t k = 0; k < m->count; k++) eliminate(m, k, m->scratch, original[k]);
    rh_arena_restore(arena, mark);
    return RH_OK;
}

void rh_viscous_mic_apply(void *mic, const float *r, float *z)
{
    const rh_viscous_mic *m = mic;
    double *y = m->scratch;
    for (int64_t k = 0; k < m->count; k++) y[k] = (double)r[m->at[k]];
    for (int64_t k = 0; k < m->count; k++)
        for (int64_t n = m->first[k]; n < m->first[k + 1]; n++) y[m->column[n]] -= (double)m->entry[n] * y[k];
    for (int64_t k = m->count - 1; k >= 0; k--) {
        y[k] *= (double)m->inverse[k];
        for (int64_t n = m->first[k]; n < m->first[k + 1]; n++) y[k] -= (double)m->entry[n] * y[m->column[n]];
        z[m->at[k]] = (float)y[k];
    }
}
