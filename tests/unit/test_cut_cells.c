// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Open shares of faces and cells: exact for planes at all angles, exactly 0 or 1 at walls along the grid; and what is
// kept of them between steps is what would be made afresh.
#include "support.h"
#include "solid/cut_cells.h"

// --- shares of a square ----------------------------------------------------------------------------------------------

// Area of the unit square where a x + b y + c > 0, by integrating the length of each vertical line: piecewise quadratic
// in x, so Simpson's rule on the pieces between the kinks is exact.
static double line_length(double b, double rest)
{
    if (fabs(b) < 1e-12) return rest > 0;
    double root = -rest / b;
    double low = b > 0 ? fmin(fmax(root, 0), 1) : 0, high = b > 0 ? 1 : fmin(fmax(root, 0), 1);
    return high - low;
}

static double exact_area(double a, double b, double c)
{
    double cuts[4] = {0, 1, 0, 0}, area = 0;
    int n = 2;
    for (int y = 0; y < 2; y++) {
        double x = fabs(a) > 1e-12 ? -(b * y + c) / a : -1;
        if (x > 0 && x < 1) cuts[n++] = x;
    }
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && cuts[j - 1] > cuts[j]; j--) {
            double swap = cuts[j];
            cuts[j] = cuts[j - 1];
            cuts[j - 1] = swap;
        }
    for (int i = 0; i + 1 < n; i++) {
        double l = cuts[i], r = cuts[i + 1], w = r - l;
        if (w <= 0) continue;
        double f0 = line_length(b, a * (l + 1e-9 * w) + c), f1 = line_length(b, a * (l + r) / 2 + c),
               f2 = line_length(b, a * (r - 1e-9 * w) + c);
        area += w * (f0 + 4 * f1 + f2) / 6;
    }
    return area;
}

static void squares_are_exact_for_lines(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 20000; n++) {
        double angle = 6.2831853 * (double)rh_random(1, n, 0, 0), shift = 0.75 * (double)support_random(n, 1);
        double a = cos(angle), b = sin(angle), c = shift - 0.5 * (a + b);
        const float corner[4] = {(float)c, (float)(a + c), (float)(a + b + c), (float)(b + c)};
        assert_near((double)rh_open_square(corner), exact_area(a, b, c), 2e-6);
    }
}

static void squares_do_not_care_about_the_start_or_scale(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 2000; n++) {
        float c[4], full = 0;
        for (uint32_t i = 0; i < 4; i++) c[i] = support_random(n, i);
        float turned[4] = {c[1], c[2], c[3], c[0]}, mirrored[4] = {c[3], c[2], c[1], c[0]}, big[4], minus[4];
        for (int i = 0; i < 4; i++) big[i] = 1000 * c[i], minus[i] = -c[i];
        full = rh_open_square(c);
        assert_near((double)rh_open_square(turned), (double)full, 1e-6);
        assert_near((double)rh_open_square(mirrored), (double)full, 1e-6);
        assert_near((double)rh_open_square(big), (double)full, 1e-6);
        bool saddle = (c[0] > 0) == (c[2] > 0) && (c[1] > 0) == (c[3] > 0) && (c[0] > 0) != (c[1] > 0);
        if (!saddle) assert_near((double)rh_open_square(minus), 1 - (double)full, 1e-6);
    }
}

static void edges(void **state)
{
    (void)state;
    assert_true(rh_open_edge(1, 2) == 1 && rh_open_edge(-1, -2) == 0);
    assert_true(rh_open_edge(0, 1) == 1 && rh_open_edge(1, 0) == 1 && rh_open_edge(0, 0) == 0 &&
                rh_open_edge(0, -1) == 0);
    assert_near((double)rh_open_edge(1, -3), 0.25, 1e-7);
    assert_near((double)rh_open_edge(-3, 1), 0.25, 1e-7);
}

// --- solids on tiles -------------------------------------------------------------------------------------------------
typedef struct scene {
    cloud c;
    rh_obstacle items[3];
    rh_obstacles all;
    rh_cut_cells cut;
    rh_cut_cache cache;
} scene;

static float at(const scene *s, const float *const *field, int64_t v) { return value_apart(&s->c.tiles, field, v); }

