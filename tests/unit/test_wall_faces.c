// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Walls on the grid and for particles against plain loops that ask every shape about every face and particle: the same
// bits.
#include "support.h"
#include "physics/walls.h"

typedef struct basin {
    cloud c;
    rh_obstacle items[4];
    rh_obstacles all;
    rh_cut_cells cut;
    rh_cut_cache cache;
    rh_mesh_sdf *mesh;
} basin;

static rh_motion_key travel[] = {{0, {0, 0, 0}, {0, 0, 0}}, {1, {0.8, 0.3, 0}, {0, 0, 50}}};

static rh_mesh_sdf *octahedron(void)
{
    rh_vec3 corners[6] = {{0.4f, 0, 0}, {-0.4f, 0, 0}, {0, 0.4f, 0}, {0, -0.4f, 0}, {0, 0, 0.4f}, {0, 0, -0.4f}};
    uint32_t sides[8][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    rh_mesh mesh = {corners, sides, 6, 8};
    rh_mesh_sdf *sdf = NULL;
    assert_int_equal(rh_mesh_sdf_create(&mesh, 0.04, &sdf, NULL), RH_OK);
    return sdf;
}

// A tank whose walls are `wall`, a no-slip ball, a mesh, and a box that moves and slides.
static void basin_make(basin *b, int dimension, rh_wall wall, int solids)
{
    rh_status status = {0};
    *b = (basin){.mesh = octahedron()};
    b->items[0] = (rh_obstacle){.shape = {.kind = RH_SHAPE_BOX, .as.box = {{-1.2, -0.8, -0.83}, {1.2, 0.8, 0.8}, 0}},
                                .inside_out = true,
                                .wall = wall};
    b->items[1] = (rh_obstacle){.shape = {.kind = RH_SHAPE_SPHERE, .as.sphere = {{-0.6, 0.1, 0}, 0.3}},
                                .wall = RH_WALL_NO_SLIP};
    b->items[2] = (rh_obstacle){.shape = {.kind = RH_SHAPE_MESH, .mesh = b->mesh}, .wall = RH_WALL_SEPARATE};
    b->items[3] = (rh_obstacle){.shape = {.kind = RH_SHAPE_BOX, .as.box = {{0.2, -0.9, -0.4}, {0.5, 0.2, 0.4}, 0.05}},
                                .motion = {.keys = {travel, 2}}};
    for (int i = 0; i < 4; i++) b->items[i].shape.flat = dimension == 2;
    b->all = (rh_obstacles){.items = b->items, .count = solids};
    cloud_random(&b->c, dimension, 0.08, dimension == 3 ? 60000 : 6000, rh_v3(0, 0, 0), rh_v3(1.2f, 0.8f, 0.8f), 5);
    rh_obstacles_at(&b->all, 0.3, 0.05, &b->all, NULL);
    assert_ok(rh_cut_cells_build(&b->cut, &b->cache, &b->c.tiles, &b->all, &b->c.arena, &status));
}

static void basin_free(basin *b)
{
    rh_cut_cache_free(&b->cache);
    cloud_free(&b->c);
    rh_mesh_sdf_free(b->mesh);
}

static rh_dvec3 face_at(const rh_tiles *tiles, int64_t v, int a)
{
    int c = (int)(v % tiles->cells);
    rh_vec3 x = rh_cell_center(tiles, (int32_t)(v / tiles->cells), c & 7, c >> 3 & 7, c >> 6);
    (&x.x)[a] -= 0.5f * tiles->h;
    return rh_d3_from(x);
}

// --- velocities on faces ---------------------------------------------------------------------------------------------

// Component b at a face of axis a, faces that are not there count 0.
static double mean_at(const rh_tiles *tiles, rh_faces u, int64_t v, int a, int b)
{
    if (a == b) return (double)u.axis[a][v];
    float sum = 0;
    for (int n = 0; n < 4; n++) {
        int cell[3];
        cell_of(tiles, v, cell);
        cell[a] -= n & 1;
        cell[b] += n >> 1;
        int64_t other = value_at(tiles, cell[0], cell[1], cell[2]);
        sum += other < 0 ? 0 : u.axis[b][other];
    }
    return (double)(0.25f * sum);
}

static float expected(const basin *b, rh_faces u, int64_t v, int a)
{
    const rh_tiles *tiles = &b->c.tiles;
    float distance = value_apart(tiles, b->cut.distance, v), old = u.axis[a][v];
    if (value_apart(tiles, b->cut.open[a], v) > 0 || distance < -3 * tiles->h || distance > 2 * tiles->h) return old;
    rh_dvec3 x = face_at(tiles, v, a), mean = {0, 0, 0};
    int which;
    double exact = rh_obstacles_distance(&b->all, x, &which);
    if (which < 0 || exact > 0.25 * (double)tiles->h) return old;
    for (int c = 0; c < tiles->dimension; c++) (&mean.x)[c] = mean_at(tiles, u, v, a, c);
    rh_dvec3 wall = rh_obstacles_velocity(&b->all, which, x), n = rh_obstacles_normal(&b->all, which, x);
    if (b->items[which].wall == RH_WALL_NO_SLIP) return (float)(&wall.x)[a];
    double into = rh_d3_dot(rh_d3_sub(mean, wall), n);
    if (b->items[which].wall == RH_WALL_SEPARATE && into > 0) return old;
    return (float)((&mean.x)[a] - into * (&n.x)[a]);
}

static void check_faces(basin *b)
{
    const rh_tiles *tiles = &b->c.tiles;
    rh_status status = {0};
    rh_faces before, after;
    assert_ok(rh_faces_new(&before, tiles, false, &b->c.arena, &status));
    assert_ok(rh_faces_new(&after, tiles, false, &b->c.arena, &status));
    int64_t values = rh_tiles_values(tiles);
    for (int a = 0; a < tiles->dimension; a++)
        for (int64_t v = 0; v < values; v++)
            before.axis[a][v] = after.axis[a][v] = support_random((uint64_t)v, 40 + (uint32_t)a);
    assert_ok(rh_walls_constrain(tiles, &b->cut, &b->all, after, false, &b->c.arena, &status));
    int set = 0;
    for (int a = 0; a < tiles->dimension; a++)
        for (int64_t v = 0; v < values; v++) {
            float value = expected(b, before, v, a);
            if (after.axis[a][v] != value) {
                rh_dvec3 x = face_at(tiles, v, a);
                fail_msg("face %d at %g %g %g: found %.9g, expected %.9g", a, x.x, x.y, x.z, (double)after.axis[a][v],
                         (double)value);
            }
            set += value != before.axis[a][v];
        }
    assert_true(set > 200);
}

static void faces_equal_the_plain_loop(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int wall = RH_WALL_SLIP; wall <= RH_WALL_SEPARATE; wall++)
            for (int solids = 1; solids <= 4; solids += 3) {
                basin b;
                basin_make(&b, dimension, (rh_wall)wall, solids);
                check_faces(&b);
                basin_free(&b);
            }
}

