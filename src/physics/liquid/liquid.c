// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One step of the liquid, in reading order (docs/theory/liquid.md has the equations):
//   sort          tiles around the particles, particles by tile and cell
//   solids        open shares of faces, wall velocities
//   surface       level set and cut edges from the particles
//   to grid       particle velocities to faces; extended; forces
//   pressure      projection
//   extend        velocities beyond the liquid; walls
//   volume        displacement against clumping (same operator)
//   to particles  PIC / FLIP / APIC update and advection, fused
//   collide       particles out of solids
#include "physics/liquid/liquid.h"

#include <math.h>
#include <string.h>
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "grid/transfer.h"
#include "physics/liquid/volume.h"
#include "physics/liquid/walls.h"

typedef struct liquid {
    rh_liquid_params params;
    rh_arena arena;
} liquid;

// Everything of the step in progress; lives in the arena.
typedef struct step {
    const rh_liquid_params *params;
    const rh_surroundings *around;
    float dt;
    float kick;     // s: how long forces act in this step, see liquid_step
    rh_points *points;
    rh_vec3 *positions, *velocities;
    float (*affine)[9];
    rh_arena *arena;
    rh_tiles tiles;
    rh_cut_cells cut;
    rh_surface surface;
    rh_faces velocity, before, shift;
    uint8_t *known[3];
    uint8_t *poured[3];  // 1 on faces inside an inflow; NULL when there is none
    rh_pressure pressure;
    rh_step_report *report;
    double clock;
} step;

static void stage(step *s, const char *name)
{
    double now = rh_seconds();
    rh_step_report *r = s->report;
    if (r->stage_count < RH_MAX_STAGES) {
        r->stage_names[r->stage_count] = name;
        r->stage_seconds[r->stage_count++] = now - s->clock;
    }
    s->clock = now;
}

static float spacing(const step *s) { return (float)s->around->cell / (float)s->params->particles_per_axis; }

static float per_cell(const step *s) { return powf((float)s->params->particles_per_axis, (float)s->around->dimension); }

// How far beyond the liquid velocities must be known: the way of a step and a cell for interpolation.
static int margin_of(const rh_liquid_params *params)
{
    int margin = (int)ceil(params->cfl) + 3;
    return margin < RH_TILE ? margin : RH_TILE;
}

static double speed_limit(const step *s)
{
    return (double)(margin_of(s->params) - 2) * s->around->cell / (double)s->dt;
}

static rh_code sort_particles(step *s, rh_status *status)
{
    rh_points *points = s->points;
    const rh_vec3 *unsorted = rh_points_data(points, "P", RH_POINT_VEC3F);
    RH_TRY(rh_tiles_build(&s->tiles, s->around->dimension, s->around->cell, unsorted, points->count, margin_of(s->params), s->arena, status));
    RH_TRY(rh_tiles_sort(&s->tiles, points, s->arena, status));
    s->positions = rh_points_data(points, "P", RH_POINT_VEC3F);
    s->velocities = rh_points_data(points, "v", RH_POINT_VEC3F);
    s->affine = s->params->transfer == RH_TRANSFER_APIC ? rh_points_data(points, "C", RH_POINT_MAT3F) : NULL;
    s->report->tiles = s->tiles.count;
    return RH_OK;
}

// Inside an inflow the flow is given: its faces are closed to pressure and move with it, like a wall made of liquid.
static rh_code apply_inflows(step *s, rh_status *status)
{
    const rh_tiles *tiles = &s->tiles;
    if (s->around->inflow_count == 0) return RH_OK;
    for (int a = 0; a < tiles->dimension; a++) {
        s->poured[a] = rh_arena_take_zero(s->arena, (size_t)rh_tiles_values(tiles), status);
        if (!s->poured[a]) return RH_MEMORY;
    }
    for (int n = 0; n < s->around->inflow_count; n++) {
        const rh_inflow *inflow = &s->around->inflows[n];
#pragma omp parallel for schedule(dynamic, 8)
        for (int32_t t = 0; t < tiles->count; t++)
            for (int c = 0; c < tiles->cells; c++)
                for (int a = 0; a < tiles->dimension; a++) {
                    int64_t at = (int64_t)t * tiles->cells + c;
                    rh_vec3 x = rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6);
                    (&x.x)[a] -= 0.5f * tiles->h;
                    if (rh_shape_distance(inflow->shape, rh_pose_to_local(&inflow->pose, rh_d3_from(x))) > 0) continue;
                    s->cut.open.axis[a][at] = 0;
                    s->cut.wall.axis[a][at] = (float)(&inflow->velocity.x)[a];
                    s->poured[a][at] = 1;
                }
    }
    return RH_OK;
}

