// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Conjugate gradients on operators of every kind: dense matrices against elimination, three unknowns a cell with a
// preconditioner of blocks, six unknowns a body, and the graph of particles and their neighbours, which has a null
// space.
#include "support.h"
#include "points/adjacency.h"
#include "solve/krylov.h"

// --- dense matrices --------------------------------------------------------------------------------------------------
enum { MOST = 40 };
typedef struct dense {
    int size;
    double a[MOST][MOST];
} dense;

static void apply_dense(void *user, const float *x, float *y)
{
    const dense *m = user;
    for (int i = 0; i < m->size; i++) {
        double sum = 0;
        for (int j = 0; j < m->size; j++) sum += m->a[i][j] * (double)x[j];
        y[i] = (float)sum;
    }
}

static void apply_diagonal(void *user, const float *x, float *y)
{
    const dense *m = user;
    for (int i = 0; i < m->size; i++) y[i] = x[i] / (float)m->a[i][i];
}

// A = B^T B + a diagonal whose entries differ by a factor of up to a thousand.
static void make_dense(dense *m, int size)
{
    m->size = size;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            m->a[i][j] = i == j ? pow(10, 3.0 * i / size) : 0;
            for (int k = 0; k < size; k++)
                m->a[i][j] += 0.3 * (double)support_random((uint64_t)(k * MOST + i), 1) *
                              (double)support_random((uint64_t)(k * MOST + j), 1);
        }
}

static void eliminate(const dense *m, const float *b, double *x)
{
    static double a[MOST][MOST + 1];
    for (int i = 0; i < m->size; i++) {
        for (int j = 0; j < m->size; j++) a[i][j] = m->a[i][j];
        a[i][m->size] = (double)b[i];
    }
    for (int k = 0; k < m->size; k++)
        for (int i = 0; i < m->size; i++) {
            if (i == k) continue;
            double factor = a[i][k] / a[k][k];
            for (int j = k; j <= m->size; j++) a[i][j] -= factor * a[k][j];
        }
    for (int i = 0; i < m->size; i++) x[i] = a[i][m->size] / a[i][i];
}

static void dense_matrices_are_solved(void **state)
{
    (void)state;
    static dense m;
    rh_arena arena;
    rh_arena_init(&arena, "test");
    for (int size = 1; size <= MOST; size += 13) {
        int iterations[2];
        make_dense(&m, size);
        for (int with = 0; with < 2; with++) {
            rh_status status = {0};
            rh_krylov_report report;
            float b[MOST], x[MOST];
            double expected[MOST], scale = 0;
            for (int i = 0; i < size; i++) b[i] = support_random((uint64_t)i, 2), x[i] = support_random((uint64_t)i, 3);
            eliminate(&m, b, expected);
            rh_krylov system = {.a = {size, apply_dense, &m}};
            if (with) system.m = (rh_operator){size, apply_diagonal, &m};
            assert_ok(rh_krylov_cg(&system, b, x, 1e-6, 500, &arena, &report, &status));
            assert_true(report.converged && report.residual <= 1e-6);
            iterations[with] = report.iterations;
            for (int i = 0; i < size; i++) scale = fmax(scale, fabs(expected[i]));
            for (int i = 0; i < size; i++) assert_near((double)x[i], expected[i], 1e-5 * scale);
        }
        assert_true(size < 14 || iterations[1] < iterations[0]);
    }
    rh_arena_free(&arena);
}

static void what_cannot_be_solved_is_told(void **state)
{
    (void)state;
    static dense m;
    rh_status status = {0};
    rh_krylov_report report;
    rh_arena arena;
    rh_arena_init(&arena, "test");
    make_dense(&m, 40);
    const rh_krylov system = {.a = {40, apply_dense, &m}};
    float b[40] = {[3] = 1}, x[40] = {0};
    assert_ok(rh_krylov_cg(&system, b, x, 1e-6, 2, &arena, &report, &status));
    assert_true(!report.converged && report.iterations == 2 && report.residual > 1e-6);
    memset(b, 0, sizeof b);
    assert_ok(rh_krylov_cg(&system, b, x, 1e-6, 500, &arena, &report, &status));  // from a guess: no b, no x
    assert_true(report.converged && report.iterations == 0 && x[3] == 0);
    b[7] = NAN;
    assert_int_equal(rh_krylov_cg(&system, b, x, 1e-6, 500, &arena, &report, &status), RH_NUMERIC);
    assert_int_equal(arena.used_total, 0);
    rh_arena_free(&arena);
}

