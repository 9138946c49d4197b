// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What upright walls are made to bear of sand at rest: after enough steps K0 times their friction times what presses
// down beside them (J. Jaky 1944, K0 = 1 - sin of the friction angle), no step changes more than 0.9 of a cell's
// weight, it pushes against gravity on either wall and along every axis, and nothing changes where sand moves, away
// from walls, or where gravity is across the grid.
#include "support.h"
#include "physics/sand/settle.h"
#include "solid/cut_cells.h"

enum { MOST_TILES = 4096 };
static const float PRESS = 7, BORNE = 2, FRICTION = 0.4f, WEIGHT = 0.5f;
static const double ANGLE = 0.6;

typedef struct silo {
    cloud c;
    rh_obstacle wall;
    rh_obstacles walls;
    rh_cut_cells cut;
    rh_cut_cache cache;
    rh_surroundings around;
    rh_limit limit;
    rh_stress stress;
    float *coefficients, *q;
    uint8_t *rest;
    int32_t list[MOST_TILES];
    rh_unilateral_view view;
    rh_settling settling;
} silo;

// Sand in a shaft 10 cells wide along `axis`, with cells of 1: PRESS in all of it, of which BORNE by stress along the
// axis.
static void silo_make(silo *s, int dimension, int axis, rh_dvec3 gravity)
{
    rh_status status = {0};
    double half[3] = {5, 5, 5};
    half[axis] = 30;
    rh_arena *arena = &s->c.arena;
    cloud_random(&s->c, dimension, 1, 4000, rh_v3(0, 0, 0), rh_v3(4.5f, 4.5f, 4.5f), 3);
    const rh_tiles *tiles = &s->c.tiles;
    size_t values = (size_t)rh_tiles_values(tiles);
    s->wall = (rh_obstacle){.shape = {.kind = RH_SHAPE_BOX,
                                      .flat = dimension == 2,
                                      .as.box = {{-half[0], -half[1], -half[2]}, {half[0], half[1], half[2]}, 0}},
                            .inside_out = true};
    s->walls = (rh_obstacles){.items = &s->wall, .count = 1};
    rh_obstacles_at(&s->walls, 0, 0.01, &s->walls, NULL);
    s->cache.blur = 2;
    assert_ok(rh_cut_cells_build(&s->cut, &s->cache, tiles, &s->walls, arena, &status));
    s->around = (rh_surroundings){.gravity = gravity, .obstacles = &s->walls};
    assert_ok(rh_layout_init(&s->limit.layout, tiles, arena, &status));
    memset(s->limit.layout.unknown, 0xff, values / 8);
    assert_ok(rh_layout_number(&s->limit.layout, arena, &status));
    assert_ok(rh_stress_new(&s->stress, tiles, true, arena, &status));
    s->q = rh_arena_take(arena, values * sizeof(float), &status);
    s->coefficients = rh_arena_take(arena, values * sizeof(float), &status);
    s->rest = rh_arena_take(arena, values / 8, &status);
    assert_true(s->q && s->coefficients && s->rest && tiles->count <= MOST_TILES);
    memset(s->rest, 0xff, values / 8);
    for (size_t v = 0; v < values; v++) s->q[v] = PRESS, s->coefficients[v] = FRICTION, s->stress.part[axis][v] = BORNE;
    for (int32_t t = 0; t < tiles->count; t++) s->list[t] = t;
    s->view = (rh_unilateral_view){
        .around = &s->around, .tiles = tiles, .cut = &s->cut, .limit = &s->limit, .q = s->q, .arena = arena};
    s->settling = (rh_settling){s->list, tiles->count, s->rest, s->coefficients, ANGLE, WEIGHT};
}

static void silo_free(silo *s)
{
    rh_cut_cache_free(&s->cache);
    cloud_free(&s->c);
}

static void settle_once(silo *s)
{
    rh_status status = {0};
    assert_ok(rh_settle(&s->settling, &s->view, &s->stress, &status));
}

typedef struct shears {
    double most;            // of all edges
    double least_at_walls;  // of those between walls and sand
    int64_t at_walls, elsewhere;
} shears;