static rh_code build_solids(step *s, rh_status *status)
{
    rh_obstacles_place(s->around->obstacles, s->around->time, (double)s->dt);
    RH_TRY(rh_cut_cells_build(&s->cut, &s->tiles, s->around->obstacles, s->arena, status));
    return apply_inflows(s, status);
}

static rh_code build_surface(step *s, rh_status *status)
{
    float band = (float)margin_of(s->params);
    RH_TRY(rh_surface_build(&s->surface, &s->tiles, s->positions, spacing(s), s->cut.distance, band, s->arena, status));
    s->report->volume = rh_surface_volume(&s->tiles, s->surface.phi, s->cut.volume, s->arena, status);
    return status->code;
}

// Distance from the liquid in free space at a face, in cells.
static float face_region(const step *s, int a, int32_t t, int c)
{
    static const int step_near[3] = {1, 3, 9}, step_cell[3] = {1, 8, 64};
    const rh_tiles *tiles = &s->tiles;
    int edge = a == 0 ? c & 7 : a == 1 ? c >> 3 & 7 : c >> 6;
    int32_t other = edge ? t : tiles->near[t][RH_HERE - step_near[a]];
    float here = rh_surface_region(tiles, s->surface.phi, s->cut.distance, t, c);
    if (other < 0) return here * tiles->inverse_h;
    return 0.5f * (here + rh_surface_region(tiles, s->surface.phi, s->cut.distance, other, edge ? c - step_cell[a] : c + 7 * step_cell[a])) * tiles->inverse_h;
}

// Faces that only a few stray particles reach keep the strays' own velocity: spray flies freely. Near the liquid the
// liquid's extension is better: there a face outside it has felt gravity but not pressure.
static void keep_spray(const step *s, rh_faces weight)
{
    for (int a = 0; a < s->tiles.dimension; a++) {
#pragma omp parallel for schedule(dynamic, 8)
        for (int32_t t = 0; t < s->tiles.count; t++)
            for (int c = 0; c < s->tiles.cells; c++) {
                int64_t at = (int64_t)t * s->tiles.cells + c;
                if (!s->known[a][at] && weight.axis[a][at] > 1e-6f && face_region(s, a, t, c) > 1) s->known[a][at] = 1;
            }
    }
}

// What is read only where particles are (velocities before the step, the shift) needs just the next faces; the velocity
// that carries particles must reach as far as they may go.
static const float NEXT_FACES = 2;

static rh_code extend(step *s, rh_faces field, float band, rh_status *status)
{
    return rh_faces_extend(&s->tiles, s->surface.phi, s->cut.distance, band, field, s->known, s->arena, status);
}

static void add_forces(const step *s)
{
    const rh_tiles *tiles = &s->tiles;
    for (int a = 0; a < tiles->dimension; a++) {
#pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < tiles->count; t++)
            for (int c = 0; c < tiles->cells; c++) {
                rh_dvec3 g = s->around->gravity;
                if (s->around->acceleration) {
                    rh_vec3 x = rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6);
                    (&x.x)[a] -= 0.5f * tiles->h;
                    g = s->around->acceleration(rh_d3_from(x), s->around->time, s->around->user);
                }
                s->velocity.axis[a][(int64_t)t * tiles->cells + c] += s->kick * (float)(&g.x)[a];
            }
    }
}