// Inflows, one of them across a wall: faces closed, moving, marked; everything else untouched; walls obeyed as before.
static void inflows_equal_the_plain_loop(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        basin b;
        rh_status status = {0};
        basin_make(&b, dimension, RH_WALL_SLIP, 4);
        rh_shape jet = {.kind = RH_SHAPE_SPHERE, .as.sphere = {{-1.15, 0.3, 0.1}, 0.22}, .flat = dimension == 2};
        rh_shape pipe = {
            .kind = RH_SHAPE_CAPSULE, .as.capsule = {{-0.2, 0.5, 0.1}, {0.5, 0.6, 0.1}, 0.13}, .flat = dimension == 2};
        rh_motion still = {0};
        const rh_inflow inflows[2] = {{&jet, rh_motion_pose(&still, 0), {1, 2, 3}, rh_shape_bounds(&jet)},
                                      {&pipe, rh_motion_pose(&still, 0), {-4, 5, 6}, rh_shape_bounds(&pipe)}};
        rh_cut_cells plain = b.cut;
        const rh_tiles *tiles = &b.c.tiles;
        rh_cut_cache other = {0};  // the view without inflows
        assert_ok(rh_cut_cells_build(&plain, &other, tiles, &b.all, &b.c.arena, &status));
        assert_ok(rh_walls_add_inflows(tiles, &b.cut, &b.all, inflows, 2, &b.c.arena, &status));
        rh_faces u;
        uint8_t *known[3];
        assert_ok(rh_faces_new(&u, tiles, true, &b.c.arena, &status));
        for (int a = 0; a < dimension; a++)
            known[a] = rh_arena_take_zero(&b.c.arena, (size_t)rh_tiles_values(tiles), &status);
        rh_walls_set_inflow_velocities(tiles, &b.cut, u, known);
        int inflow = 0;
        for (int a = 0; a < dimension; a++)
            for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
                float open = value_apart(tiles, plain.open[a], v), wall = value_apart(tiles, plain.wall[a], v);
                bool in = false;
                for (int n = 0; n < 2; n++)
                    if (rh_shape_distance(inflows[n].shape, face_at(tiles, v, a)) <= 0)
                        open = 0, wall = (float)(&inflows[n].velocity.x)[a], in = true;
                assert_true(value_apart(tiles, b.cut.open[a], v) == open &&
                            value_apart(tiles, b.cut.wall[a], v) == wall);
                assert_true(known[a][v] == in && u.axis[a][v] == (in ? wall : 0));
                inflow += in;
            }
        assert_true(inflow > 20);
        check_faces(&b);
        rh_cut_cache_free(&other);
        basin_free(&b);
    }
}

