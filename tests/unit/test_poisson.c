// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The operator against brute force, its symmetry, conjugate gradients on made-up problems, and the projection on three
// whose answer is known: still water under gravity, a sealed box, and a box that two bodies share.
#include "support.h"
#include "physics/pressure.h"

// --- the operator ----------------------------------------------------------------------------------------------------
typedef struct problem {
    cloud c;
    rh_poisson a;
    rh_multigrid m;
    rh_pockets pockets;
    float *x, *y;
} problem;

static int64_t problem_value(const problem *p, const int at[3])
{
    for (int32_t n = 0; n < p->a.count; n++) {
        rh_tile t = p->a.at[n];
        if (t.x == at[0] >> 3 && t.y == at[1] >> 3 && t.z == at[2] >> 3)
            return (int64_t)n * p->a.cells + (at[0] & 7) + 8 * (at[1] & 7) +
                   (p->a.dimension == 3 ? 64 * (at[2] & 7) : 0);
    }
    return -1;
}

static void problem_cell(const problem *p, int64_t v, int at[3])
{
    rh_tile t = p->a.at[v / p->a.cells];
    int c = (int)(v % p->a.cells);
    at[0] = 8 * t.x + (c & 7), at[1] = 8 * t.y + (c >> 3 & 7), at[2] = 8 * t.z + (c >> 6);
}

static bool is_unknown(const problem *p, int64_t v) { return p->a.unknown[v >> 3] >> (v & 7) & 1; }
static float *diagonal_of(const problem *p, int64_t v)
{
    return rh_poisson_block(&p->a, (int32_t)(v / p->a.cells)) + v % p->a.cells;
}
static float *link_of(const problem *p, int axis, int64_t v) { return diagonal_of(p, v) + (axis + 1) * p->a.cells; }
static int64_t values_of(const problem *p) { return (int64_t)p->a.count * p->a.cells; }

static void list_tiles(problem *p)
{
    static const int step[3] = {1, 3, 9};
    const rh_tiles *tiles = &p->c.tiles;
    for (int32_t n = 0; n < p->a.count; n++) {
        p->a.at[n] = tiles->at[n];
        p->a.block[n] = -1;
        for (int s = 0; s < 6; s++) {
            int32_t other = s / 2 < tiles->dimension ? tiles->near[n][RH_HERE + (s & 1 ? step[s / 2] : -step[s / 2])]
                                                     : -1;
            p->a.near[n][s] = other < 0 ? p->a.count : other;
        }
    }
}

// Random unknowns with random links between neighbours and a little more on the diagonal.
static void problem_make(problem *p, int dimension, float extra)
{
    rh_status status = {0};
    cloud_random(&p->c, dimension, 0.1, 40, rh_v3(0, 0, 0), rh_v3(1.5f, 1, 1), 4);
    rh_arena *arena = &p->c.arena;
    assert_ok(rh_poisson_init(&p->a, dimension, p->c.tiles.count, arena, &status));
    list_tiles(p);
    assert_ok(rh_poisson_take_blocks(&p->a, arena, &status));
    int64_t values = values_of(p);
    memset(p->a.unknown, 0, (size_t)values / 8);
    for (int64_t v = 0; v < values; v++) {
        bool unknown = support_random((uint64_t)v, 40) < 0.7f;
        p->a.unknown[v >> 3] |= (uint8_t)(unknown << (v & 7));
        *diagonal_of(p, v) = unknown ? extra : 1;
        for (int axis = 0; axis < dimension; axis++) *link_of(p, axis, v) = 0;
    }
    for (int64_t v = 0; v < values; v++)
        for (int axis = 0; axis < dimension && is_unknown(p, v); axis++) {
            int at[3];
            problem_cell(p, v, at);
            at[axis]--;
            int64_t below = problem_value(p, at);
            if (below < 0 || !is_unknown(p, below)) continue;
            float link = 0.1f + fabsf(support_random((uint64_t)v, 41 + (uint32_t)axis));
            *link_of(p, axis, v) = link;
            *diagonal_of(p, v) += link;
            *diagonal_of(p, below) += link;
        }
    assert_ok(rh_poisson_count(&p->a, arena, &status));
    assert_ok(rh_multigrid_create(&p->m, &p->a, arena, &status));
    assert_ok(rh_pockets_find(&p->pockets, &p->a, arena, &status));
    p->x = rh_poisson_vector(&p->a, arena, &status);
    p->y = rh_poisson_vector(&p->a, arena, &status);
    for (int64_t v = 0; v < values; v++) {
        if (!is_unknown(p, v)) continue;
        p->x[v] = support_random((uint64_t)v, 50);
        p->y[v] = support_random((uint64_t)v, 51);
    }
}