static rh_code to_grid(step *s, rh_faces weight, rh_status *status)
{
    const rh_tiles *tiles = &s->tiles;
    size_t values = (size_t)rh_tiles_values(tiles);
    RH_TRY(rh_faces_new(&s->velocity, tiles, false, s->arena, status));
    RH_TRY(rh_faces_new(&s->before, tiles, false, s->arena, status));
    rh_particles_to_faces(tiles, s->positions, s->velocities, (const float(*)[9])s->affine, s->velocity, weight);
    for (int a = 0; a < tiles->dimension; a++) {
        s->known[a] = rh_arena_take(s->arena, values, status);
        if (!s->known[a]) return RH_MEMORY;
        uint8_t *known = s->known[a];
        const float *w = weight.axis[a];
#pragma omp parallel for schedule(static)
        for (int64_t c = 0; c < (int64_t)values; c++) known[c] = w[c] > 1e-6f;
    }
    RH_TRY(extend(s, s->velocity, NEXT_FACES, status));
    for (int a = 0; a < tiles->dimension; a++) memcpy(s->before.axis[a], s->velocity.axis[a], values * sizeof(float));
    add_forces(s);
    return RH_OK;
}

// Faces inside inflows carry their given velocity.
static void set_inflow_faces(step *s)
{
    int64_t values = rh_tiles_values(&s->tiles);
    for (int a = 0; a < s->tiles.dimension && s->poured[a]; a++) {
        const uint8_t *poured = s->poured[a];
        float *u = s->velocity.axis[a];
        uint8_t *known = s->known[a];
        const float *wall = s->cut.wall.axis[a];
#pragma omp parallel for schedule(static)
        for (int64_t c = 0; c < values; c++)
            if (poured[c]) u[c] = wall[c], known[c] = 1;
    }
}

static rh_code project(step *s, rh_faces weight, rh_status *status)
{
    rh_cg_report solve;
    RH_TRY(rh_pressure_prepare(&s->pressure, &s->tiles, &s->surface, &s->cut, s->arena, status));
    RH_TRY(rh_pressure_project(&s->pressure, s->velocity, s->known, s->params->tolerance, (int)s->params->max_iterations, s->arena, &solve, status));
    s->report->cells = s->pressure.matrix.unknowns;
    s->report->iterations = solve.iterations;
    s->report->residual = solve.residual;
    if (!solve.converged)
        return rh_fail(status, RH_NUMERIC, "the pressure solve did not converge: relative residual %.2e after %d iterations (asked for %.2e); "
                       "try a larger physics.liquid.max_iterations or a smaller physics.liquid.cfl", solve.residual, solve.iterations, s->params->tolerance);
    if (s->params->pressure)
        rh_pressure_sample(&s->pressure, s->positions, (float)s->params->density * s->tiles.h / s->kick, rh_points_data(s->points, "pressure", RH_POINT_F32));
    keep_spray(s, weight);
    set_inflow_faces(s);
    return RH_OK;
}

static rh_code extend_and_constrain(step *s, rh_status *status)
{
    RH_TRY(extend(s, s->velocity, (float)margin_of(s->params), status));
    if (s->around->obstacles->count == 0) return RH_OK;
    rh_arena_mark mark = rh_arena_save(s->arena);
    rh_faces copy;
    RH_TRY(rh_faces_new(&copy, &s->tiles, false, s->arena, status));
    for (int a = 0; a < s->tiles.dimension; a++)
        memcpy(copy.axis[a], s->velocity.axis[a], (size_t)rh_tiles_values(&s->tiles) * sizeof(float));
    rh_walls_constrain(&s->tiles, &s->cut, s->around->obstacles, copy, s->velocity);
    rh_arena_restore(s->arena, mark);
    return RH_OK;
}

static rh_code correct_volume(step *s, rh_status *status)
{
    if (!s->params->volume_correction) return RH_OK;
    rh_cg_report solve;
    RH_TRY(rh_faces_new(&s->shift, &s->tiles, true, s->arena, status));
    RH_TRY(rh_volume_correction(&s->pressure, s->positions, per_cell(s), s->params->volume_tolerance, (int)s->params->max_iterations,
                                s->shift, s->known, s->arena, &solve, status));
    return extend(s, s->shift, NEXT_FACES, status);
}

