// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A product with J C J^T: each tile gathers its part of J^T x by itself, the parts are added in the order of tiles, the
// blocks answer with C, and each tile spreads its part of J again.
#include "solve/term.h"

#include <math.h>
#include <string.h>

void rh_term_gather_tile(const rh_term *term, const rh_term_tile *t, int cells, const float *x)
{
    const float *here = x + (int64_t)t->tile * cells;
    double(*sums)[RH_TERM_PARTS] = term->sums + t->block_first;
    memset(sums, 0, (size_t)t->block_count * sizeof *sums);
    // Cells that follow each other are mostly beside the same body: its sums stay in registers as long.
    for (int32_t n = t->entry_first; n < t->entry_end;) {
        int local = term->entries[n].local;
        rh_six sum = rh_six_load(sums[local]);
        for (; n < t->entry_end && term->entries[n].local == local; n++) {
            const rh_term_entry *e = &term->entries[n];
            sum = rh_six_add(sum, rh_six_scale(rh_six_widen(e->row), (double)here[e->cell]));
        }
        rh_six_store(sums[local], sum);
    }
}

void rh_term_add_up(const rh_term *term, double *out)
{
    memset(out, 0, (size_t)term->blocks * RH_TERM_PARTS * sizeof *out);
    for (int32_t n = 0; n < term->tile_count; n++) {
        const rh_term_tile *t = &term->tiles[n];
        for (int32_t b = t->block_first; b < t->block_first + t->block_count; b++)
            for (int k = 0; k < RH_TERM_PARTS; k++) out[term->block[b] * RH_TERM_PARTS + k] += term->sums[b][k];
    }
}

void rh_term_gather(const rh_term *term, int cells, const float *x, double *out)
{
#pragma omp parallel for schedule(static) if (term->tile_count > RH_SHORT)
    for (int32_t n = 0; n < term->tile_count; n++) rh_term_gather_tile(term, &term->tiles[n], cells, x);
    rh_term_add_up(term, out);
}

void rh_term_spread(const rh_term *term, int cells, const double *parts, float *y)
{
#pragma omp parallel for schedule(static) if (term->tile_count > RH_SHORT)
    for (int32_t n = 0; n < term->tile_count; n++) {
        const rh_term_tile *t = &term->tiles[n];
        float *here = y + (int64_t)t->tile * cells;
        for (int32_t i = t->entry_first; i < t->entry_end; i++) {
            const rh_term_entry *e = &term->entries[i];
            here[e->cell] += (float)rh_term_along(e->row,
                                                  parts + term->block[t->block_first + e->local] * RH_TERM_PARTS);
        }
    }
}

double rh_term_apply(const rh_term *term, int cells, const float *x, float *y)
{
    if (!term || term->blocks == 0) return 0;
    double sum = 0;
    rh_term_gather(term, cells, x, term->gathered);
    term->respond(term->user, term->gathered, term->answer);
    for (int k = 0; k < term->blocks * RH_TERM_PARTS; k++) {
        term->answer[k] *= term->scale;
        sum += term->gathered[k] * term->answer[k];
    }
    rh_term_spread(term, cells, term->answer, y);
    return sum;
}

// The eigenvalues of scale J C J^T are those of scale C J^T J; of one body no more than its trace. Two bodies that
// share all their cells make twice as much.
double rh_term_norm(const rh_term *term)
{
    if (!term || term->blocks == 0) return 0;
    size_t size = (size_t)term->blocks * RH_TERM_PARTS * sizeof(double);
    double most = 0;
    memset(term->traces, 0, (size_t)term->blocks * sizeof(double));
    for (int part = 0; part < RH_TERM_PARTS; part++) {
        memset(term->gathered, 0, size);
        for (int32_t n = 0; n < term->tile_count; n++) {
            const rh_term_tile *t = &term->tiles[n];
            for (int32_t i = t->entry_first; i < t->entry_end; i++) {
                const rh_term_entry *e = &term->entries[i];
                double *sum = term->gathered + term->block[t->block_first + e->local] * RH_TERM_PARTS;
                for (int k = 0; k < RH_TERM_PARTS; k++) sum[k] += (double)(e->row[part] * e->row[k]);
            }
        }
        term->respond(term->user, term->gathered, term->answer);
        for (int b = 0; b < term->blocks; b++) term->traces[b] += term->answer[b * RH_TERM_PARTS + part];
    }
    for (int b = 0; b < term->blocks; b++) most = fmax(most, term->traces[b]);
    return 2 * term->scale * most;
}