static double brute_force(const problem *p, const float *x, int64_t v)
{
    double sum = (double)*diagonal_of(p, v) * (double)x[v];
    for (int axis = 0; axis < p->a.dimension; axis++) {
        int at[3];
        problem_cell(p, v, at);
        at[axis]--;
        int64_t below = problem_value(p, at);
        at[axis] += 2;
        int64_t above = problem_value(p, at);
        if (below >= 0) sum -= (double)*link_of(p, axis, v) * (double)x[below];
        if (above >= 0) sum -= (double)*link_of(p, axis, above) * (double)x[above];
    }
    return sum;
}

static double dot(const problem *p, const float *x, const float *y)
{
    double sum = 0;
    for (int64_t v = 0; v < values_of(p); v++) sum += (double)x[v] * (double)y[v];
    return sum;
}

static void operator_matches_brute_force(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        problem p;
        problem_make(&p, dimension, 0.5f);
        int64_t values = values_of(&p), unknowns = 0;
        float *ax = rh_poisson_vector(&p.a, &p.c.arena, NULL), *ay = rh_poisson_vector(&p.a, &p.c.arena, NULL),
              *z = rh_poisson_vector(&p.a, &p.c.arena, NULL);
        double *sums = rh_arena_take_zero(&p.c.arena, (size_t)(p.a.count + 1) * sizeof(double), NULL);
        rh_poisson_apply(&p.a, p.x, ax, sums);
        rh_poisson_apply(&p.a, p.y, ay, NULL);
        double scale = dot(&p, p.x, p.x);
        assert_near(rh_sum(sums, p.a.count), dot(&p, p.x, ax), 1e-6 * scale);
        rh_poisson_smooth(&p.a, 0.7f, p.y, p.x, z, sums);
        assert_near(rh_sum(sums, p.a.count), dot(&p, p.y, z), 1e-6 * scale);
        for (int64_t v = 0; v < values; v++) {
            unknowns += is_unknown(&p, v);
            if (is_unknown(&p, v)) {
                double exact = brute_force(&p, p.x, v);
                assert_near((double)ax[v], exact, 1e-5);
                assert_near((double)z[v], (double)p.x[v] + 0.7 * ((double)p.y[v] - exact) / (double)*diagonal_of(&p, v),
                            1e-5);
            } else assert_true(ax[v] == 0 && z[v] == 0);
        }
        assert_int_equal(unknowns, p.a.unknowns);
        assert_near(dot(&p, p.y, ax), dot(&p, p.x, ay), 1e-6 * scale);  // symmetric
        assert_true(dot(&p, p.x, ax) > 0);
        cloud_free(&p.c);
    }
}

// z = M r
static void cycle(problem *p, const float *r, float *z)
{
    size_t bytes = rh_poisson_values(&p->a) * sizeof(float);
    float *x = rh_poisson_vector(&p->a, &p->c.arena, NULL), *scratch = rh_poisson_vector(&p->a, &p->c.arena, NULL);
    rh_poisson_smooth_zero(&p->a, rh_multigrid_first_weight(), r, x);
    memcpy(z, rh_multigrid_cycle(&p->m, r, x, scratch, NULL), bytes);
}