// --- three unknowns a cell -------------------------------------------------------------------------------------------
// A row of cells with a stiff block each, tied to both neighbours; many blocks of the sums.
enum { CELLS = 9001, EACH = 3 };
static const float BLOCK[3][3] = {{9, 4, 1}, {4, 7, 2}, {1, 2, 5}};

static void apply_blocks(void *user, const float *x, float *y)
{
    const float *stiff = user;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < CELLS; c++)
        for (int i = 0; i < EACH; i++) {
            float sum = 0;
            for (int j = 0; j < EACH; j++) sum += stiff[c] * BLOCK[i][j] * x[EACH * c + j];
            sum += 2 * x[EACH * c + i];
            if (c > 0) sum -= x[EACH * (c - 1) + i];
            if (c + 1 < CELLS) sum -= x[EACH * (c + 1) + i];
            y[EACH * c + i] = sum;
        }
}

// The inverse of each cell's own block, by Cramer's rule.
static void apply_inverse_blocks(void *user, const float *x, float *y)
{
    const float *stiff = user;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < CELLS; c++) {
        double m[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) m[i][j] = (double)(stiff[c] * BLOCK[i][j]) + (i == j ? 2 : 0);
        double determinant = 0, inverse[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                int a = (j + 1) % 3, b = (j + 2) % 3, u = (i + 1) % 3, v = (i + 2) % 3;
                inverse[i][j] = m[a][u] * m[b][v] - m[a][v] * m[b][u];
            }
        for (int i = 0; i < 3; i++) determinant += m[0][i] * inverse[i][0];
        for (int i = 0; i < 3; i++) {
            double sum = 0;
            for (int j = 0; j < 3; j++) sum += inverse[i][j] / determinant * (double)x[EACH * c + j];
            y[EACH * c + i] = (float)sum;
        }
    }
}

static void blocks_are_solved_alike_by_any_threads(void **state)
{
    (void)state;
    enum { SIZE = CELLS * EACH };
    rh_arena arena;
    rh_arena_init(&arena, "test");
    float *stiff = test_malloc(CELLS * sizeof *stiff), *x[3], *b = test_malloc(SIZE * sizeof *b),
          *right = test_malloc(SIZE * sizeof *b), *product = test_malloc(SIZE * sizeof *b);
    int iterations[3];
    for (uint64_t c = 0; c < CELLS; c++) stiff[c] = 1 + 300 * rh_random(3, c, 0, 0);
    for (uint64_t i = 0; i < SIZE; i++) right[i] = support_random(i, 4);
    for (int run = 0; run < 3; run++) {  // one thread, three threads, without the preconditioner
        rh_status status = {0};
        rh_krylov_report report;
        rh_krylov system = {.a = {SIZE, apply_blocks, stiff}};
        if (run < 2) system.m = (rh_operator){SIZE, apply_inverse_blocks, stiff};
        x[run] = test_calloc(SIZE, sizeof(float));
        memcpy(b, right, SIZE * sizeof *b);
        rh_threads_set(run == 1 ? 3 : 1);
        assert_ok(rh_krylov_cg(&system, b, x[run], 1e-6, 2000, &arena, &report, &status));
        assert_true(report.converged);
        iterations[run] = report.iterations;
        apply_blocks(stiff, x[run], product);
        double left = 0, all = 0;
        for (int i = 0; i < SIZE; i++) {
            left += pow((double)right[i] - (double)product[i], 2);
            all += pow((double)right[i], 2);
        }
        assert_true(sqrt(left / all) < 3e-6);  // the true residual, not only that of the recursion
    }
    rh_threads_set(0);
    assert_memory_equal(x[0], x[1], SIZE * sizeof(float));
    assert_int_equal(iterations[0], iterations[1]);
    assert_true(iterations[0] < iterations[2] / 3);
    for (int run = 0; run < 3; run++) test_free(x[run]);
    test_free(stiff);
    test_free(b);
    test_free(right);
    test_free(product);
    rh_arena_free(&arena);
}

