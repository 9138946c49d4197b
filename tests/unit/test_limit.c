// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The limit on fillings (Gerszewski 2014, eqs. 3.3 to 3.9) against plain loops in double over single cells and faces,
// on random fillings, rooms and shares, in all its forms: unknowns, operator, right-hand side, what pressure does to
// velocities and fillings, and bounds of suction. The table of forms in limit.c is written down here a second time.
//
// Tolerance: sums of a dozen floats of order one, or ten with density in the matrix.
#include "support.h"
#include "physics/limit.h"

enum { TWO_SIDED = 4, FORMS = 5 };  // forms 0..3 are rh_limit_form
static const char *const names[FORMS] = {"shares", "shares_right", "density", "density_right", "two-sided"};
static const double DT = 0.01, H = 0.1, SLACK = 1e-4, EMPTIEST = 0.02, AT_WALLS = 0.3, NOTHING = 1e-5, NEAR = 2e-5;

typedef struct liquid {
    cloud c;
    int form, dimension;
    rh_limit_options options;
    rh_cut_cells cut;
    float *room, *pass[3], *wall[3], *distance;  // what cut's tables show
    float *fill;
    rh_faces faces, velocity;
    rh_limit limit;
    float *b, *q;
} liquid;

static const float **table_of(liquid *l, const float *field)
{
    const float **table = rh_arena_take(&l->c.arena, (size_t)l->c.tiles.count * sizeof *table, NULL);
    assert_non_null(table);
    for (int32_t t = 0; t < l->c.tiles.count; t++) table[t] = field + (int64_t)t * l->c.tiles.cells;
    return table;
}

static float *new_field(liquid *l)
{
    float *field = rh_field_new(&l->c.tiles, &l->c.arena, NULL);
    assert_non_null(field);
    return field;
}

static float lot(int64_t v, uint32_t lane) { return rh_random(9, (uint64_t)v, 0, lane); }

// Shares of 0, 1 and in between, when not all is open.
static float random_share(int64_t v, uint32_t lane, bool open)
{
    float s = 1.5f * lot(v, lane) - 0.25f;
    return open || s > 1 ? 1 : s < 0 ? 0 : s;
}

// Liquid in a box of 26 cells a side that holds whole tiles; its lower half has holes.
static float random_fill(const rh_tiles *tiles, int64_t v)
{
    int cell[3];
    cell_of(tiles, v, cell);
    for (int a = 0; a < tiles->dimension; a++)
        if (cell[a] < -9 || cell[a] > 16) return 0;
    return cell[0] < 0 && lot(v, 1) < 0.2f ? (lot(v, 2) < 0.5f ? 0 : 0.015f) : 0.3f + lot(v, 2);
}

static void fill_solids(liquid *l, bool open)
{
    l->room = new_field(l), l->distance = new_field(l);
    for (int a = 0; a < l->dimension; a++) l->pass[a] = new_field(l), l->wall[a] = new_field(l);
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++) {
        l->room[v] = random_share(v, 3, open);
        l->distance[v] = open ? 1 : lot(v, 4) - 0.2f;
        for (int a = 0; a < l->dimension; a++) {
            l->pass[a][v] = random_share(v, 5 + (uint32_t)a, open);
            l->wall[a][v] = lot(v, 8 + (uint32_t)a) - 0.5f;
        }
    }
    l->cut.kind = rh_arena_take(&l->c.arena, (size_t)l->c.tiles.count, NULL);
    assert_non_null(l->cut.kind);
    memset(l->cut.kind, open ? RH_TILE_FREE : RH_TILE_CUT, (size_t)l->c.tiles.count);
    l->cut.room = table_of(l, l->room);
    l->cut.distance = table_of(l, l->distance);
    for (int a = 0; a < l->dimension; a++)
        l->cut.pass[a] = table_of(l, l->pass[a]), l->cut.wall[a] = table_of(l, l->wall[a]);
}