static void scene_free(scene *s)
{
    assert_true(rh_cut_cache_is_valid(&s->cache));
    rh_cut_cache_free(&s->cache);
    cloud_free(&s->c);
}

static void scene_cut(scene *s, int dimension, double h, double reach, int count)
{
    rh_status status = {0};
    float r = (float)reach;
    cloud_random(&s->c, dimension, h, 300, rh_v3(0, 0, 0), rh_v3(r, r, r), 3);
    s->all = (rh_obstacles){.items = s->items, .count = count};
    for (int i = 0; i < count; i++) s->items[i].shape.flat = dimension == 2;
    rh_obstacles_at(&s->all, 0, 0, &s->all, NULL);
    assert_ok(rh_cut_cells_build(&s->cut, &s->cache, &s->c.tiles, &s->all, &s->c.arena, &status));
}

static double tidy(double share) { return share < 1e-3 ? 0 : share > 1 - 1e-3 ? 1 : share; }  // slivers are closed

// Exact share of the lower face of `axis` of a cell under a plane n . x > d, lengths in cells.
static double face_share(int dimension, const int cell[3], int axis, rh_dvec3 n, double d)
{
    int u = axis == 0 ? 1 : 0, w = axis == 2 ? 1 : 2;
    double rest = rh_d3_dot(n, rh_d3(cell[0], cell[1], cell[2])) - d;
    double a = (&n.x)[u], b = dimension == 3 ? (&n.x)[w] : 0;
    return exact_area(a, b, rest);
}

static void check_plane(int dimension, rh_dvec3 normal, double shift)
{
    const double h = 0.1;
    scene s = {0};
    rh_dvec3 n = rh_d3_unit(normal);
    s.items[0].shape = (rh_shape){.kind = RH_SHAPE_PLANE, .as.plane = {rh_d3_scale(n, shift), normal}};
    scene_cut(&s, dimension, h, 1, 1);
    int partial = 0;
    for (int64_t v = 0; v < rh_tiles_values(&s.c.tiles); v++) {
        int cell[3];
        double x[3];
        cell_of(&s.c.tiles, v, cell);
        lattice_point(&s.c.tiles, v, 3, x);
        double distance = h * rh_d3_dot(n, rh_d3(x[0], x[1], x[2])) - shift;
        assert_near((double)at(&s, s.cut.distance, v), fmin(fmax(distance, -4 * h), 4 * h), 1e-6);
        for (int a = 0; a < dimension; a++) {
            double share = face_share(dimension, cell, a, n, shift / h), found = (double)at(&s, s.cut.open[a], v);
            if (fabs(share - 1e-3) < 1e-4 || fabs(share - 1 + 1e-3) < 1e-4) continue;  // at the edge of being a sliver
            assert_near(found, tidy(share), 5e-5);
            partial += found > 0 && found < 1;
            assert_true(at(&s, s.cut.wall[a], v) == 0);
        }
    }
    assert_true(partial > 30);
    scene_free(&s);
}

static void planes_at_all_angles(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 40; n++) {
        double shift = 0.3 * (double)support_random(n, 3);
        rh_dvec3 normal = {support_random(n, 0), support_random(n, 1), support_random(n, 2)};
        check_plane(3, normal, shift);
        normal.z = 0;
        check_plane(2, normal, shift);
    }
}

// A tank along the grid, at sizes that are no binary fractions: faces in the water exactly open, faces in and behind
// walls exactly closed, also in the edges and corners, and cells full or empty.
static void tanks_along_the_grid(void **state)
{
    (void)state;
    const double sizes[] = {0.1, 0.025, 1.0 / 3, 0.07};
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int n = 0; n < 4; n++) {
            double h = sizes[n];
            scene s = {0};
            rh_box_params box = {rh_d3(-7 * h, -3 * h, -8 * h), rh_d3(9 * h, 6 * h, 5 * h), 0};
            s.items[0] = (rh_obstacle){.shape = {.kind = RH_SHAPE_BOX, .as.box = box}, .inside_out = true};
            scene_cut(&s, dimension, h, 12 * h, 1);
            const int low[3] = {-7, -3, -8}, high[3] = {9, 6, 5};
            for (int64_t v = 0; v < rh_tiles_values(&s.c.tiles); v++) {
                int cell[3];
                cell_of(&s.c.tiles, v, cell);
                bool inside = true;
                for (int a = 0; a < dimension; a++) inside = inside && cell[a] >= low[a] && cell[a] < high[a];
                assert_true(at(&s, s.cut.volume, v) == (inside ? 1 : 0));
                for (int a = 0; a < dimension; a++) {
                    bool open = cell[a] > low[a] && cell[a] < high[a];  // faces on the wall itself are closed
                    for (int b = 0; b < dimension; b++)
                        open = open && (a == b || (cell[b] >= low[b] && cell[b] < high[b]));
                    if (at(&s, s.cut.open[a], v) != (open ? 1 : 0))
                        fail_msg("h %g: face %d of cell %d %d %d is open %g", h, a, cell[0], cell[1], cell[2],
                                 (double)at(&s, s.cut.open[a], v));
                }
            }
            scene_free(&s);
        }
}