// --- particles -------------------------------------------------------------------------------------------------------
// The Laplacian of the graph: y_i = sum over neighbours of w (x_i - x_j), w = 1 - d^2 / r^2. Constants are its null
// space.
typedef struct graph {
    rh_neighbours n;
    rh_adjacency list;
    float radius;
} graph;

static void apply_graph(void *user, const float *x, float *y)
{
    const graph *g = user;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < g->list.count; i++) {
        float sum = 0;
        for (uint64_t k = g->list.first[i]; k < g->list.first[i + 1]; k++) {
            uint32_t j = g->list.near[k];
            rh_vec3 d = {g->n.x[j] - g->n.x[i], g->n.y[j] - g->n.y[i], g->n.z[j] - g->n.z[i]};
            sum += rh_max_of(0, 1 - rh_v3_dot(d, d) / (g->radius * g->radius)) * (x[i] - x[j]);
        }
        y[i] = sum;
    }
}

static void take_mean_out(void *user, float *v)
{
    const graph *g = user;
    double mean = 0;
    for (int64_t i = 0; i < g->list.count; i++) mean += (double)v[i];
    mean /= (double)g->list.count;
    for (int64_t i = 0; i < g->list.count; i++) v[i] -= (float)mean;
}

static void particles_are_solved(void **state)
{
    (void)state;
    enum { POINTS = 6000 };
    rh_status status = {0};
    rh_arena arena;
    rh_arena_init(&arena, "test");
    graph g = {.radius = 0.2f};
    rh_vec3 *p = test_malloc(POINTS * sizeof *p);
    float *b = test_malloc(POINTS * sizeof *b), *x[2], *truth = test_malloc(POINTS * sizeof *truth);
    for (uint64_t i = 0; i < POINTS; i++) p[i] = rh_v3(support_random(i, 0), support_random(i, 1), 0);
    const rh_neighbours_input input = {
        .dimension = 2, .positions = p, .count = POINTS, .cell = rh_neighbours_cell((double)g.radius)};
    assert_ok(rh_neighbours_build(&g.n, &input, &arena, &status));
    assert_ok(rh_adjacency_build(&g.list, &g.n, (double)g.radius, &status));
    for (int64_t i = 0; i < POINTS; i++) truth[i] = sinf(3 * g.n.x[i]) + g.n.y[i] * g.n.y[i];
    take_mean_out(&g, truth);
    for (int run = 0; run < 2; run++) {
        rh_krylov_report report;
        const rh_krylov system = {.a = {POINTS, apply_graph, &g}, .project = take_mean_out, .user = &g};
        x[run] = test_calloc(POINTS, sizeof(float));
        rh_threads_set(run == 0 ? 1 : 3);
        apply_graph(&g, truth, b);
        for (int64_t i = 0; i < POINTS; i++) b[i] += 0.5f;  // which no x could make: it is taken out
        assert_ok(rh_krylov_cg(&system, b, x[run], 1e-6, 1000, &arena, &report, &status));
        assert_true(report.converged);
        take_mean_out(&g, x[run]);
        for (int64_t i = 0; i < POINTS; i++)
            if (!(fabs((double)x[run][i] - (double)truth[i]) < 1e-3)) fail_msg("point %lld", (long long)i);
    }
    rh_threads_set(0);
    assert_memory_equal(x[0], x[1], POINTS * sizeof(float));
    rh_neighbours_free(&g.n);
    rh_adjacency_free(&g.list);
    rh_arena_free(&arena);
    for (int run = 0; run < 2; run++) test_free(x[run]);
    test_free(p);
    test_free(b);
    test_free(truth);
}

// --- six unknowns a body ---------------------------------------------------------------------------------------------
// Rigid bodies in a row, each with three velocities and three angular velocities, joined by stiff dampers: what
// floating bodies and rigid sand are solved as. Each joint resists the relative velocity of the two bodies at its
// place, by another strength along each axis; masses and moments of inertia differ by five orders of magnitude.
enum { BODIES = 200, DOF = 6 };