static void preconditioner_is_symmetric(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        problem p;
        problem_make(&p, dimension, 0.1f);
        assert_true(p.m.count > 2);
        float *mx = rh_poisson_vector(&p.a, &p.c.arena, NULL), *my = rh_poisson_vector(&p.a, &p.c.arena, NULL);
        cycle(&p, p.x, mx);
        cycle(&p, p.y, my);
        assert_near(dot(&p, p.y, mx), dot(&p, p.x, my), 1e-5 * dot(&p, p.x, mx));
        assert_true(dot(&p, p.x, mx) > 0);
        for (int64_t v = 0; v < values_of(&p); v++)
            if (!is_unknown(&p, v)) assert_true(mx[v] == 0);
        cloud_free(&p.c);
    }
}

static void solve(problem *p, double tolerance, int most, float *b, float *found, rh_cg_report *report,
                  rh_code expected)
{
    rh_status status = {0};
    assert_int_equal(rh_cg_solve(&p->m, NULL, &p->pockets, b, found, tolerance, most, &p->c.arena, report, &status),
                     expected);
}

static void made_up_problems_are_solved(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        problem p;
        problem_make(&p, dimension, 0.05f);
        assert_int_equal(p.pockets.count, 0);
        float *b = rh_poisson_vector(&p.a, &p.c.arena, NULL), *found = rh_poisson_vector(&p.a, &p.c.arena, NULL);
        float *back = rh_poisson_vector(&p.a, &p.c.arena, NULL), *rhs = rh_poisson_vector(&p.a, &p.c.arena, NULL);
        rh_poisson_apply(&p.a, p.x, b, NULL);
        memcpy(rhs, b, rh_poisson_values(&p.a) * sizeof(float));
        rh_cg_report report;
        solve(&p, 1e-6, 1000, b, found, &report, RH_OK);
        assert_true(report.converged && report.residual <= 1e-6 && report.iterations > 3);
        rh_poisson_apply(&p.a, found, back, NULL);
        double error = 0, residual = 0;
        for (int64_t v = 0; v < values_of(&p); v++) {
            error += pow((double)found[v] - (double)p.x[v], 2);
            residual += pow((double)back[v] - (double)rhs[v], 2);
        }
        // The true residual, not that of the recursion; float storage costs a little.
        assert_true(sqrt(residual) < 1e-5 * sqrt(dot(&p, rhs, rhs)));
        // |error| <= |residual| / smallest eigenvalue, which is at least the extra 0.05 on the diagonal
        assert_true(sqrt(error) <= sqrt(residual) / 0.05 * 1.01);
        assert_true(sqrt(error) < 1e-3 * sqrt(dot(&p, p.x, p.x)));
        cloud_free(&p.c);
    }
}

static void the_report_is_honest(void **state)
{
    (void)state;
    problem p;
    problem_make(&p, 3, 0.05f);
    size_t bytes = rh_poisson_values(&p.a) * sizeof(float);
    float *b = rh_poisson_vector(&p.a, &p.c.arena, NULL), *found = rh_poisson_vector(&p.a, &p.c.arena, NULL);
    rh_cg_report report;
    solve(&p, 1e-6, 100, b, found, &report, RH_OK);  // nothing to do
    assert_true(report.converged && report.iterations == 0);
    memcpy(b, p.x, bytes);
    solve(&p, 1e-6, 2, b, found, &report, RH_OK);
    assert_true(!report.converged && report.iterations == 2 && report.residual > 1e-6);
    memcpy(b, p.x, bytes);
    b[8 * __builtin_ctzll(p.a.rows[0])] = NAN;
    solve(&p, 1e-6, 100, b, found, &report, RH_NUMERIC);
    cloud_free(&p.c);
}

