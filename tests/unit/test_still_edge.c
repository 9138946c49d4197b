// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The edge of liquid at rest. Under a level surface over a bed that slopes along any axis, cells are held where, and
// only where, the bed is less than a cell under the level; their faces are closed with what is kept of their velocity.
// Nothing is held where the surface moves or is rough, deep water stays as it is, and only particles of held cells, and
// those beside walls, are calmed.
#include "support.h"
#include "physics/still_edge.h"

static const double LEVEL = 12.3;  // cells of 1 above the bed's foot
static const float KEEP = 0.75f, SLOW = 0.3f;

typedef struct beach {
    cloud c;
    rh_obstacle bed;
    rh_obstacles beds;
    rh_cut_cells cut;
    rh_cut_cache cache;
    rh_faces before;
    rh_still_edge edge;
    double slope;
    int up, along;  // axes
} beach;

// Height of the bed above cells whose middle is at x, along the axis it rises on.
static double bed_at(const beach *b, double x) { return x / b->slope; }

// Water over a bed that rises by 1 : slope along `along`, gravity down `up`, its surface at LEVEL + rough sin(2 x).
static void beach_make(beach *b, int up, int along, double slope, double rough, float speed)
{
    rh_status status = {0};
    rh_arena *arena = &b->c.arena;
    int wide = (int)(slope * LEVEL) + 12;
    int64_t count = 0;
    *b = (beach){.slope = slope, .up = up, .along = along};
    cloud_make(&b->c, (int64_t)wide * 2 * 30);
    for (int i = 0; i < 2 * wide; i++)
        for (int j = 0; j < 30; j++) {
            double at[2] = {-8 + 0.25 + 0.5 * i, LEVEL - 0.25 - 0.5 * j};
            if (at[1] < bed_at(b, at[0])) continue;
            rh_vec3 p = rh_v3(0, 0, 0);
            (&p.x)[along] = (float)at[0], (&p.x)[up] = (float)at[1];
            b->c.p[count++] = p;
        }
    b->c.points.count = count;
    cloud_tile(&b->c, 2, 1, 3);
    const rh_tiles *tiles = &b->c.tiles;
    rh_dvec3 normal = rh_d3(0, 0, 0);
    (&normal.x)[along] = -1, (&normal.x)[up] = slope;
    b->bed.shape.kind = RH_SHAPE_PLANE, b->bed.shape.flat = true;
    b->bed.shape.as.plane.normal = rh_d3_scale(normal, 1 / rh_d3_length(normal));
    b->beds = (rh_obstacles){.items = &b->bed, .count = 1};
    rh_obstacles_at(&b->beds, 0, 0.01, &b->beds, NULL);
    assert_ok(rh_cut_cells_build(&b->cut, &b->cache, tiles, &b->beds, arena, &status));
    float *phi = rh_arena_take(arena, (size_t)rh_tiles_values(tiles) * sizeof *phi, &status);
    assert_non_null(phi);
    assert_ok(rh_faces_new(&b->before, tiles, true, arena, &status));
    for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
        int cell[3];
        cell_of(tiles, v, cell);
        phi[v] = (float)(cell[up] + 0.5 - LEVEL - rough * sin(2 * cell[along]));
        for (int a = 0; a < 2; a++) b->before.axis[a][v] = a == along ? speed : 0;
    }
    rh_vec3 gravity = rh_v3(0, 0, 0);
    (&gravity.x)[up] = -9.81f;
    b->edge = (rh_still_edge){
        .tiles = tiles, .phi = phi, .before = b->before, .gravity = gravity, .slow = SLOW, .keep = KEEP};
    assert_ok(rh_still_edge_close(&b->edge, &b->cut, arena, &status));
}

static void beach_free(beach *b)
{
    rh_cut_cache_free(&b->cache);
    cloud_free(&b->c);
}

static bool is_held(const beach *b, int64_t v) { return b->edge.cells && b->edge.cells[v >> 3] >> (v & 7) & 1; }

static int64_t count_held(const beach *b)
{
    int64_t count = 0;
    for (int64_t v = 0; v < rh_tiles_values(&b->c.tiles); v++) count += is_held(b, v);
    return count;
}