static void liquid_make(liquid *l, int dimension, int form, bool open)
{
    rh_status status = {0};
    *l = (liquid){.form = form, .dimension = dimension};
    l->options = (rh_limit_options){
        .form = form == TWO_SIDED ? 0 : (rh_limit_form)form, .air = 0.02, .two_sided = form == TWO_SIDED};
    cloud_random(&l->c, dimension, H, 20000, rh_v3(0.4f, 0.4f, 0.4f), rh_v3(1.3f, 1.3f, 1.3f), 4);
    fill_solids(l, open);
    l->fill = new_field(l);
    assert_ok(rh_faces_new(&l->faces, &l->c.tiles, false, &l->c.arena, &status));
    assert_ok(rh_faces_new(&l->velocity, &l->c.tiles, false, &l->c.arena, &status));
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++) {
        l->fill[v] = random_fill(&l->c.tiles, v);
        for (int a = 0; a < dimension; a++) {
            l->faces.axis[a][v] = 0.1f + lot(v, 11 + (uint32_t)a);
            l->velocity.axis[a][v] = 10 * (lot(v, 14 + (uint32_t)a) - 0.5f);
        }
    }
    assert_ok(
        rh_limit_prepare(&l->limit, &l->options, &l->c.tiles, &l->cut, l->fill, l->faces, NULL, &l->c.arena, &status));
    l->b = rh_poisson_vector(&l->limit.matrix, &l->c.arena, &status);
    l->q = rh_poisson_vector(&l->limit.matrix, &l->c.arena, &status);
    assert_true(l->b && l->q);
}

// --- the same by plain indexing --------------------------------------------------------------------------------------
static int64_t beside(const liquid *l, int64_t v, int axis, int step)
{
    int cell[3];
    cell_of(&l->c.tiles, v, cell);
    cell[axis] += step;
    return value_at(&l->c.tiles, cell[0], cell[1], cell[2]);
}

static bool is_unknown(const liquid *l, int64_t v)
{
    return v >= 0 && (l->limit.layout.unknown[v >> 3] >> (v & 7) & 1);
}

static int64_t slot_of(const liquid *l, int64_t v)
{
    int32_t slot = l->limit.layout.slot[v / l->c.tiles.cells];
    return slot < 0 ? -1 : (int64_t)slot * l->c.tiles.cells + v % l->c.tiles.cells;
}

static double vector_at(const liquid *l, const float *vector, int64_t v)
{
    return is_unknown(l, v) ? (double)vector[slot_of(l, v)] : 0;
}

static void random_q(liquid *l)
{
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++)
        if (is_unknown(l, v)) l->q[slot_of(l, v)] = lot(v, 20) < 0.1f ? 0 : lot(v, 21);
}

// Open share of the lower face of a cell.
static double share_of(const liquid *l, int a, int64_t v)
{
    if (v < 0) return 0;
    if (l->form != TWO_SIDED) return (double)l->pass[a][v];
    int64_t below = beside(l, v, a, -1);
    return l->distance[v] > 0 && below >= 0 && l->distance[below] > 0;
}

static double link_of(const liquid *l, int a, int64_t v)
{
    if (v < 0) return 0;
    double share = share_of(l, a, v), fill = fmax((double)l->faces.axis[a][v], EMPTIEST);
    const double links[FORMS] = {share, 1, share / fill, 1 / fill, share};
    return links[l->form];
}

static double inverse_mass_of(const liquid *l, int a, int64_t v)
{
    double share = share_of(l, a, v), fill = (double)l->faces.axis[a][v];
    if (l->form == TWO_SIDED) return share;
    if (share == 0 || fill <= NOTHING) return 0;
    return l->form == RH_LIMIT_SHARES ? share / fmax(fill, share * (EMPTIEST + AT_WALLS * (1 - share)))
                                      : 1 / fmax(fill, EMPTIEST);
}

static double flow_of(const liquid *l, int a, int64_t v)
{
    if (v < 0) return 0;
    double share = share_of(l, a, v), fill = (double)l->faces.axis[a][v], u = (double)l->velocity.axis[a][v];
    const double flows[FORMS] = {fill * u, share * fill * u, share * u, share * u,
                                 share * u + (1 - share) * (double)l->wall[a][v]};
    return flows[l->form];
}