static void threads_do_not_show(void **state)
{
    (void)state;
    float *first = NULL;
    for (int threads = 1; threads <= 8; threads++) {
        rh_threads_set(threads);
        problem p;
        problem_make(&p, 3, 0.05f);
        size_t bytes = rh_poisson_values(&p.a) * sizeof(float);
        float *found = rh_poisson_vector(&p.a, &p.c.arena, NULL);
        rh_cg_report report;
        solve(&p, 1e-6, 100, p.x, found, &report, RH_OK);
        if (!first) memcpy(first = rh_alloc(bytes, "test", NULL), found, bytes);
        assert_memory_equal(first, found, bytes);
        cloud_free(&p.c);
    }
    rh_free(first);
    rh_threads_set(0);
    assert_int_equal(rh_memory_bytes(), 0);
}

// --- rigid bodies beside the operator --------------------------------------------------------------------------------
enum { BODIES = 5, SIX = 6 };

typedef struct crowd {
    rh_term term;
    rh_bodies bodies;
    double inverse[BODIES * SIX * SIX], extent[BODIES];
    rh_body_tie tie;
} crowd;

// Without the tie, which the test of the solve leaves out.
static void answer(const void *user, const double *in, double *out)
{
    const crowd *c = user;
    for (int k = 0; k < BODIES * SIX; k++) out[k] = c->inverse[k / SIX * SIX * SIX + k % SIX * (SIX + 1)] * in[k];
}

// Each body has a row in every unknown of a block of 5 cells along x and 4 along y; neighbours share some.
static void crowd_make(crowd *c, problem *p, double light)
{
    int64_t values = values_of(p);
    rh_arena *arena = &p->c.arena;
    bool flat = p->a.dimension == 2;
    rh_term *t = &c->term;
    *t = (rh_term){.blocks = BODIES, .scale = 0.5, .respond = answer, .user = c};
    t->tiles = rh_arena_take(arena, (size_t)p->a.count * sizeof *t->tiles, NULL);
    t->entries = rh_arena_take(arena, (size_t)values * BODIES * sizeof *t->entries, NULL);
    t->block = rh_arena_take(arena, (size_t)p->a.count * BODIES * sizeof *t->block, NULL);
    t->sums = rh_arena_take(arena, (size_t)p->a.count * BODIES * sizeof *t->sums, NULL);
    t->gathered = rh_arena_take(arena, BODIES * SIX * sizeof(double), NULL);
    t->answer = rh_arena_take(arena, BODIES * SIX * sizeof(double), NULL);
    int32_t count = 0;
    for (int32_t n = 0; n < p->a.count; n++) {
        int32_t first = count;
        for (int b = 0; b < BODIES; b++) t->block[n * BODIES + b] = b;
        for (int cell = 0; cell < p->a.cells; cell++)
            for (int b = 0; b < BODIES; b++) {
                int at[3];
                int64_t v = (int64_t)n * p->a.cells + cell;
                problem_cell(p, v, at);
                if (!is_unknown(p, v) || at[0] < 3 * b || at[0] >= 3 * b + 5 || at[1] < 2 || at[1] > 5) continue;
                rh_term_entry *e = &t->entries[count++];
                *e = (rh_term_entry){.cell = (uint16_t)cell, .local = (uint16_t)b};
                for (int k = 0; k < SIX; k++)
                    if (!flat || k < 2 || k == 5)
                        e->row[k] = support_random((uint64_t)(v * BODIES + b), 60 + (uint32_t)k);
            }
        if (count > first) t->tiles[t->tile_count++] = (rh_term_tile){n, first, count, n * BODIES, BODIES};
    }
    assert_true(count > 40);
    memset(c->inverse, 0, sizeof c->inverse);
    for (int k = 0; k < BODIES * SIX; k++)
        if (!flat || k % SIX < 2 || k % SIX == 5)
            c->inverse[k / SIX * SIX * SIX + k % SIX * (SIX + 1)] = light * (1 + k);
    for (int b = 0; b < BODIES; b++) c->extent[b] = 5;
    c->bodies = (rh_bodies){.term = t, .inverse = c->inverse, .extent = c->extent};
}

