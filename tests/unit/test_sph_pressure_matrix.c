// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Other preconditioners of the pressure's system, which the source compares with (T. Takahashi, section 3.6 and figure
// 3.9; docs/sources.md): an incomplete Cholesky factor, which goes from particle to particle, one after the other, and
// over-relaxation, either in the same way or as sweeps of all particles at once, which split among threads. All of them
// take fewer iterations than the diagonal; whether they take less work is counted here in multiplications.
#include <stdlib.h>
#include <time.h>
#include "solve/krylov.h"
#include "sph_support.h"

// Rows with sorted columns, the diagonal apart.
typedef struct matrix {
    int64_t size, links;
    int64_t *first;  // [size + 1]
    int64_t *lower;  // [size] where columns beyond the row begin
    uint32_t *column;
    float *value, *diagonal;
    double products;  // multiplications so far
} matrix;

typedef struct entry {
    uint32_t column;
    float value;
} entry;
static int by_column(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->column < y->column ? -1 : x->column > y->column;
}

// The unknowns of a system; others are rows of the identity without links.
static void open_matrix(matrix *m, const rh_sph_system *s)
{
    int64_t most = 8 * (int64_t)s->list->first[s->size];
    *m = (matrix){.size = s->size,
                  .first = calloc((size_t)s->size + 1, sizeof *m->first),
                  .lower = calloc((size_t)s->size + 1, sizeof *m->lower),
                  .column = calloc((size_t)most + 1, sizeof *m->column),
                  .value = calloc((size_t)most + 1, sizeof *m->value),
                  .diagonal = calloc((size_t)s->size + 1, sizeof *m->diagonal)};
    assert_true(m->first && m->lower && m->column && m->value && m->diagonal);
    for (int64_t i = 0; i < s->size; i++) {
        entry row[512];
        int count = 0;
        for (int64_t n = 8 * (int64_t)s->list->first[i]; n < 8 * (int64_t)s->list->first[i + 1]; n++) {
            uint32_t j = s->list->near[n];
            if (j >= s->size || !s->unknown[i] || !s->unknown[j] || !(s->links[n] > 0)) continue;
            assert_true(count < 512);
            row[count++] = (entry){j, -s->links[n]};
        }
        qsort(row, (size_t)count, sizeof *row, by_column);
        m->first[i] = m->lower[i] = m->links;
        m->diagonal[i] = s->diagonal[i];
        for (int n = 0; n < count; n++, m->links++) {
            m->column[m->links] = row[n].column, m->value[m->links] = row[n].value;
            m->lower[i] += row[n].column < (uint32_t)i;
        }
    }
    m->first[s->size] = m->links;
}

static void close_matrix(matrix *m)
{
    free(m->first), free(m->lower), free(m->column), free(m->value), free(m->diagonal);
}

static void apply(void *user, const float *x, float *y)
{
    matrix *m = user;
    for (int64_t i = 0; i < m->size; i++) {
        float sum = m->diagonal[i] * x[i];
        for (int64_t n = m->first[i]; n < m->first[i + 1]; n++) sum += m->value[n] * x[m->column[n]];
        y[i] = sum;
    }
    m->products += (double)(m->size + m->links);
}

// --- preconditioners -------------------------------------------------------------------------------------------------
typedef struct preconditioner {
    matrix *m;
    matrix factor;  // its lower rows; those of an incomplete Cholesky factor, without fill
    float weight;   // of sweeps
    int sweeps;
    float *left;
} preconditioner;

static void by_diagonal(void *user, const float *r, float *z)
{
    preconditioner *p = user;
    for (int64_t i = 0; i < p->m->size; i++) z[i] = r[i] / p->m->diagonal[i];
    p->m->products += (double)p->m->size;
}

// Sweeps of all at once, from 0. An even number of them is positive only where no eigenvalue of the matrix over its
// diagonal reaches 2 / weight.
static void by_sweeps(void *user, const float *r, float *z)
{
    preconditioner *p = user;
    for (int64_t i = 0; i < p->m->size; i++) z[i] = p->weight * r[i] / p->m->diagonal[i];
    for (int n = 1; n < p->sweeps; n++) {
        apply(p->m, z, p->left);
        for (int64_t i = 0; i < p->m->size; i++) z[i] += p->weight * (r[i] - p->left[i]) / p->m->diagonal[i];
    }
    p->m->products += (double)(2 * p->m->size * p->sweeps);
}

// One after the other, forth and back: (D + w L) D^-1 (D + w L^T) / (w (2 - w)).
static void by_over_relaxation(void *user, const float *r, float *z)
{
    preconditioner *p = user;
    const matrix *m = p->m;
    float w = p->weight;
    for (int64_t i = 0; i < m->size; i++) {
        float sum = r[i];
        for (int64_t n = m->first[i]; n < m->lower[i]; n++) sum -= w * m->value[n] * z[m->column[n]];
        z[i] = sum / m->diagonal[i];
    }
    for (int64_t i = m->size - 1; i >= 0; i--) {
        float sum = 0;
        for (int64_t n = m->lower[i]; n < m->first[i + 1]; n++) sum += m->value[n] * z[m->column[n]];
        z[i] -= w * sum / m->diagonal[i];
    }
    for (int64_t i = 0; i < m->size; i++) z[i] *= w * (2 - w);
    p->m->products += (double)(m->links + 4 * m->size);
}