// Free shares of all cells add up to the free volume: a ball of r cells takes 4/3 pi r^3 away. Second order: linear
// interpolation of a sphere's distance is off by up to h^2 / (8 r) along an edge, on one side, so a layer of that
// thickness over the surface bounds the error.
static void volumes_add_up(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        scene s = {0};
        double h = 0.05, r = 0.4, pi = 3.14159265358979323846, taken = 0;
        s.items[0].shape = (rh_shape){.kind = RH_SHAPE_SPHERE, .as.sphere = {{0.011, -0.007, 0.013}, r}};
        scene_cut(&s, dimension, h, 0.5, 1);
        for (int64_t v = 0; v < rh_tiles_values(&s.c.tiles); v++) taken += 1 - (double)at(&s, s.cut.volume, v);
        taken *= pow(h, dimension);
        double volume = dimension == 3 ? 4.0 / 3 * pi * r * r * r : pi * r * r,
               area = dimension == 3 ? 4 * pi * r * r : 2 * pi * r;
        print_message("ball of 8 cells, %dD: volume %.5f of %.5f\n", dimension, taken, volume);
        assert_near(taken, volume, area * (h * h / (8 * r)) * (dimension == 3 ? 2 : 1) + 1e-3 * volume);
        scene_free(&s);
    }
}

static void moving_walls_tell_their_velocity(void **state)
{
    (void)state;
    static rh_motion_key keys[] = {{0, {0, 0, 0}, {0, 0, 0}}, {2, {1, -0.5, 0.25}, {0, 0, 90}}};
    scene s = {0};
    s.items[0] = (rh_obstacle){.shape = {.kind = RH_SHAPE_SPHERE, .as.sphere = {{0, 0, 0}, 0.4}},
                               .motion = {.keys = {keys, 2}}};
    scene_cut(&s, 3, 0.1, 1, 1);
    assert_true(s.all.any_moving);
    int told = 0;
    for (int64_t v = 0; v < rh_tiles_values(&s.c.tiles); v++)
        for (int a = 0; a < 3; a++) {
            double x[3];
            lattice_point(&s.c.tiles, v, a, x);
            rh_dvec3 u = rh_motion_velocity(&s.items[0].motion, 0, rh_d3(0.1 * x[0], 0.1 * x[1], 0.1 * x[2]));
            bool closed = at(&s, s.cut.open[a], v) < 1;
            assert_near((double)at(&s, s.cut.wall[a], v), closed ? (&u.x)[a] : 0, 1e-6);
            told += closed;
        }
    assert_true(told > 100);
    scene_free(&s);
}