// z = (A + term) x
static void apply_all(const problem *p, const crowd *c, const float *x, float *z)
{
    rh_poisson_apply(&p->a, x, z, NULL);
    rh_term_apply(&c->term, p->a.cells, x, z);
}

// A step of the smoother fulfils (D + T) (y - x) = w (b - (A + T) x), which defines it, for light and heavy bodies that
// share cells.
static void bodies_are_smoothed_by_their_own_inverse(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int light = 0; light < 2; light++) {
            problem p;
            crowd c;
            rh_status status = {0};
            problem_make(&p, dimension, 0.1f);
            crowd_make(&c, &p, light ? 100 : 0.01);
            rh_body_level *level;
            assert_ok(rh_bodies_finest(&c.bodies, &p.a, &p.pockets, &p.c.arena, &level, &status));
            float *y = rh_poisson_vector(&p.a, &p.c.arena, NULL), *all = rh_poisson_vector(&p.a, &p.c.arena, NULL),
                  *step = rh_poisson_vector(&p.a, &p.c.arena, NULL), *left = rh_poisson_vector(&p.a, &p.c.arena, NULL);
            double *sums = rh_arena_take_zero(&p.c.arena, (size_t)(p.a.count + 1) * sizeof(double), NULL);
            rh_bodies_gather(level, p.a.cells, p.x);
            rh_poisson_smooth(&p.a, 0.7f, p.y, p.x, y, sums);
            rh_bodies_correct(level, p.a.cells, (double)0.7f, p.y, y, sums);
            assert_near(rh_sum(sums, p.a.count), dot(&p, p.y, y), 1e-5 * dot(&p, y, y));
            apply_all(&p, &c, p.x, all);
            for (int64_t v = 0; v < values_of(&p); v++) {
                step[v] = y[v] - p.x[v];
                left[v] = *diagonal_of(&p, v) * step[v];
            }
            rh_term_apply(&c.term, p.a.cells, step, left);
            double size = sqrt(dot(&p, all, all)), error = 0;
            for (int64_t v = 0; v < values_of(&p); v++)
                if (is_unknown(&p, v)) error += pow((double)left[v] - 0.7 * ((double)p.y[v] - (double)all[v]), 2);
            assert_true(sqrt(error) < 2e-5 * size);
            cloud_free(&p.c);
        }
}

static void cycles_with_bodies_are_symmetric_and_serve(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        int iterations[3];
        for (int light = 0; light < 3; light++) {
            problem p;
            crowd c;
            rh_status status = {0};
            rh_cg_report report;
            problem_make(&p, dimension, 0.1f);
            crowd_make(&c, &p, (const double[]){1e-6, 1, 1e4}[light]);
            c.bodies.extent = (const double[]){5, 5, 3, 1.5, 5};  // some become links on the second or third level
            assert_ok(rh_multigrid_create_with(&p.m, &p.a, &c.bodies, &p.pockets, &p.c.arena, &status));
            float *mx = rh_poisson_vector(&p.a, &p.c.arena, NULL), *my = rh_poisson_vector(&p.a, &p.c.arena, NULL);
            cycle(&p, p.x, mx);
            cycle(&p, p.y, my);
            assert_near(dot(&p, p.y, mx), dot(&p, p.x, my), 1e-5 * dot(&p, p.x, mx));
            assert_true(dot(&p, p.x, mx) > 0 && dot(&p, p.y, my) > 0);
            assert_ok(rh_cg_solve(&p.m, &(rh_cg_beside){.term = &c.term}, &p.pockets, p.y, mx, 1e-5, 300, &p.c.arena,
                                  &report, &status));
            iterations[light] = report.iterations;
            assert_true(report.converged);
            cloud_free(&p.c);
        }
        print_message("%dD: bodies heavy, medium, light: %d, %d, %d iterations\n", dimension, iterations[0],
                      iterations[1], iterations[2]);
        assert_true(iterations[1] <= iterations[0] + 4 && iterations[2] <= iterations[0] + 4);
    }
}