// Largest face speed per component bounds every interpolated velocity.
static float max_face_speed(const step *s, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(s->arena);
    double *most = rh_arena_take(s->arena, ((size_t)s->tiles.count + 1) * sizeof *most, status);
    if (!most) return 0;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < s->tiles.count; t++) {
        most[t] = 0;
        for (int a = 0; a < s->tiles.dimension; a++)
            for (int64_t c = (int64_t)t * s->tiles.cells; c < (int64_t)(t + 1) * s->tiles.cells; c++)
                most[t] = fmax(most[t], (double)fabsf(s->velocity.axis[a][c]));
    }
    float speed = (float)rh_max(most, s->tiles.count);
    rh_arena_restore(s->arena, mark);
    return speed;
}

// Velocities so high that a particle would leave the grid's margin are cut down; only impacts of a single step get there.
static void clamp_speeds(const step *s)
{
    float limit = (float)speed_limit(s);
    int64_t values = rh_tiles_values(&s->tiles);
    for (int a = 0; a < s->tiles.dimension; a++) {
        float *u = s->velocity.axis[a];
#pragma omp parallel for schedule(static)
        for (int64_t c = 0; c < values; c++) u[c] = rh_clamp(u[c], -limit, limit);
    }
}

static rh_code to_particles(step *s, rh_status *status)
{
    static const rh_update updates[] = {RH_UPDATE_FLIP, RH_UPDATE_PIC, RH_UPDATE_APIC};
    clamp_speeds(s);
    float travel = max_face_speed(s, status) * s->dt * s->tiles.inverse_h;
    if (status->code != RH_OK) return status->code;
    int64_t values = rh_tiles_values(&s->tiles);
    for (int a = 0; a < s->tiles.dimension; a++) {
        float *before = s->before.axis[a];
        const float *u = s->velocity.axis[a];
#pragma omp parallel for schedule(static)
        for (int64_t c = 0; c < values; c++) before[c] = u[c] - before[c];
    }
    rh_gather gather = {.velocity = s->velocity, .change = s->before, .shift = s->shift, .update = updates[s->params->transfer],
                        .flip = (float)s->params->flip, .dt = s->dt, .order = s->params->advection == RH_ADVECT_RK2 ? 2 : 3, .max_travel = travel};
    rh_faces_to_particles(&s->tiles, &gather, s->positions, s->velocities, s->affine);
    if (s->params->volume_correction)
        rh_volume_scatter(&s->tiles, per_cell(s), s->around->seed, s->around->step, rh_points_data(s->points, "id", RH_POINT_I64), s->positions);
    return RH_OK;
}

static void collide(step *s)
{
    rh_obstacles_place(s->around->obstacles, s->around->time + (double)s->dt, 0);
    // A tenth of the spacing: near enough not to thin the liquid at walls, far enough that rounding cannot put it inside.
    rh_walls_collide(s->around->obstacles, 0.1 * (double)spacing(s), s->around->dimension, s->points->count, s->positions, s->velocities);
}

static double max_particle_speed(const rh_points *points)
{
    const rh_vec3 *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t p = 0; p < points->count; p++) {
        double speed = (double)rh_v3_dot(v[p], v[p]);
        if (speed > most || isnan(speed)) most = isnan(speed) ? INFINITY : speed;
    }
    return sqrt(most);
}