// Shears of the edges of x, or of the first axis across, at the shaft's walls (5 cells from its middle) and elsewhere.
static shears look(const silo *s, int axis)
{
    shears found = {.least_at_walls = 1e30};
    const rh_tiles *tiles = &s->c.tiles;
    for (int p = 3; p < RH_STRESS_PARTS; p++) {
        const int *axes = rh_stress_axes[p];
        if (!s->stress.part[p]) continue;
        int across = axes[0] == axis ? axes[1] : axes[0];
        for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
            int cell[3];
            cell_of(tiles, v, cell);
            double size = fabs((double)s->stress.part[p][v]);
            bool upright = axes[0] == axis || axes[1] == axis;
            bool at_wall = upright && abs(cell[across]) == 5;
            for (int a = 0; a < tiles->dimension; a++)  // the other walls' cells have no sand
                at_wall = at_wall && (a == axis ? abs(cell[a]) < 5 : a == across || (cell[a] >= -5 && cell[a] < 5));
            found.most = fmax(found.most, size);
            if (at_wall) found.least_at_walls = fmin(found.least_at_walls, size), found.at_walls++;
            else if (size > 0 && abs(cell[axis]) < 5) found.elsewhere++;
        }
    }
    return found;
}

static void walls_come_to_bear_what_settled_sand_lays_on_them(void **state)
{
    (void)state;
    double exact = (1 - sin(ANGLE)) * (double)(FRICTION * (PRESS - BORNE));
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int axis = 0; axis < dimension; axis++) {
            silo s = {0};
            double pull[3] = {0, 0, 0};
            pull[axis] = axis == 1 ? -9.81 : 9.81;
            silo_make(&s, dimension, axis, rh_d3(pull[0], pull[1], pull[2]));
            settle_once(&s);
            shears first = look(&s, axis);
            assert_true(fabs(first.most - (double)(0.9f * WEIGHT)) < 1e-6);  // no more in a step
            for (int n = 0; n < 5; n++) settle_once(&s);
            shears last = look(&s, axis);
            assert_true(fabs(last.most - exact) < 1e-5);
            assert_true(fabs(last.least_at_walls - exact) < 1e-5);
            assert_true(last.at_walls > 10 && last.elsewhere == 0);
            silo_free(&s);
        }
}

// The divergence of what was drawn lifts the sand beside both walls.
static void it_holds_sand_against_gravity(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        rh_status status = {0};
        silo s = {0};
        silo_make(&s, 2, 1, rh_d3(0, sign * 9.81, 0));
        memset(s.stress.part[1], 0, (size_t)rh_tiles_values(&s.c.tiles) * sizeof(float));  // even stress pushes nothing
        for (int n = 0; n < 6; n++) settle_once(&s);
        rh_faces ones, out;
        assert_ok(rh_faces_new(&ones, &s.c.tiles, true, &s.c.arena, &status));
        assert_ok(rh_faces_new(&out, &s.c.tiles, true, &s.c.arena, &status));
        for (int a = 0; a < 2; a++)
            for (int64_t v = 0; v < rh_tiles_values(&s.c.tiles); v++) ones.axis[a][v] = 1;
        rh_stress_rows rows = {.list = s.list, .count = s.c.tiles.count};
        rh_stress_add_divergence(&s.stress, ones, out, 1, &s.c.tiles, &rows, out);
        for (int y = -3; y < 3; y++) {
            int64_t low = value_at(&s.c.tiles, -5, y, 0), high = value_at(&s.c.tiles, 4, y, 0),
                    middle = value_at(&s.c.tiles, 0, y, 0);
            assert_true(low >= 0 && high >= 0 && middle >= 0);
            assert_true((float)-sign * out.axis[1][low] > 0.1f && (float)-sign * out.axis[1][high] > 0.1f);
            assert_true(out.axis[1][middle] == 0);
        }
        silo_free(&s);
    }
}

static void nothing_is_drawn_where_sand_moves_or_gravity_is_across(void **state)
{
    (void)state;
    silo moving = {0}, across = {0}, loose = {0};
    silo_make(&moving, 2, 1, rh_d3(0, -9.81, 0));
    memset(moving.rest, 0, (size_t)rh_tiles_values(&moving.c.tiles) / 8);
    settle_once(&moving);
    assert_true(look(&moving, 1).most == 0);
    silo_make(&across, 2, 1, rh_d3(1, -3, 0));
    settle_once(&across);
    assert_true(look(&across, 1).most == 0);
    silo_make(&loose, 2, 1, rh_d3(0, -9.81, 0));  // under no pressure
    memset(loose.q, 0, (size_t)rh_tiles_values(&loose.c.tiles) * sizeof(float));
    settle_once(&loose);
    assert_true(look(&loose, 1).most == 0);
    silo_free(&moving), silo_free(&across), silo_free(&loose);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(walls_come_to_bear_what_settled_sand_lays_on_them),
                                       cmocka_unit_test(it_holds_sand_against_gravity),
                                       cmocka_unit_test(nothing_is_drawn_where_sand_moves_or_gravity_is_across)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