static double room_of(const liquid *l, int64_t v)
{
    if (l->form == TWO_SIDED) return 0;
    double room = (double)l->room[v], left = (1 + SLACK) * room - (double)l->fill[v];
    return l->form == RH_LIMIT_SHARES_RIGHT || l->form == RH_LIMIT_DENSITY_RIGHT ? room * left : left;
}

static double outflow_of(const liquid *l, int64_t v)
{
    double sum = 0;
    for (int a = 0; a < l->dimension; a++) sum += flow_of(l, a, beside(l, v, a, 1)) - flow_of(l, a, v);
    return sum * DT / H;
}

// (A x) by the links around a cell.
static double pressed(const liquid *l, const float *x, int64_t v)
{
    double sum = 0, here = vector_at(l, x, v);
    for (int a = 0; a < l->dimension; a++) {
        int64_t below = beside(l, v, a, -1), above = beside(l, v, a, 1);
        sum += link_of(l, a, v) * (here - vector_at(l, x, below)) +
               link_of(l, a, above) * (here - vector_at(l, x, above));
    }
    return sum;
}

static void near_at(const liquid *l, int64_t v, double found, double expected, const char *what)
{
    if (fabs(found - expected) <= NEAR * (1 + fabs(expected))) return;
    int cell[3];
    cell_of(&l->c.tiles, v, cell);
    fail_msg("%s, %dD: %s at %d %d %d is %.9g, not %.9g", names[l->form], l->dimension, what, cell[0], cell[1], cell[2],
             found, expected);
}

// --- tests -----------------------------------------------------------------------------------------------------------
typedef void checker(liquid *l);

static void in_all_forms(checker *check, bool open)
{
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int form = 0; form < FORMS; form++) {
            liquid l;
            liquid_make(&l, dimension, form, open);
            check(&l);
            cloud_free(&l.c);
        }
}

static void check_unknowns(liquid *l)
{
    int64_t count = 0, values = rh_tiles_values(&l->c.tiles), wanted = 0;
    for (int64_t v = 0; v < values; v++) {
        double links = 0;
        for (int a = 0; a < l->dimension; a++) links += link_of(l, a, v) + link_of(l, a, beside(l, v, a, 1));
        double fill = (double)l->fill[v];
        bool wet = l->form == TWO_SIDED ? l->c.tiles.first[v + 1] > l->c.tiles.first[v] && l->distance[v] > 0
                                        : fill >= 0.02 * (double)l->room[v] - 1e-9 && fill >= NOTHING;
        wanted += wet && links > 0;
        if (is_unknown(l, v) != (wet && links > 0))
            fail_msg("%s, %dD: value %d should%s be an unknown", names[l->form], l->dimension, (int)v,
                     wet ? "" : " not");
    }
    for (int64_t v = 0; v < values; v++) count += is_unknown(l, v);
    assert_int_equal(l->limit.matrix.unknowns, count);
    assert_true(wanted > 200 && wanted < values);
}

static void unknowns_are_liquid_cells(void **state)
{
    (void)state;
    in_all_forms(check_unknowns, false);
    in_all_forms(check_unknowns, true);
}

static void check_operator(liquid *l)
{
    random_q(l);
    float *y = rh_poisson_vector(&l->limit.matrix, &l->c.arena, NULL);
    rh_poisson_apply(&l->limit.matrix, l->q, y, NULL);
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++)
        if (is_unknown(l, v)) near_at(l, v, (double)y[slot_of(l, v)], pressed(l, l->q, v), "A q");
}

static void check_plain_tiles(liquid *l)
{
    int plain = 0;
    for (int32_t n = 0; n < l->limit.matrix.count; n++) plain += l->limit.matrix.block[n] == RH_PLAIN;
    if (l->form == RH_LIMIT_SHARES || l->form == RH_LIMIT_SHARES_RIGHT)
        assert_true(plain > 0);  // the shared block has its turn
    check_operator(l);
}

static void operator_is_the_sum_over_links(void **state)
{
    (void)state;
    in_all_forms(check_operator, false);
    in_all_forms(check_plain_tiles, true);
}