// --- particles -------------------------------------------------------------------------------------------------------
static void plain_collide(const rh_obstacles *obstacles, double gap, int dimension, rh_vec3 *position,
                          rh_vec3 *velocity)
{
    for (int n = 0; n < 10; n++) {
        int which;
        rh_dvec3 x = rh_d3_from(*position);
        double distance = rh_obstacles_distance(obstacles, x, &which);
        if (which < 0 || distance >= gap * 0.999) return;
        rh_dvec3 normal = rh_obstacles_normal(obstacles, which, x);
        if (dimension == 2) normal.z = 0;
        x = rh_d3_add(x, rh_d3_scale(normal, gap - distance));
        *position = rh_v3_from(x);
        rh_dvec3 v = rh_d3_from(*velocity), wall = rh_obstacles_velocity(obstacles, which, x);
        double into = rh_d3_dot(rh_d3_sub(v, wall), normal);
        if (into < 0) *velocity = rh_v3_from(rh_d3_sub(v, rh_d3_scale(normal, into)));
    }
}

// Particles take steps of up to `step` cells along each axis; the solids that move have moved on.
static void check_particles(int dimension, int solids, double step, double gap_cells)
{
    basin b;
    basin_make(&b, dimension, RH_WALL_SLIP, solids);
    const rh_tiles *tiles = &b.c.tiles;
    int64_t count = b.c.points.count;
    rh_vec3 *x = rh_arena_take(&b.c.arena, (size_t)count * sizeof *x, NULL),
            *v = rh_arena_take(&b.c.arena, (size_t)count * sizeof *v, NULL);
    for (int64_t i = 0; i < count; i++) {
        for (int a = 0; a < dimension; a++)
            (&b.c.p[i].x)[a] += (float)step * tiles->h * support_random((uint64_t)i, 70 + (uint32_t)a);
        x[i] = b.c.p[i];
        v[i] = b.c.v[i];
    }
    rh_obstacles_at(&b.all, 0.35, 0, &b.all, NULL);
    double gap = gap_cells * (double)tiles->h;
    rh_walls_collide(tiles, &b.cut, &b.all, &(rh_collision){.gap = gap, .stop = true}, b.c.p, b.c.v);
    int64_t pushed = 0;
    for (int64_t i = 0; i < count; i++) {
        rh_vec3 was = x[i];
        plain_collide(&b.all, gap, dimension, &x[i], &v[i]);
        pushed += memcmp(&was, &x[i], sizeof was) != 0;
        if (memcmp(&x[i], &b.c.p[i], sizeof was) != 0 || memcmp(&v[i], &b.c.v[i], sizeof was) != 0)
            fail_msg("particle %lld from %g %g %g: found %g %g %g, expected %g %g %g", (long long)i, (double)was.x,
                     (double)was.y, (double)was.z, (double)b.c.p[i].x, (double)b.c.p[i].y, (double)b.c.p[i].z,
                     (double)x[i].x, (double)x[i].y, (double)x[i].z);
    }
    assert_true(pushed > count / 200 && pushed < count / 2);
    basin_free(&b);
}

static void particles_equal_the_plain_loop(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        check_particles(dimension, 1, 0.5, 0.05);
        check_particles(dimension, 2, 2, 0.05);
        check_particles(dimension, 3, 1, 0.1);
        check_particles(dimension, 4, 4, 0.05);
        check_particles(dimension, 1, 0.1, 0.4);  // a gap beyond what boxes are made for
        check_particles(dimension, 2, 7.5, 0.15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(faces_equal_the_plain_loop),
                                       cmocka_unit_test(inflows_equal_the_plain_loop),
                                       cmocka_unit_test(particles_equal_the_plain_loop)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