// Only cells at a separating wall may let go, not those at the other one.
static void only_separating_walls_release(void **state)
{
    (void)state;
    scene s = {0};
    s.items[0] = (rh_obstacle){.shape = {.kind = RH_SHAPE_PLANE, .as.plane = {{0, -0.5, 0}, {0, 1, 0}}},
                               .wall = RH_WALL_SEPARATE};
    s.items[1] = (rh_obstacle){.shape = {.kind = RH_SHAPE_PLANE, .as.plane = {{0, 0.5, 0}, {0, -1, 0}}}};
    scene_cut(&s, 3, 0.1, 1, 2);
    assert_non_null(s.cut.releases);
    int released = 0;
    for (int64_t v = 0; v < rh_tiles_values(&s.c.tiles); v++) {
        double x[3];
        lattice_point(&s.c.tiles, v, 3, x);
        double y = 0.1 * x[1];
        if (fabs(fabs(y + 0.5) - 0.15) < 1e-6) continue;  // on the edge of the layer
        assert_int_equal(rh_cut_releases(&s.cut, (int32_t)(v / 512), (int)(v % 512)), fabs(y + 0.5) < 0.15);
        released += rh_cut_releases(&s.cut, (int32_t)(v / 512), (int)(v % 512));
    }
    assert_true(released > 100);
    scene_free(&s);
    scene none = {0};
    none.items[0].shape = s.items[0].shape;
    scene_cut(&none, 3, 0.1, 1, 1);
    assert_null(none.cut.releases);
    scene_free(&none);
    assert_int_equal(rh_memory_bytes(), 0);
}

// --- what is kept between steps --------------------------------------------------------------------------------------

static void same_values(const rh_tiles *tiles, const float *kept, const float *fresh)
{
    assert_memory_equal(kept, fresh, (size_t)tiles->cells * sizeof(float));
}

static void same_faces(const rh_cut_faces *a, const rh_cut_faces *b)
{
    assert_memory_equal(a->bits, b->bits, sizeof a->bits);
    assert_true(a->count == b->count && a->which == b->which && a->aligned == b->aligned);
    assert_true(a->normal.x == b->normal.x && a->normal.y == b->normal.y && a->normal.z == b->normal.z);
}

// Everything the scene's view tells is what a cache that has never seen anything tells.
static void check_fresh(scene *s)
{
    const rh_tiles *tiles = &s->c.tiles;
    rh_status status = {0};
    rh_cut_cache cache = {0};
    rh_cut_cells fresh;
    assert_ok(rh_cut_cells_build(&fresh, &cache, tiles, &s->all, &s->c.arena, &status));
    assert_int_equal(cache.made, tiles->count);
    for (int32_t t = 0; t < tiles->count; t++) {
        for (int a = 0; a < tiles->dimension; a++) {
            same_values(tiles, s->cut.open[a][t], fresh.open[a][t]);
            same_values(tiles, s->cut.wall[a][t], fresh.wall[a][t]);
            same_faces(&s->cut.faces[t][a], &fresh.faces[t][a]);
        }
        same_values(tiles, s->cut.distance[t], fresh.distance[t]);
        same_values(tiles, s->cut.share[t], fresh.share[t]);
        same_values(tiles, s->cut.volume[t], fresh.volume[t]);
        assert_int_equal(s->cut.kind[t], fresh.kind[t]);
        assert_memory_equal(&s->cut.touch[t], &fresh.touch[t], sizeof fresh.touch[t]);
        assert_int_equal(s->cut.releases != NULL, fresh.releases != NULL);
        if (fresh.releases) assert_memory_equal(s->cut.releases[t], fresh.releases[t], (size_t)tiles->layers * 8);
    }
    assert_int_equal(rh_cut_cache_pages(&s->cache),
                     rh_cut_cache_pages(&cache));  // nothing is held for tiles that are gone
    assert_true(rh_cut_cache_is_valid(&s->cache));
    rh_cut_cache_free(&cache);
}

static rh_motion_key travel[] = {{0, {0, 0, 0}, {0, 0, 0}}, {1, {1.2, 0.2, 0}, {0, 0, 90}}};

// A tank with separating walls, a ball that rests, a no-slip box that travels for a second.
static void kept_scene(scene *s, int dimension)
{
    *s = (scene){0};
    s->items[0] = (rh_obstacle){.shape = {.kind = RH_SHAPE_BOX, .as.box = {{-2, -1, -1}, {2, 1.03, 1}, 0}},
                                .inside_out = true,
                                .wall = RH_WALL_SEPARATE};
    s->items[1] = (rh_obstacle){.shape = {.kind = RH_SHAPE_SPHERE, .as.sphere = {{-0.9, 0.1, 0}, 0.3}}};
    s->items[2] = (rh_obstacle){.shape = {.kind = RH_SHAPE_BOX, .as.box = {{-0.2, -0.3, -0.2}, {0.1, 0.3, 0.2}, 0}},
                                .wall = RH_WALL_NO_SLIP,
                                .motion = {.keys = {travel, 2}}};
    for (int i = 0; i < 3; i++) s->items[i].shape.flat = dimension == 2;
    s->all = (rh_obstacles){.items = s->items, .count = 3};
}