// Positions live at the ends of steps, velocities in their middles (leapfrog): from the middle of the last step to the middle of
// this one forces act for half of each, and for half a step at the start of a run. So a particle in free flight is on its
// parabola exactly; with forces for the whole of each step it was ahead by half a step, 15 % of the way after 0.2 s of fall.
static rh_code liquid_step(void *self, const rh_surroundings *around, double dt, rh_points *points, rh_step_report *report, rh_status *status)
{
    liquid *me = self;
    rh_status own = {0};
    if (!status) status = &own;  // some parts tell of failure through the status alone
    *report = (rh_step_report){0};
    if (points->count == 0) return RH_OK;
    rh_arena_reset(&me->arena);
    step s = {.params = &me->params, .around = around, .dt = (float)dt, .kick = 0.5f * (float)(around->previous_dt + dt), .points = points, .arena = &me->arena, .report = report, .clock = rh_seconds()};
    rh_faces weight;
    RH_TRY(sort_particles(&s, status));
    stage(&s, "sort");
    RH_TRY(build_solids(&s, status));
    stage(&s, "solids");
    RH_TRY(build_surface(&s, status));
    stage(&s, "surface");
    RH_TRY(rh_faces_new(&weight, &s.tiles, false, s.arena, status));
    RH_TRY(to_grid(&s, weight, status));
    stage(&s, "to_grid");
    RH_TRY(project(&s, weight, status));
    stage(&s, "pressure");
    RH_TRY(extend_and_constrain(&s, status));
    stage(&s, "extend");
    RH_TRY(correct_volume(&s, status));
    stage(&s, "volume");
    RH_TRY(to_particles(&s, status));
    stage(&s, "to_particles");
    collide(&s);
    report->max_speed = max_particle_speed(points);
    stage(&s, "collide");
    return isfinite(report->max_speed) ? RH_OK : rh_fail(status, RH_NUMERIC, "a particle's velocity is not a number after this step");
}

// --- the method's table -------------------------------------------------------------------------------------------
static rh_code liquid_create(const void *params, const rh_surroundings *around, rh_points *points, void **self, rh_status *status)
{
    (void)around;
    RH_TRY(rh_points_add(points, "P", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(points, "v", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(points, "id", RH_POINT_I64, status));
    liquid *me = rh_alloc_zero(sizeof *me, "liquid", status);
    if (!me) return RH_MEMORY;
    me->params = *(const rh_liquid_params *)params;
    rh_arena_init(&me->arena, "liquid.step");
    *self = me;
    if (me->params.pressure) RH_TRY(rh_points_add(points, "pressure", RH_POINT_F32, status));
    if (me->params.transfer != RH_TRANSFER_APIC) return RH_OK;
    RH_TRY(rh_points_add(points, "C", RH_POINT_MAT3F, status));
    rh_points_find(points, "C")->transient = true;
    return RH_OK;
}

static void liquid_destroy(void *self)
{
    liquid *me = self;
    if (!me) return;
    rh_arena_free(&me->arena);
    rh_free(me);
}

// Two limits: neither a particle nor a wall travels more than `cfl` cells, and the shortest surface waves the grid carries (two cells long,
// frequency sqrt(pi g / h)) stay stable under the symplectic step, omega dt < 2; we keep to 1.25.
static double liquid_max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    liquid *me = self;
    double h = around->cell, g = rh_d3_length(around->gravity), travel = me->params.cfl * h;
    rh_obstacles_place(around->obstacles, around->time, 0);
    double speed = fmax(max_particle_speed(points), rh_obstacles_max_speed(around->obstacles));
    double limit = 1e9;
    if (g > 0) limit = fmin(limit, 0.7 * sqrt(h / g));
    // From v dt + g dt^2 = travel: a particle at rest may fall during the step.
    if (g > 0 || speed > 0) limit = fmin(limit, 2 * travel / (speed + sqrt(speed * speed + 4 * g * travel)));
    return limit;
}

static int liquid_per_cell_axis(const void *params) { return (int)((const rh_liquid_params *)params)->particles_per_axis; }

static int64_t liquid_predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    const rh_liquid_params *p = params;
    int64_t cells = dimension == 3 ? 512 : 64;
    int64_t per_particle = 12 + 12 + 8 + 12 + 8 + 16 + (p->transfer == RH_TRANSFER_APIC ? 72 : 0) + (p->pressure ? 8 : 0);  // P, v, id, spares, sort
    int64_t per_cell = 4 * (dimension * 9 + 12) + 8;
    return particles * per_particle * 3 / 2 + tiles * (cells * per_cell + 256);
}

const rh_physics rh_liquid = {"liquid", &rh_liquid_table, liquid_create, liquid_destroy, liquid_max_step, liquid_step,
                              liquid_per_cell_axis, liquid_predict_bytes};
