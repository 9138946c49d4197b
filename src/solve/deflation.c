// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// (A Z)^T v is taken as Z^T (A v): a product on the few tiles where the directions live. A Z itself would have to be
// kept apart for every body in cells that two of them reach.
#include "solve/deflation.h"

#include <string.h>

enum { PARTS = RH_TERM_PARTS, SQUARE = PARTS * PARTS };

static void multiply_add(const double *m, const double *x, double *y)
{
    for (int r = 0; r < PARTS; r++)
        for (int c = 0; c < PARTS; c++) y[r] += m[r * PARTS + c] * x[c];
}

// y += sign Z (Z^T A Z)^-1 parts.
static void spread(const rh_deflation *d, double sign, const double *parts, float *y)
{
    double *found = d->z.answer;
    memset(found, 0, (size_t)d->z.blocks * PARTS * sizeof *found);
    for (int b = 0; b < d->z.blocks; b++) multiply_add(d->inverse + b * SQUARE, parts + b * PARTS, found + b * PARTS);
    for (int k = 0; k < d->z.blocks * PARTS; k++) found[k] *= sign;
    rh_term_spread(&d->z, d->a->cells, found, y);
}

void rh_deflation_start(const rh_deflation *d, const float *b, float *x)
{
    rh_term_gather(&d->z, d->a->cells, b, d->parts);
    spread(d, 1, d->parts, x);
}

static void gather_tile(const rh_deflation *d, const rh_term_tile *t, const float *v)
{
    float product[RH_CELLS];  // less than zero
    double(*sums)[PARTS] = d->z.sums + t->block_first;
    rh_poisson_residual_tile(d->a, t->tile, d->zeros, v, product);
    memset(sums, 0, (size_t)t->block_count * sizeof *sums);
    for (int32_t n = t->entry_first; n < t->entry_end; n++) {
        const rh_term_entry *e = &d->z.entries[n];
        for (int k = 0; k < PARTS; k++) sums[e->local][k] -= (double)product[e->cell] * (double)e->row[k];
    }
}

void rh_deflation_gather(const rh_deflation *d, const float *v, double *out)
{
    const rh_term *z = &d->z;
#pragma omp parallel for schedule(static) if (z->tile_count > RH_SHORT)
    for (int32_t n = 0; n < z->tile_count; n++) gather_tile(d, &z->tiles[n], v);
    rh_term_add_up(z, out);
}

// Where rounding has left something of the residual along Z it is answered, too: without that it grew in every step,
// and solves for bodies of a thousandth of the liquid's density turned round at a residual of 1e-6 (the variant A-DEF2
// of J. Tang, R. Nabben, C. Vuik, Y. Erlangga, J. Sci. Comput. 39, 2009).
double rh_deflation_correct(const rh_deflation *d, const float *r, float *z)
{
    int size = d->z.blocks * PARTS;
    double *left = d->left, sum = 0;
    rh_term_gather(&d->z, d->a->cells, r, left);
    rh_deflation_gather(d, z, d->parts);
    rh_term_gather(d->term, d->a->cells, z, d->term->gathered);
    for (int b = 0; b < d->z.blocks; b++)
        multiply_add(d->answer + b * SQUARE, d->term->gathered + b * PARTS, d->parts + b * PARTS);
    for (int k = 0; k < size; k++) d->parts[k] = left[k] - d->parts[k];
    spread(d, 1, d->parts, z);
    for (int k = 0; k < size; k++) sum += left[k] * d->z.answer[k];
    return sum;
}