static void check_right_side(liquid *l)
{
    rh_limit_room_left(&l->limit, l->fill, NULL, l->b);
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++)
        if (slot_of(l, v) >= 0)
            near_at(l, v, (double)l->b[slot_of(l, v)], is_unknown(l, v) ? room_of(l, v) : 0, "room left");
    rh_limit_outflow(&l->limit, l->faces, l->velocity, (float)DT, l->b);
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++)
        if (slot_of(l, v) >= 0)
            near_at(l, v, (double)l->b[slot_of(l, v)], is_unknown(l, v) ? room_of(l, v) + outflow_of(l, v) : 0, "b");
}

static void right_side_is_room_and_outflow(void **state)
{
    (void)state;
    in_all_forms(check_right_side, false);
}

// w = b + A q is the room left when the velocities that pressure leaves have done their work.
static void check_room_after(liquid *l)
{
    random_q(l);
    rh_limit_room_left(&l->limit, l->fill, NULL, l->b);
    rh_limit_outflow(&l->limit, l->faces, l->velocity, (float)DT, l->b);
    rh_limit_subtract_gradient(&l->limit, l->q, (float)(H / DT), 1e9f, l->velocity, NULL);
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++)
        if (is_unknown(l, v))
            near_at(l, v, room_of(l, v) + outflow_of(l, v), (double)l->b[slot_of(l, v)] + pressed(l, l->q, v),
                    "room after the step");
}

static void pressure_leaves_the_room_the_operator_says(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int form = 0; form < FORMS; form++) {
            // Shares on the right-hand side are left out of what pressure does: just that is wrong with those forms
            // unless all is open.
            bool right = form == RH_LIMIT_SHARES_RIGHT || form == RH_LIMIT_DENSITY_RIGHT;
            for (int open = right; open < 2; open++) {
                liquid l;
                liquid_make(&l, dimension, form, open);
                check_room_after(&l);
                cloud_free(&l.c);
            }
        }
}

// Faces with hardly any liquid are not shot away, faces with none are left alone, and nothing is pushed by more than it
// may be.
static void check_push(liquid *l)
{
    const double scale = 3, most = 1.5;
    int bounded = 0;
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++)
        for (int a = 0; a < l->dimension; a++) {
            float s = lot(v, 30 + (uint32_t)a);
            l->faces.axis[a][v] = s < 0.2f ? 0 : s < 0.3f ? 5e-6f : s < 0.5f ? 0.001f : s;
        }
    random_q(l);
    rh_faces before;
    assert_int_equal(rh_faces_new(&before, &l->c.tiles, false, &l->c.arena, NULL), RH_OK);
    for (int a = 0; a < l->dimension; a++)
        memcpy(before.axis[a], l->velocity.axis[a], (size_t)rh_tiles_values(&l->c.tiles) * sizeof(float));
    rh_limit_subtract_gradient(&l->limit, l->q, (float)scale, (float)most, l->velocity, NULL);
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++)
        for (int a = 0; a < l->dimension; a++) {
            double push = scale * inverse_mass_of(l, a, v) *
                          (vector_at(l, l->q, v) - vector_at(l, l->q, beside(l, v, a, -1)));
            bounded += fabs(push) > most;
            double expected = fmin(fmax((double)before.axis[a][v] - fmin(fmax(push, -most), most), -most), most);
            near_at(l, v, (double)l->velocity.axis[a][v], expected, "a pushed velocity");
        }
    assert_true(bounded > 10);
}

static void pushes_are_bounded(void **state)
{
    (void)state;
    in_all_forms(check_push, false);
}

// What bounds took from material in flight is given back to it.
static void check_flight(liquid *l)
{
    if (l->form == TWO_SIDED) return;
    random_q(l);
    rh_faces push;
    assert_int_equal(rh_faces_new(&push, &l->c.tiles, true, &l->c.arena, NULL), RH_OK);
    rh_dvec3 *given = rh_arena_take(&l->c.arena, (size_t)l->c.tiles.count * sizeof *given, NULL);
    assert_non_null(given);
    rh_limit_subtract_gradient(&l->limit, l->q, 1, 0.3f, push, given);
    for (int turn = 0; turn < 2; turn++) {
        for (int a = 0; a < l->dimension; a++) {
            double sum = 0, size = 0;
            for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++) {
                sum += (double)l->faces.axis[a][v] * (double)push.axis[a][v];
                size += fabs((double)l->faces.axis[a][v] * (double)push.axis[a][v]);
            }
            if (turn == 0) assert_true(fabs(sum) > 1e-5 * size);
            else assert_near(sum, 0, 1e-7 * size);
        }
        assert_int_equal(rh_limit_restore_momentum(&l->limit, given, push, &l->c.arena, NULL), RH_OK);
    }
}