typedef struct joint {
    double arm[2][3];  // m: from the centre of each of the two bodies
    double strength[3];
} joint;

typedef struct bodies {
    double mass[BODIES][DOF];  // mass three times, then the moments of inertia
    joint joints[BODIES - 1];  // of body n and n + 1
    double inverse[BODIES][DOF][DOF];
} bodies;

// Row a of what makes the velocity at `arm` of a body's unknowns: v + w x arm.
static void arm_row(const double *arm, int a, double row[DOF])
{
    const double turn[3][3] = {{0, arm[2], -arm[1]}, {-arm[2], 0, arm[0]}, {arm[1], -arm[0], 0}};
    for (int k = 0; k < 3; k++) row[k] = k == a, row[3 + k] = turn[a][k];
}

static void apply_bodies(void *user, const float *x, float *y)
{
    const bodies *b = user;
    for (int n = 0; n < BODIES; n++) {  // gathered: each body sums over its own joints, in their order
        double sum[DOF];
        for (int k = 0; k < DOF; k++) sum[k] = b->mass[n][k] * (double)x[DOF * n + k];
        for (int j = n - 1; j <= n; j++) {
            if (j < 0 || j >= BODIES - 1) continue;
            const joint *one = &b->joints[j];
            for (int a = 0; a < 3; a++) {
                double rows[2][DOF], relative = 0;
                for (int side = 0; side < 2; side++) {
                    arm_row(one->arm[side], a, rows[side]);
                    for (int k = 0; k < DOF; k++)
                        relative += (side ? -1 : 1) * rows[side][k] * (double)x[DOF * (j + side) + k];
                }
                int own = n - j;
                for (int k = 0; k < DOF; k++) sum[k] += (own ? -1 : 1) * rows[own][k] * one->strength[a] * relative;
            }
        }
        for (int k = 0; k < DOF; k++) y[DOF * n + k] = (float)sum[k];
    }
}

static void apply_inverse_bodies(void *user, const float *x, float *y)
{
    const bodies *b = user;
    for (int n = 0; n < BODIES; n++)
        for (int i = 0; i < DOF; i++) {
            double sum = 0;
            for (int k = 0; k < DOF; k++) sum += b->inverse[n][i][k] * (double)x[DOF * n + k];
            y[DOF * n + i] = (float)sum;
        }
}

// The inverse of a body's own 6 x 6 block, column by column.
static void invert_body(bodies *b, int n)
{
    dense m = {.size = DOF};
    for (int i = 0; i < DOF; i++) m.a[i][i] = b->mass[n][i];
    for (int j = n - 1; j <= n; j++)
        for (int a = 0; a < 3 && j >= 0 && j < BODIES - 1; a++) {
            double row[DOF];
            arm_row(b->joints[j].arm[n - j], a, row);
            for (int i = 0; i < DOF; i++)
                for (int k = 0; k < DOF; k++) m.a[i][k] += b->joints[j].strength[a] * row[i] * row[k];
        }
    for (int k = 0; k < DOF; k++) {
        float unit[DOF] = {0};
        double column[DOF];
        unit[k] = 1;
        eliminate(&m, unit, column);
        for (int i = 0; i < DOF; i++) b->inverse[n][i][k] = column[i];
    }
}

