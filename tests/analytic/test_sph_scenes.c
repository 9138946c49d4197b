// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The scenes of scenes/sph at test size: no particle passes a wall. The way of each in each step, from where it was to
// where it is, stays out of all solids that rest, thin walls included, but for a twentieth of the particle spacing, by
// which a straight line may cut a corner that the particle went around; and nobody ends in a solid, at rest or moving.
#include "lab.h"
#include "world/parts.h"

typedef struct ways {
    rh_vec3 *last;  // by id
    int64_t room;
    int *resting, resting_count;
    double deepest_way, deepest_end;  // m
    int64_t ways;
} ways;

// How deep in a solid the way goes: sphere tracing, by at least a tenth of the tolerance.
static double depth_of(const lab *l, const ways *w, rh_dvec3 from, rh_dvec3 to, double least)
{
    const rh_obstacles *solids = &l->world->materials[0].geometry.obstacles;
    rh_dvec3 way = rh_d3_sub(to, from);
    double length = rh_d3_length(way), deepest = -1e30;
    for (double done = 0; done < length;) {
        rh_dvec3 at = rh_d3_add(from, rh_d3_scale(way, done / length));
        double free = rh_obstacles_distance_of(solids, w->resting, w->resting_count, at, NULL);
        deepest = fmax(deepest, -free);
        done += fmax(free, least);
    }
    return deepest;
}

static void follow(lab *l, void *user)
{
    ways *w = user;
    const rh_points *points = rh_world_points(l->world);
    const rh_obstacles *solids = &l->world->materials[0].geometry.obstacles;
    const rh_vec3 *x = lab_positions(l);
    const int64_t *id = rh_points_data(points, "id", RH_POINT_I64);
    for (int64_t i = 0; i < points->count; i++) {
        assert_true(id[i] >= 0 && id[i] < w->room);
        rh_vec3 *last = &w->last[id[i]];
        rh_dvec3 to = rh_d3_from(x[i]);
        w->deepest_end = fmax(w->deepest_end, -rh_obstacles_distance(solids, to, NULL));
        if (isfinite(last->x)) {
            w->deepest_way = fmax(w->deepest_way, depth_of(l, w, rh_d3_from(*last), to, 0.0025 * l->scene.cell));
            w->ways++;
        }
        *last = x[i];
    }
}

static void open_ways(ways *w, const lab *l)
{
    const rh_obstacles *solids = &l->geometry.obstacles;
    *w = (ways){.room = 400000, .deepest_way = -1e30, .deepest_end = -1e30};
    w->last = malloc((size_t)w->room * sizeof *w->last);
    w->resting = malloc((size_t)(solids->count + 1) * sizeof *w->resting);
    assert_true(w->last && w->resting);
    for (int64_t i = 0; i < w->room; i++) w->last[i].x = NAN;
    for (int i = 0; i < solids->count; i++)
        if (solids->items[i].rests) w->resting[w->resting_count++] = i;
}

static void no_particle_passes_a_wall(void **state)
{
    (void)state;
    static const struct {
        const char *name, *cell;
        double until, long_until;  // s
    } scenes[] = {{"small/coil", "0.004", 0.6, 2},   {"small/fold", "0.004", 1.3, 2}, {"small/melt", "0.02", 0.1, 1},
                  {"small/corridor", "0.2", 0.5, 3}, {"dam_break", "0.08", 0.4, 2},   {"cup", "0.01", 0.25, 2}};
    for (int n = 0; n < (int)(sizeof scenes / sizeof scenes[0]); n++) {
        lab l = {.blocks = rh_memory_blocks()};
        ways w;
        char path[512], cell[64];
        const char *const sets[] = {cell};
        rh_status status = {0};
        snprintf(path, sizeof path, RHEO_SOURCE_DIR "/scenes/sph/%s.yaml", scenes[n].name);
        snprintf(cell, sizeof cell, "cell=%s", scenes[n].cell);
        lab_check(rh_scene_load(path, sets, 1, &l.scene, &status), &status);
        lab_check(rh_geometry_build(&l.scene, &l.geometry, &status), &status);
        lab_check(rh_world_create(&l.scene, &l.world, &status), &status);
        open_ways(&w, &l);
        lab_run(&l, getenv("RHEO_LONG") ? scenes[n].long_until : scenes[n].until, follow, &w);
        double spacing = 0.5 * l.scene.cell;
        print_message("%s: %lld particles, %lld ways, deepest %.3f spacings on the way, %.3f at its end\n",
                      scenes[n].name, (long long)lab_count(&l), (long long)w.ways, w.deepest_way / spacing,
                      w.deepest_end / spacing);
        assert_true(w.ways > 0 && w.deepest_way < 0.05 * spacing && w.deepest_end < 1e-3 * spacing);
        free(w.last);
        free(w.resting);
        lab_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_particle_passes_a_wall)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