static void cells_over_a_near_bed_are_held(void **state)
{
    (void)state;
    static const double slopes[] = {3, 5, 10, 40};
    for (int up = 0; up < 2; up++)
        for (int n = 0; n < 4; n++) {
            beach b;
            beach_make(&b, up, 1 - up, slopes[n], 0, 0.1f);
            for (int64_t v = 0; v < rh_tiles_values(&b.c.tiles); v++) {
                int cell[3];
                cell_of(&b.c.tiles, v, cell);
                double bed = bed_at(&b, cell[b.along] + 0.5), thick = LEVEL - bed;
                bool held = is_held(&b, v), meets = fabs(cell[up] + 0.5 - bed) < 1.01;
                if (held) assert_true(meets && thick < 1.1 && thick > -0.7);
                // The cell that the bed passes through, with the level surely known there: within the tiles of liquid.
                bool through = cell[up] + 0.5 > bed && cell[up] - 0.5 < bed;
                if (through && thick > 0.1 && thick < 0.9) assert_true(held);
            }
            beach_free(&b);
        }
}

static void faces_of_held_cells_are_closed(void **state)
{
    (void)state;
    beach b;
    rh_status status = {0};
    beach_make(&b, 1, 0, 10, 0, 0.2f);
    const rh_tiles *tiles = &b.c.tiles;
    int64_t closed = 0;
    for (int a = 0; a < 2; a++)
        for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
            int cell[3];
            cell_of(tiles, v, cell);
            if (!(b.edge.held[a][v >> 3] >> (v & 7) & 1)) continue;
            int64_t low = value_at(tiles, cell[0] - (a == 0), cell[1] - (a == 1), 0);
            int64_t t = v / tiles->cells, at = v % tiles->cells;
            assert_true(is_held(&b, v) || (low >= 0 && is_held(&b, low)));
            assert_true(b.cut.open[a][t][at] == 0);
            assert_true(b.cut.wall[a][t][at] == KEEP * b.before.axis[a][v]);
            closed++;
        }
    assert_true(closed > 10);
    rh_faces velocity;
    uint8_t *known[3] = {0};
    assert_ok(rh_faces_new(&velocity, tiles, true, &b.c.arena, &status));
    for (int a = 0; a < 2; a++) known[a] = rh_arena_take_zero(&b.c.arena, (size_t)rh_tiles_values(tiles), &status);
    rh_still_edge_set(&b.edge, &b.cut, velocity, known);
    for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
        bool held = b.edge.held[0][v >> 3] >> (v & 7) & 1;
        assert_true(known[0][v] == held && velocity.axis[0][v] == (held ? KEEP * 0.2f : 0));
    }
    beach_free(&b);
}

static void liquid_that_moves_has_no_edge(void **state)
{
    (void)state;
    beach rests, fast, rough;
    beach_make(&rests, 1, 0, 10, 0, 0.9f * SLOW);
    beach_make(&fast, 1, 0, 10, 0, 1.1f * SLOW);
    beach_make(&rough, 1, 0, 10, 0.4, 0);
    assert_true(count_held(&rests) > 5);
    assert_int_equal(count_held(&fast), 0);
    assert_int_equal(count_held(&rough), 0);
    beach_free(&rests), beach_free(&fast), beach_free(&rough);
}

// Particles of held cells keep KEEP of their velocity; of those beside walls, along axes that walls act along, what
// goes beyond their cell's; others all of it.
static void only_particles_at_the_wall_are_calmed(void **state)
{
    (void)state;
    beach b;
    rh_status status = {0};
    beach_make(&b, 1, 0, 5, 0, 0);
    const rh_tiles *tiles = &b.c.tiles;
    rh_momentum_error *errors = rh_arena_take_zero(&b.c.arena, (size_t)tiles->count * sizeof *errors, &status);
    assert_non_null(errors);
    for (int32_t t = 0; t < tiles->count; t++) errors[t].walled[1] = true;
    for (int64_t i = 0; i < b.c.points.count; i++) b.c.v[i] = rh_v3(1, 1, 0);
    rh_still_edge_calm(&b.edge, b.before, errors, b.c.v);
    int64_t of[3] = {0};
    for (int64_t v = 0; v < rh_tiles_values(tiles); v++)
        for (uint32_t i = tiles->first[v]; i < tiles->first[v + 1]; i++) {
            bool held = is_held(&b, v), beside = b.edge.beside[v >> 3] >> (v & 7) & 1;
            rh_vec3 want = held ? rh_v3(KEEP, KEEP, 0) : beside ? rh_v3(1, KEEP, 0) : rh_v3(1, 1, 0);
            assert_true(b.c.v[i].x == want.x && b.c.v[i].y == want.y);
            of[held ? 0 : beside ? 1 : 2]++;
        }
    assert_true(of[0] > 5 && of[1] > 20 && of[2] > 200);
    beach_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_over_a_near_bed_are_held), cmocka_unit_test(faces_of_held_cells_are_closed),
        cmocka_unit_test(liquid_that_moves_has_no_edge), cmocka_unit_test(only_particles_at_the_wall_are_calmed)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