static void bounds_keep_the_momentum_of_a_flight(void **state)
{
    (void)state;
    in_all_forms(check_flight, true);
}

// In the open what one face gains another one loses.
static void check_momentum(liquid *l)
{
    if (l->form == TWO_SIDED) return;  // its faces have no mass of their own
    random_q(l);
    rh_faces push;
    assert_int_equal(rh_faces_new(&push, &l->c.tiles, true, &l->c.arena, NULL), RH_OK);
    rh_limit_subtract_gradient(&l->limit, l->q, 1, 1e9f, push, NULL);
    for (int a = 0; a < l->dimension; a++) {
        double sum = 0, size = 0;
        for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++) {
            sum += (double)l->faces.axis[a][v] * (double)push.axis[a][v];
            size += fabs((double)l->faces.axis[a][v] * (double)push.axis[a][v]);
        }
        assert_true(size > 100);
        assert_near(sum, 0, 1e-7 * size);
    }
}

static void momentum_is_kept_in_the_open(void **state)
{
    (void)state;
    in_all_forms(check_momentum, true);
}

static void check_refill(liquid *l)
{
    random_q(l);
    rh_faces after;
    int64_t values = rh_tiles_values(&l->c.tiles);
    float *before = new_field(l);
    double sum = 0, size = 0;
    assert_int_equal(rh_faces_new(&after, &l->c.tiles, false, &l->c.arena, NULL), RH_OK);
    for (int64_t v = 0; v < values; v += 7) l->faces.axis[0][v] = 0;  // no liquid there: stays so
    memcpy(before, l->fill, (size_t)values * sizeof(float));
    // Links of density forms are those of the fillings they were made from.
    rh_status status = {0};
    assert_ok(
        rh_limit_prepare(&l->limit, &l->options, &l->c.tiles, &l->cut, l->fill, l->faces, NULL, &l->c.arena, &status));
    assert_ok(rh_limit_fill_after_shift(&l->limit, l->q, l->fill, after, &l->c.arena, &status));
    for (int64_t v = 0; v < values; v++) {
        double change = -pressed(l, l->q, v);
        near_at(l, v, (double)l->fill[v], (double)before[v] + change, "a filling");
        sum += (double)l->fill[v] - (double)before[v];
        size += fabs(change);
        for (int a = 0; a < l->dimension; a++) {
            double old = (double)l->faces.axis[a][v];
            int64_t below = beside(l, v, a, -1);
            double mean = 0.5 * (change - (below < 0 ? 0 : pressed(l, l->q, below)));
            near_at(l, v, (double)after.axis[a][v], old > 0 ? fmax(old + mean, 0) : old, "a face's filling");
        }
    }
    assert_true(size > 100);
    assert_near(sum, 0, 1e-6 * size);  // liquid goes from cell to cell
}

static void refilling_keeps_the_liquid(void **state)
{
    (void)state;
    in_all_forms(check_refill, false);
    in_all_forms(check_refill, true);
}

// Cells from air, walls and cells without pressure, step by step.
static void find_depths(const liquid *l, int *depth)
{
    int64_t values = rh_tiles_values(&l->c.tiles);
    for (int64_t v = 0; v < values; v++)
        depth[v] = !is_unknown(l, v) || vector_at(l, l->q, v) == 0 || l->room[v] < 1 ? 0 : -1;
    for (int d = 0;; d++) {
        bool any = false;
        for (int64_t v = 0; v < values; v++) {
            if (depth[v] != d) continue;
            for (int n = 0; n < 2 * l->dimension; n++) {
                int64_t other = beside(l, v, n / 2, n & 1 ? 1 : -1);
                if (other >= 0 && depth[other] < 0) depth[other] = d + 1, any = true;
            }
        }
        if (!any) return;
    }
}