static void bodies_are_solved(void **state)
{
    (void)state;
    static bodies b;
    static float exact[DOF * BODIES], right[DOF * BODIES], x[DOF * BODIES];
    rh_arena arena;
    rh_krylov_report report;
    int iterations[2];
    rh_arena_init(&arena, "test");
    for (int n = 0; n < BODIES; n++)
        for (int k = 0; k < DOF; k++)
            b.mass[n][k] = pow(10, 5 * (0.5 + 0.5 * (double)support_random((uint64_t)(n * 2 + k / 3), 2)) - 3) *
                           (1 + k % 3);
    for (int j = 0; j < BODIES - 1; j++)
        for (int a = 0; a < 3; a++) {
            b.joints[j].strength[a] = pow(10, (double)support_random((uint64_t)(3 * j + a), 3));
            for (int side = 0; side < 2; side++)
                b.joints[j].arm[side][a] = 0.5 * (double)support_random((uint64_t)(6 * j + 3 * side + a), 4);
        }
    for (int n = 0; n < BODIES; n++) invert_body(&b, n);
    for (int i = 0; i < DOF * BODIES; i++) exact[i] = support_random((uint64_t)i, 5);
    for (int blocks = 0; blocks < 2; blocks++) {
        const rh_krylov system = {.a = {DOF * BODIES, apply_bodies, &b},
                                  .m = {DOF * BODIES, blocks ? apply_inverse_bodies : NULL, &b}};
        apply_bodies(&b, exact, right);
        memset(x, 0, sizeof x);
        assert_int_equal(rh_krylov_cg(&system, right, x, 1e-6, 20000, &arena, &report, NULL), RH_OK);
        assert_true(report.converged);
        iterations[blocks] = report.iterations;
        // What is left, in the system's own terms: light bodies may be wrong where nobody feels it.
        static float error[DOF * BODIES], product[DOF * BODIES];
        double wrong = 0, all = 0;
        for (int i = 0; i < DOF * BODIES; i++) error[i] = x[i] - exact[i];
        apply_bodies(&b, error, product);
        for (int i = 0; i < DOF * BODIES; i++) wrong += (double)error[i] * (double)product[i];
        apply_bodies(&b, exact, product);
        for (int i = 0; i < DOF * BODIES; i++) all += (double)exact[i] * (double)product[i];
        assert_true(sqrt(wrong / all) < 2e-4);
    }
    print_message("%d bodies of six unknowns: %d iterations, %d with the bodies' own blocks\n", BODIES, iterations[0],
                  iterations[1]);
    assert_true(3 * iterations[1] < iterations[0]);
    rh_arena_free(&arena);
}

typedef struct bounded {
    dense m;
    double most, bound;
} bounded;

static void apply_bounded(void *user, const float *x, float *y) { apply_dense(&((bounded *)user)->m, x, y); }
static bool is_near(void *user, const float *x, double error)
{
    (void)x;
    ((bounded *)user)->bound = error;
    return error <= ((bounded *)user)->most;
}

// All eigenvalues are 1 or more. Of the solution whose error the bound calls small enough, the error in the norm of A
// is no larger, by elimination, and it is not a tenth of that.
static void a_solve_ends_by_its_error(void **state)
{
    (void)state;
    static bounded s;
    for (int n = 1; n <= 4; n++) {
        float b[MOST], x[MOST] = {0}, r[MOST];
        double exact[MOST], square = 0;
        rh_arena arena;
        rh_status status = {0};
        rh_krylov_report report;
        rh_arena_init(&arena, "test");
        make_dense(&s.m, MOST);
        for (int i = 0; i < MOST; i++) b[i] = support_random((uint64_t)i, 2);
        s.most = pow(10, -n);
        eliminate(&s.m, b, exact);
        memcpy(r, b, sizeof r);
        const rh_krylov k = {.a = {MOST, apply_bounded, &s}, .least = 1, .near = is_near, .user = &s};
        assert_int_equal(rh_krylov_cg(&k, r, x, 0, 1000, &arena, &report, &status), RH_OK);
        assert_true(report.converged);
        for (int i = 0; i < MOST; i++)
            for (int j = 0; j < MOST; j++)
                square += s.m.a[i][j] * ((double)x[i] - exact[i]) * ((double)x[j] - exact[j]);
        print_message("bound %.3g, error %.3g, after %d iterations\n", s.bound, sqrt(square), report.iterations);
        assert_true(report.error <= s.most && sqrt(square) <= 1.01 * report.error);
        assert_true(sqrt(square) > 0.1 * report.error);
        rh_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_matrices_are_solved),     cmocka_unit_test(a_solve_ends_by_its_error),
        cmocka_unit_test(what_cannot_be_solved_is_told), cmocka_unit_test(blocks_are_solved_alike_by_any_threads),
        cmocka_unit_test(particles_are_solved),          cmocka_unit_test(bodies_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