// Two that are tied by an equation answer as one: what the smoother takes off violates it by hardly anything.
static void ties_hold_in_the_smoother(void **state)
{
    (void)state;
    problem p;
    crowd c;
    rh_status status = {0};
    problem_make(&p, 3, 0.1f);
    crowd_make(&c, &p, 1);
    c.tie = (rh_body_tie){.a = 0, .b = 3, .ja = {1, 0, 0, 0, 0.5, 0}, .jb = {-1, 0, 0, 0, 0, 0.3}};
    c.bodies.ties = &c.tie;
    c.bodies.tie_count = 1;
    rh_body_level *level;
    assert_ok(rh_bodies_finest(&c.bodies, &p.a, &p.pockets, &p.c.arena, &level, &status));
    rh_bodies_begin(level, p.a.cells, p.x);
    const double *v = level->j.answer, size = fabs(v[0]) + fabs(v[18]);
    assert_true(size > 1e-3 && fabs(v[0] + 0.5 * v[4] - v[18] + 0.3 * v[23]) < 1e-4 * size);
    cloud_free(&p.c);
}

// --- the projection --------------------------------------------------------------------------------------------------
enum { WIDE = 10, HIGH = 12 };  // cells of the tank

typedef struct tank {
    cloud c;
    rh_obstacles walls;
    rh_obstacle items[2];
    rh_cut_cells cut;
    rh_cut_cache cache;
    rh_surface surface;
    rh_faces velocity;
    uint8_t *known[3];
    rh_pressure pressure;
    rh_cg_report report;
} tank;

// A tank along the grid, cells of 1 m, with water below `level` (m; anything above HIGH fills it), and a wall between
// two halves when asked.
static void tank_make_with(tank *t, int dimension, double level, bool divided, rh_precondition preconditioner)
{
    rh_status status = {0};
    t->cache = (rh_cut_cache){0};
    cloud_make(&t->c, (int64_t)WIDE * HIGH * (dimension == 3 ? WIDE : 1));
    for (int64_t i = 0; i < t->c.points.count; i++)
        t->c.p[i] = rh_v3((float)(i % WIDE) + 0.5f, (float)(i / WIDE % HIGH) + 0.5f,
                          dimension == 3 ? (float)(i / WIDE / HIGH) + 0.5f : 0);
    cloud_tile(&t->c, dimension, 1, 3);
    bool flat = dimension == 2;
    t->items[0] = (rh_obstacle){
        .shape = {.kind = RH_SHAPE_BOX, .as.box = {{0, 0, 0}, {WIDE, HIGH, WIDE}, 0}, .flat = flat},
        .inside_out = true};
    t->items[1] = (rh_obstacle){
        .shape = {.kind = RH_SHAPE_BOX, .as.box = {{4, -1, -1}, {6, HIGH + 1, WIDE + 1}, 0}, .flat = flat}};
    t->walls = (rh_obstacles){.items = t->items, .count = divided ? 2 : 1};
    rh_obstacles_at(&t->walls, 0, 0, &t->walls, NULL);
    assert_ok(rh_cut_cells_build(&t->cut, &t->cache, &t->c.tiles, &t->walls, &t->c.arena, &status));
    int64_t values = rh_tiles_values(&t->c.tiles);
    t->surface = (rh_surface){rh_field_new(&t->c.tiles, &t->c.arena, &status), 5};
    for (int64_t v = 0; v < values; v++) {
        double x[3];
        lattice_point(&t->c.tiles, v, 3, x);
        t->surface.phi[v] = (float)fmin(fmax(x[1] - level, -5), 5);
    }
    assert_ok(rh_faces_new(&t->velocity, &t->c.tiles, true, &t->c.arena, &status));
    for (int a = 0; a < dimension; a++) t->known[a] = rh_arena_take_zero(&t->c.arena, (size_t)values, &status);
    assert_ok(rh_pressure_prepare(&t->pressure, &t->c.tiles, &t->surface, &t->cut, NULL, true, preconditioner,
                                  &t->c.arena, &status));
}