static void kept_step(scene *s, int dimension, rh_vec3 center, double time)
{
    rh_status status = {0};
    cloud_free(&s->c);
    s->c = (cloud){0};
    cloud_random(&s->c, dimension, 0.06, 400, center, rh_v3(0.9f, 0.5f, 0.5f), 4);
    rh_obstacles_at(&s->all, time, 0.01, &s->all, NULL);
    assert_ok(rh_cut_cells_build(&s->cut, &s->cache, &s->c.tiles, &s->all, &s->c.arena, &status));
    check_fresh(s);
}

static int32_t tiles_of_kind(const scene *s, int kind)
{
    int32_t count = 0;
    for (int32_t t = 0; t < s->c.tiles.count; t++) count += s->cut.kind[t] == kind;
    return count;
}

// The liquid comes and goes, a solid moves past one that rests: always the bits of a fresh start, with no more work
// than near the mover.
static void kept_equals_fresh(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        scene s;
        kept_scene(&s, dimension);
        kept_step(&s, dimension, rh_v3(0, 0, 0), 0);
        assert_int_equal(s.cache.made, s.c.tiles.count);
        for (int n = 1; n <= 12; n++) {
            int32_t near_before = tiles_of_kind(&s, RH_TILE_MOVING);
            kept_step(&s, dimension, rh_v3(0, 0, 0), 0.08 * n);  // the same tiles again
            int32_t near_now = tiles_of_kind(&s, RH_TILE_MOVING);
            assert_true(near_now > 0 && s.cache.made >= near_now && s.cache.made <= s.c.tiles.count);
            // Made again: near where it is, near where it was, and a few that it comes near to, but not so near that
            // they store anything.
            assert_true(s.cache.made <= near_before + near_now + s.c.tiles.count / 3 && s.cache.made < s.c.tiles.count);
        }
        kept_step(&s, dimension, rh_v3(0, 0, 0), 1.2);  // arrived: velocity and place change a last time
        assert_true(s.cache.made > 0);
        kept_step(&s, dimension, rh_v3(0, 0, 0), 1.3);
        assert_int_equal(s.cache.made, 0);
        kept_step(&s, dimension, rh_v3(-0.9f, 0, 0), 1.4);  // other tiles, solids at rest: only the new ones are made
        assert_true(s.cache.made > 0 && s.cache.made < s.c.tiles.count);
        kept_step(&s, dimension, rh_v3(-0.9f, 0, 0), 0.5);  // back in time, as in another run
        scene_free(&s);
    }
    assert_int_equal(rh_memory_bytes(), 0);
}

// Pages of vanished tiles serve new ones: to and fro needs no more memory than each end alone.
static void pages_are_used_again(void **state)
{
    (void)state;
    scene s;
    kept_scene(&s, 3);
    int64_t most = 0;
    int32_t chunks = 0;
    for (int n = 0; n < 10; n++) {
        kept_step(&s, 3, rh_v3(n % 2 ? 0.9f : -0.9f, 0, 0), 2);
        if (rh_cut_cache_pages(&s.cache) > most) most = rh_cut_cache_pages(&s.cache);
        if (n == 1) chunks = s.cache.chunk_count;
        if (n > 1) assert_int_equal(s.cache.chunk_count, chunks);
    }
    assert_true((int64_t)chunks * 32 <=
                most + 16 * 9 + 2 * 32);  // what a batch of tiles may need beforehand, and unfinished chunks
    scene_free(&s);
}