// The factor's entry in row i and column k without its own products: sum of those to the left of it in both rows.
static double in_both(const matrix *f, int64_t i, int64_t end, int64_t k, double *products)
{
    double sum = 0;
    for (int64_t a = f->first[i], b = f->first[k]; a < end && b < f->lower[k];) {
        if (f->column[a] < f->column[b]) a++;
        else if (f->column[a] > f->column[b]) b++;
        else sum += (double)f->value[a++] * (double)f->value[b++], ++*products;
    }
    return sum;
}

// Incomplete Cholesky without fill, of the lower rows. Pivots below a quarter of the diagonal are the diagonal.
static double decompose(matrix *f)
{
    double products = 0;
    for (int64_t i = 0; i < f->size; i++) {
        double pivot = (double)f->diagonal[i];
        for (int64_t n = f->first[i]; n < f->lower[i]; n++) {
            int64_t k = f->column[n];
            f->value[n] = (float)(((double)f->value[n] - in_both(f, i, n, k, &products)) / (double)f->diagonal[k]);
            pivot -= (double)(f->value[n] * f->value[n]);
            products += 2;
        }
        f->diagonal[i] = sqrtf(pivot < 0.25 * (double)f->diagonal[i] ? f->diagonal[i] : (float)pivot);
    }
    return products;
}

static void by_factor(void *user, const float *r, float *z)
{
    preconditioner *p = user;
    const matrix *f = &p->factor;
    memcpy(z, r, (size_t)f->size * sizeof *z);
    for (int64_t i = 0; i < f->size; i++) {
        for (int64_t n = f->first[i]; n < f->lower[i]; n++) z[i] -= f->value[n] * z[f->column[n]];
        z[i] /= f->diagonal[i];
    }
    for (int64_t i = f->size - 1; i >= 0; i--) {
        z[i] /= f->diagonal[i];
        for (int64_t n = f->first[i]; n < f->lower[i]; n++) z[f->column[n]] -= f->value[n] * z[i];
    }
    p->m->products += (double)(p->m->links + 2 * f->size);
}

// --- solves ----------------------------------------------------------------------------------------------------------
typedef struct solved {
    int iterations;
    double products, seconds;  // multiplications for each entry of the matrix; of the processor
} solved;

static solved solve(bench *b, const rh_sph_system *s, preconditioner *p, void (*by)(void *, const float *, float *))
{
    matrix *m = p->m;
    rh_status status = {0};
    rh_krylov_report report;
    float *r = calloc((size_t)m->size + 8, sizeof *r), *x = calloc((size_t)m->size + 8, sizeof *x);
    assert_true(r && x);
    memcpy(r, s->source, (size_t)m->size * sizeof *r);
    m->products = 0;
    clock_t begun = clock();
    if (by == by_factor) m->products += decompose(&p->factor);
    const rh_krylov k = {.a = {m->size, apply, m}, .m = {m->size, by, p}};
    assert_int_equal(rh_krylov_cg(&k, r, x, 1e-4, 3000, &b->arena, &report, &status), RH_OK);
    assert_true(report.converged);
    double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    m->products += (double)(6 * m->size * report.iterations);  // sums of vectors
    free(r), free(x);
    return (solved){report.iterations, m->products / (double)(m->links + m->size), seconds};
}

static const rh_sph_solve_options chapter_3 = {.wall_term = RH_SPH_MIRRORED, .surface = RH_SPH_SPARSE};

// A tank 40 % full, 0.1 off the lattice, with a random source.
static void other_preconditioners(void **state)
{
    (void)state;
    static const char *const names[] = {"diagonal", "incomplete Cholesky", "over-relaxation", "two sweeps at once",
                                        "three sweeps at once"};
    bool all = getenv("RHEO_LONG") != NULL;
    const int sizes[][2] = {{2, 64}, {3, 24}, {2, 256}, {3, 64}};
    for (int n = 0; n < (all ? 4 : 2); n++) {
        bench b;
        rh_sph_system s;
        rh_status status = {0};
        matrix m;
        solved found[5];
        open_tank(&b, sizes[n][0], sizes[n][1]);
        assert_int_equal(rh_sph_system_make(&s, &b.fluid, &chapter_3, &b.arena, &status), RH_OK);
        open_matrix(&m, &s);
        preconditioner p = {.m = &m, .left = calloc((size_t)m.size + 8, sizeof(float))};
        assert_non_null(p.left);
        open_matrix(&p.factor, &s);
        print_message("%dD, %lld unknowns, %.1f links each\n", sizes[n][0], (long long)s.unknowns,
                      (double)m.links / (double)s.unknowns);
        for (int k = 0; k < 5; k++) {
            p.weight = k == 2 ? 1.5f : 1;
            p.sweeps = k - 1;
            found[k] = solve(&b, &s, &p,
                             k == 0   ? by_diagonal
                             : k == 1 ? by_factor
                             : k == 2 ? by_over_relaxation
                                      : by_sweeps);
            print_message("  %-20s %4d iterations, %6.0f products, %.3g s\n", names[k], found[k].iterations,
                          found[k].products, found[k].seconds);
            if (k > 0) assert_true(found[k].iterations < found[0].iterations);
        }
        assert_true(found[1].products < found[0].products && found[4].products > found[0].products);
        close_matrix(&m);
        close_matrix(&p.factor);
        free(p.left);
        close_bench(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_preconditioners)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