static void tank_make(tank *t, int dimension, double level, bool divided)
{
    tank_make_with(t, dimension, level, divided, RH_PRECONDITION_MULTIGRID);
}

static void tank_free(tank *t)
{
    rh_cut_cache_free(&t->cache);
    cloud_free(&t->c);
}

static void tank_project(tank *t)
{
    rh_status status = {0};
    assert_ok(rh_pressure_project(&t->pressure, t->velocity, t->known, 1e-6, 1000, &t->c.arena, &t->report, &status));
    assert_true(t->report.converged);
}

// Outflow of a cell through its open faces.
static double divergence(const tank *t, int64_t v)
{
    const rh_tiles *tiles = &t->c.tiles;
    double sum = 0;
    for (int a = 0; a < tiles->dimension; a++) {
        int at[3];
        cell_of(tiles, v, at);
        at[a]++;
        int64_t above = value_at(tiles, at[0], at[1], at[2]);
        float out = value_apart(tiles, t->cut.open[a], above), in = value_apart(tiles, t->cut.open[a], v);
        sum += (double)(out * t->velocity.axis[a][above]) - (double)(in * t->velocity.axis[a][v]);
    }
    return sum;
}

static bool in_tank(const tank *t, int64_t v) { return value_apart(&t->c.tiles, t->cut.distance, v) > 0; }

// Water at rest under gravity: the step's g dt is taken back exactly and the pressure grows linearly from the surface,
// at any place of the surface in its cell (that is what the ghost-fluid condition is for).
static void still_water_stays_still(void **state)
{
    (void)state;
    const double levels[] = {6, 6.02, 6.37, 6.5, 6.99, 7.25};
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int n = 0; n < 6; n++) {
            tank t;
            tank_make(&t, dimension, levels[n], false);
            for (int64_t v = 0; v < rh_tiles_values(&t.c.tiles); v++) t.velocity.axis[1][v] = -0.5f;
            tank_project(&t);
            assert_int_equal(t.pressure.pockets.count, 0);
            int faces = 0;
            for (int64_t v = 0; v < rh_tiles_values(&t.c.tiles); v++) {
                double x[3];
                lattice_point(&t.c.tiles, v, 3, x);
                if (!in_tank(&t, v)) continue;
                if (x[1] < levels[n] - 1e-9)
                    assert_near((double)rh_pressure_value(&t.pressure, v), 0.5 * (levels[n] - x[1]), 2e-5);
                for (int a = 0; a < dimension; a++) {
                    if (!t.known[a][v]) continue;
                    assert_near((double)t.velocity.axis[a][v], 0, 2e-5);
                    faces++;
                }
            }
            assert_true(faces > 5 * WIDE);
            tank_free(&t);
        }
}

static void check_sealed(int dimension, bool divided)
{
    tank t;
    tank_make(&t, dimension, HIGH + 20, divided);
    assert_int_equal(t.pressure.pockets.groups, divided ? 2 : 1);
    for (int a = 0; a < dimension; a++)
        for (int64_t v = 0; v < rh_tiles_values(&t.c.tiles); v++)
            t.velocity.axis[a][v] = support_random((uint64_t)v, 60 + (uint32_t)a);
    tank_project(&t);
    double worst = 0;
    int cells = 0;
    for (int64_t v = 0; v < rh_tiles_values(&t.c.tiles); v++) {
        if (!in_tank(&t, v)) continue;
        worst = fmax(worst, fabs(divergence(&t, v)));
        cells++;
    }
    assert_int_equal(cells, (divided ? WIDE - 2 : WIDE) * HIGH * (dimension == 3 ? WIDE : 1));
    assert_true(worst < 1e-4);
    tank_free(&t);
}