static void suction_begins_at_its_depth(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        liquid l;
        rh_status status = {0};
        liquid_make(&l, dimension, RH_LIMIT_SHARES, true);
        int64_t values = rh_tiles_values(&l.c.tiles);
        for (int64_t v = 0; v < values; v++) {  // few walls and few cells without pressure, so that some lie deep
            if (lot(v, 40) < 0.003f) l.room[v] = 0.9f;
            if (is_unknown(&l, v)) l.q[slot_of(&l, v)] = lot(v, 41) < 0.003f ? 0 : lot(v, 42) - 0.5f;
        }
        int *depth = rh_arena_take(&l.c.arena, (size_t)values * sizeof *depth, &status), deepest = 0;
        find_depths(&l, depth);
        for (int64_t v = 0; v < values; v++) deepest = depth[v] > deepest ? depth[v] : deepest;
        assert_true(deepest >= 4);
        for (int least = 1; least <= deepest + 1; least++) {
            float *lower = rh_poisson_vector(&l.limit.matrix, &l.c.arena, &status);
            assert_ok(rh_limit_suction(&l.limit, l.q, least, lower, &l.c.arena, &status));
            for (int64_t v = 0; v < values; v++) {
                if (slot_of(&l, v) < 0) continue;
                float expected = depth[v] >= least ? -INFINITY : 0;
                if (lower[slot_of(&l, v)] != expected)
                    fail_msg("%dD: a cell at depth %d has the bound %g when suction begins at %d", dimension, depth[v],
                             (double)lower[slot_of(&l, v)], least);
            }
        }
        cloud_free(&l.c);
    }
}

// All the way to the other where no pressure is about, no farther than trust lets it elsewhere.
static void check_lean(liquid *l)
{
    const float trust = 0.2f;
    int held = 0, loose = 0, cut = 0;
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++)
        if (is_unknown(l, v))
            l->q[slot_of(l, v)] = lot(v, 50) < (l->dimension == 2 ? 0.7f : 0.85f) ? 0 : lot(v, 51) - 0.5f;
    float *other = rh_poisson_vector(&l->limit.matrix, &l->c.arena, NULL),
          *b = rh_poisson_vector(&l->limit.matrix, &l->c.arena, NULL);
    for (int64_t v = 0; v < (int64_t)l->limit.matrix.count * l->c.tiles.cells; v++)
        b[v] = l->b[v] = lot(v, 52), other[v] = lot(v, 53);
    rh_limit_blend(&l->limit, l->q, other, trust, b);
    for (int64_t v = 0; v < rh_tiles_values(&l->c.tiles); v++) {
        int64_t at = slot_of(l, v);
        if (!is_unknown(l, v)) continue;
        bool pressure = l->q[at] != 0;
        for (int n = 0; n < 2 * l->dimension; n++)
            pressure = pressure || vector_at(l, l->q, beside(l, v, n / 2, n & 1 ? 1 : -1)) != 0;
        float near = fminf(fmaxf(l->b[at], other[at] - trust), other[at] + trust);
        held += pressure, loose += !pressure, cut += pressure && near != l->b[at];
        assert_true(b[at] == (pressure ? near : other[at]));
    }
    assert_true(held > 50 && loose > 20 && cut > 20);
}

static void predictions_lean_where_nothing_presses(void **state)
{
    (void)state;
    in_all_forms(check_lean, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknowns_are_liquid_cells),
        cmocka_unit_test(operator_is_the_sum_over_links),
        cmocka_unit_test(right_side_is_room_and_outflow),
        cmocka_unit_test(pressure_leaves_the_room_the_operator_says),
        cmocka_unit_test(pushes_are_bounded),
        cmocka_unit_test(bounds_keep_the_momentum_of_a_flight),
        cmocka_unit_test(momentum_is_kept_in_the_open),
        cmocka_unit_test(refilling_keeps_the_liquid),
        cmocka_unit_test(suction_begins_at_its_depth),
        cmocka_unit_test(predictions_lean_where_nothing_presses),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