// Free tiles store nothing, others at most six values a cell, and those at walls along the grid less.
static void storage_is_small(void **state)
{
    (void)state;
    scene s = {0};
    s.items[0] = (rh_obstacle){.shape = {.kind = RH_SHAPE_BOX, .as.box = {{-1.6, -1.6, -1.6}, {1.6, 1.6, 1.6}, 0}},
                               .inside_out = true};
    scene_cut(&s, 3, 0.05, 1.6, 1);
    int32_t near = s.c.tiles.count - tiles_of_kind(&s, RH_TILE_FREE);
    assert_true(tiles_of_kind(&s, RH_TILE_FREE) > 50 && near > 100);
    print_message("tank: %d tiles near walls, %.2f pages each\n", near, (double)rh_cut_cache_pages(&s.cache) / near);
    assert_true(rh_cut_cache_pages(&s.cache) < 4 * near);
    scene_free(&s);
    scene ball = {0};
    ball.items[0].shape = (rh_shape){.kind = RH_SHAPE_SPHERE, .as.sphere = {{0.01, 0.02, 0.03}, 0.8}};
    scene_cut(&ball, 3, 0.05, 1.2, 1);
    near = ball.c.tiles.count - tiles_of_kind(&ball, RH_TILE_FREE);
    print_message("ball: %d tiles near it, %.2f pages each\n", near, (double)rh_cut_cache_pages(&ball.cache) / near);
    assert_true(rh_cut_cache_pages(&ball.cache) <= 6 * near);
    scene_free(&ball);
}

// Own copies are for one step: what is written there neither reaches the shared pages nor the next step.
static void own_copies_stay_alone(void **state)
{
    (void)state;
    scene s;
    rh_status status = {0};
    kept_scene(&s, 3);
    kept_step(&s, 3, rh_v3(0, 0, 0), 2);
    for (int32_t t = 0; t < s.c.tiles.count; t += 3) {
        rh_cut_own own;
        assert_ok(rh_cut_cells_own(&s.cut, &s.c.tiles, t, &s.c.arena, &own, &status));
        same_values(&s.c.tiles, own.open[1], s.cut.open[1][t]);
        for (int a = 0; a < 3; a++)
            for (int c = 0; c < 512; c++) own.open[a][c] = 0.5f, own.wall[a][c] = 7;
        own.faces[0].count = -1;
        assert_true(s.cut.open[2][t][100] == 0.5f && s.cut.wall[0][t][511] == 7 && s.cut.inflow[t][5] == 0);
        if (t + 1 < s.c.tiles.count) assert_true(s.cut.wall[0][t + 1][511] != 7 && s.cut.inflow[t + 1] == NULL);
    }
    kept_step(&s, 3, rh_v3(0, 0, 0), 2.1);
    assert_int_equal(s.cache.made, 0);
    assert_null(s.cut.inflow);
    scene_free(&s);
}

// A build that runs out of memory anywhere leaves a cache that the next one can use.
static void running_out_of_memory_is_survived(void **state)
{
    (void)state;
    scene s;
    rh_status status = {0};
    kept_scene(&s, 2);
    cloud_random(&s.c, 2, 0.06, 400, rh_v3(0, 0, 0), rh_v3(1.6f, 0.9f, 0), 4);
    rh_obstacles_at(&s.all, 0.3, 0.01, &s.all, NULL);
    int failures = 0;
    for (int n = 0; n < 200; n++) {
        rh_memory_fail_after(n % 40);
        rh_code code = rh_cut_cells_build(&s.cut, &s.cache, &s.c.tiles, &s.all, &s.c.arena, NULL);
        rh_memory_fail_after(-1);
        assert_true(rh_cut_cache_is_valid(&s.cache));
        failures += code == RH_MEMORY;
        if (code == RH_OK && n % 40 > 0) break;
    }
    assert_true(failures > 5);
    assert_ok(rh_cut_cells_build(&s.cut, &s.cache, &s.c.tiles, &s.all, &s.c.arena, &status));
    check_fresh(&s);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_are_exact_for_lines),
        cmocka_unit_test(squares_do_not_care_about_the_start_or_scale),
        cmocka_unit_test(edges),
        cmocka_unit_test(planes_at_all_angles),
        cmocka_unit_test(tanks_along_the_grid),
        cmocka_unit_test(volumes_add_up),
        cmocka_unit_test(moving_walls_tell_their_velocity),
        cmocka_unit_test(only_separating_walls_release),
        cmocka_unit_test(kept_equals_fresh),
        cmocka_unit_test(pages_are_used_again),
        cmocka_unit_test(storage_is_small),
        cmocka_unit_test(own_copies_stay_alone),
        cmocka_unit_test(running_out_of_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