// No air anywhere: the operator knows pressure only up to a constant, for each closed part.
static void sealed_boxes_are_solved(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        check_sealed(dimension, false);
        check_sealed(dimension, true);
    }
}

// A wall that moves into a sealed box cannot be obeyed; the solve must still end, with the surplus spread evenly.
static void impossible_boxes_do_not_blow_up(void **state)
{
    (void)state;
    tank t;
    tank_make(&t, 3, HIGH + 20, false);
    rh_status status = {0};
    for (int32_t n = 0; n < t.c.tiles.count; n++) {
        rh_cut_own own;
        assert_ok(rh_cut_cells_own(&t.cut, &t.c.tiles, n, &t.c.arena, &own, &status));
        for (int c = 0; c < t.c.tiles.cells && t.c.tiles.at[n].x == 0; c += RH_TILE) own.wall[0][c] = 1;
    }
    tank_project(&t);
    double cells = (double)WIDE * WIDE * HIGH, inflow = (double)WIDE * HIGH;
    for (int64_t v = 0; v < rh_tiles_values(&t.c.tiles); v++) {
        int at[3];
        cell_of(&t.c.tiles, v, at);
        if (in_tank(&t, v)) assert_near(divergence(&t, v) - (at[0] == 0 ? 1 : 0), -inflow / cells, 1e-4);
    }
    tank_free(&t);
}

// Open and sealed water, thrown about: whatever preconditions the solve, the velocities are the same.
static void preconditioners_agree(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        int dimension = 2 + kind % 2;
        tank t[3];
        for (int m = 0; m < 3; m++) {
            tank_make_with(&t[m], dimension, kind < 2 ? 6.3 : HIGH + 20, kind >= 2, (rh_precondition)m);
            for (int a = 0; a < dimension; a++)
                for (int64_t v = 0; v < rh_tiles_values(&t[m].c.tiles); v++)
                    t[m].velocity.axis[a][v] = support_random((uint64_t)v, (uint32_t)a);
            assert_int_equal(t[m].pressure.preconditioner.method->which, m);
            tank_project(&t[m]);
            assert_true(t[m].report.iterations > 1);
            assert_int_equal(t[m].pressure.preconditioner.method->bytes(&t[m].pressure.preconditioner) > 0,
                             m != RH_PRECONDITION_NONE);
        }
        double worst = 0;
        for (int m = 1; m < 3; m++)
            for (int a = 0; a < dimension; a++)
                for (int64_t v = 0; v < rh_tiles_values(&t[0].c.tiles); v++) {
                    assert_int_equal(t[0].known[a][v], t[m].known[a][v]);
                    worst = fmax(worst, fabs((double)t[0].velocity.axis[a][v] - (double)t[m].velocity.axis[a][v]));
                }
        print_message("%dD: %d, %d, %d iterations, velocities within %.1e\n", dimension, t[0].report.iterations,
                      t[1].report.iterations, t[2].report.iterations, worst);
        assert_true(worst < 2e-5 && t[0].report.iterations < t[2].report.iterations);
        for (int m = 0; m < 3; m++) tank_free(&t[m]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operator_matches_brute_force),
        cmocka_unit_test(preconditioner_is_symmetric),
        cmocka_unit_test(made_up_problems_are_solved),
        cmocka_unit_test(the_report_is_honest),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(still_water_stays_still),
        cmocka_unit_test(sealed_boxes_are_solved),
        cmocka_unit_test(impossible_boxes_do_not_blow_up),
        cmocka_unit_test(preconditioners_agree),
        cmocka_unit_test(bodies_are_smoothed_by_their_own_inverse),
        cmocka_unit_test(cycles_with_bodies_are_symmetric_and_serve),
        cmocka_unit_test(ties_hold_in_the_smoother),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
