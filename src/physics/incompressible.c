// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One step, in reading order (docs/theory/liquid.md has the equations):
//   sort          tiles around the particles, particles by tile and cell
//   solids        open shares of faces, wall velocities
//   surface       level set and cut edges from the particles
//   to grid       particle velocities and numbers to faces and cells; extended; forces
//   tension       curvature of the surface (only with surface tension)
//   pressure      projection
//   viscosity     where there is any: stress changes the velocities; projection once more
//   extend        velocities beyond the liquid; walls
//   update        PIC / FLIP / APIC update of the particles' velocities
//   volume        displacement against clumping (same operator)
//   advect        particles move
//   collide       particles out of solids
// and after any of them the stages that a method adds (stages.h): friction of sand after pressure.
#include "physics/incompressible.h"

#include <math.h>
#include <string.h>
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "grid/advect.h"
#include "grid/curvature.h"
#include "grid/outer_flow.h"
#include "grid/transfer.h"
#include "physics/buoyancy.h"
#include "physics/drag.h"
#include "physics/lines.h"
#include "physics/momentum_error.h"
#include "physics/thin_film.h"
#include "physics/observer.h"
#include "physics/time_step.h"
#include "physics/sides.h"
#include "physics/sealed.h"
#include "physics/still_edge.h"
#include "physics/step.h"
#include "physics/viscosity.h"
#include "physics/viscous_turns.h"
#include "physics/volume.h"
#include "physics/walls.h"

// Everything of the step in progress; lives in the arena.
typedef struct step {
    const rh_incompressible_options *params;
    const rh_step_method *method;
    const rh_surroundings *around;
    float dt;
    float kick;  // s: how long forces act in this step, see physics/step.h
    rh_points *points;
    rh_vec3 *positions, *velocities;
    rh_vec3 *start;  // positions at the start of the step; NULL without thin solids
    float (*affine)[9];
    rh_arena *arena;
    rh_cut_cache *cache;
    rh_neighbours *neighbours;
    rh_tiles tiles;
    rh_cut_cells cut;
    rh_surface surface;
    rh_tile_fill *fills;  // how full what is inside it is, before films count as liquid; NULL = not known
    rh_faces velocity;
    rh_faces spare;         // velocities before the step, then the shift of the volume correction
    rh_faces weight;        // particles around each face
    rh_faces force_change;  // what forces did, m/s; axis[0] NULL where it is `force_change_everywhere` everywhere
    rh_vec3 force_change_everywhere;
    rh_faces stress_change;  // what viscosity did, m/s; axis[0] NULL without it
    rh_faces own;  // velocities before it needed some beyond the liquid and in walls; axis[0] NULL when nobody asks
    rh_faces to_walls;     // what walls got by it, m/s of a full cell; axis[0] NULL when nobody asks
    const float *pressed;  // q that presses walls; NULL = all of it (viscous_turns.h)
    float *flip_shares;    // per tile: of FLIP in the blend; NULL without viscosity
    float *
        *count;  // particles around each cell's centre, tiles apart: those with liquid; NULL without volume correction
    uint8_t *reached[3];  // bits of faces that particles reach, a byte per row
    uint8_t *known[3];
    uint8_t *rigid;            // as in the view; NULL without added stages
    rh_solid_coupling solids;  // dynamic ones; nothing without any
    rh_surface_tension tension;
    rh_pressure pressure;
    rh_still_edge edge;
    rh_momentum_error *momentum_errors;  // what the particles gain in error; NULL = not known
    rh_vec3 *frame_share;                // per tile: share of common motion (rh_paths); NULL = not known
    rh_step_report *report;
    double clock;
} step;

static const char *const STAGES[] = {"sort",   "solids", "surface", "to_grid", "tension", "pressure", "viscosity",
                                     "extend", "update", "volume",  "advect",  "collide", NULL};

// A stage has ended; what the method has after it is done.
static rh_code stage(step *s, const char *name, rh_status *status)
{
    rh_incompressible_view view = {.around = s->around,
                                   .tiles = &s->tiles,
                                   .cut = &s->cut,
                                   .surface = &s->surface,
                                   .pressure = &s->pressure,
                                   .velocity = s->velocity,
                                   .known = s->known,
                                   .dt = s->dt,
                                   .kick = s->kick,
                                   .rigid = s->rigid,
                                   .arena = s->arena,
                                   .points = s->points};
    return rh_stages_end(s->method, name, &view, s->report, &s->clock, status);
}

// With viscosity FLIP fades into APIC (find_flip_shares).
static bool has_affine(const rh_incompressible_options *o)
{
    return o->transfer == RH_TRANSFER_APIC || (o->transfer == RH_TRANSFER_FLIP && rh_is_viscous(o));
}

static float spacing(const step *s) { return (float)s->around->cell / (float)s->params->particles_per_axis; }

static float per_cell(const step *s) { return powf((float)s->params->particles_per_axis, (float)s->around->dimension); }

static float pressure_at(const rh_step_view *view, rh_vec3 place) { return rh_pressure_at(view->solver, place); }

static void pushed(const rh_step_view *view, int32_t t, int axis, float *share)
{
    rh_pressure_pushed(view->solver, t, axis, share);
}

// Shows the step to whoever measures it.
static rh_code show(step *s, rh_sight what, rh_faces before, rh_status *status)
{
    if (!s->around->observer) return RH_OK;
    rh_step_view view = {.what = what,
                         .around = s->around,
                         .dt = s->dt,
                         .kick = s->kick,
                         .density = s->params->density,
                         .tiles = &s->tiles,
                         .points = s->points,
                         .arena = s->arena,
                         .cut = &s->cut,
                         .obstacles = s->around->obstacles,
                         .open = {s->cut.open[0], s->cut.open[1], s->cut.open[2]},
                         .layout = &s->pressure.layout,
                         .q = s->pressed ? s->pressed : s->pressure.q,
                         .jump = s->pressure.jump,
                         .speed = 1,
                         .q_at = pressure_at,
                         .pushed = pushed,
                         .sharp = true,
                         .solver = &s->pressure,
                         .friction = s->to_walls,
                         .velocity = s->velocity,
                         .before = before,
                         .fill = s->weight,
                         .full = per_cell(s)};
    return rh_observe(&view, status);
}

static const rh_faces NONE;  // no faces

static bool is_balanced(const step *s) { return !s->method->unbalanced; }

static bool has_tension(const step *s) { return s->params->surface_tension > 0; }

// Cells around particles that exist: what the transfers and the surface touch. A particle may leave them in a step
// (advect.h tells what it meets there).
enum { MARGIN = 3 };
// With tension the surface has to go on into walls as far as its smoothing looks (grid/curvature.c).
enum { MARGIN_WITH_TENSION = 5 };

// Cells beyond the liquid where velocities and distances are known.
static const float BAND = 4;

// No face is faster than a particle may go: a little more than cfl says, so that an impact is not cut down.
static float speed_limit(const step *s)
{
    double cells = s->params->cfl + 1 < 6 ? s->params->cfl + 1 : 6;
    return (float)(cells * s->around->cell / (double)s->dt);
}

static rh_code sort_particles(step *s, rh_status *status)
{
    rh_points *points = s->points;
    RH_TRY(rh_sides_leave(s->around, points, status));
    int margin = has_tension(s) ? MARGIN_WITH_TENSION : MARGIN;
    RH_TRY(rh_step_sort(s->around, margin, points, &s->tiles, s->arena, s->report, status));
    s->positions = rh_points_data(points, "P", RH_POINT_VEC3F);
    s->velocities = rh_points_data(points, "v", RH_POINT_VEC3F);
    s->affine = has_affine(s->params) ? rh_points_data(points, "C", RH_POINT_MAT3F) : NULL;
    return RH_OK;
}

static rh_code build_solids(step *s, rh_status *status)
{
    RH_TRY(rh_cut_cells_build(&s->cut, s->cache, &s->tiles, s->around->obstacles, s->arena, status));
    return rh_walls_add_inflows(&s->tiles, &s->cut, s->around->obstacles, s->around->inflows, s->around->inflow_count,
                                s->arena, status);
}

// Excess of material that rooms without an exit may hold, as a share of their volume.
static const double TOO_MUCH = 0.05;

static rh_code look_for_squeeze(step *s, rh_status *status)
{
    rh_sealed sealed;
    rh_sealed_options options = {.per_cell = (double)per_cell(s), .tolerance = TOO_MUCH};
    RH_TRY(rh_sealed_find(&sealed, &options, s->around, &s->tiles, &s->cut, s->arena, status));
    return rh_sealed_judge(&sealed, s->report, status);
}

static rh_code build_surface(step *s, rh_status *status)
{
    RH_TRY(rh_surface_build(&s->surface, &s->tiles, s->positions, spacing(s), s->cut.distance, BAND, s->arena, status));
    s->report->volume = rh_surface_volume(&s->tiles, s->surface.phi, s->cut.volume, s->arena, status);
    if (!s->params->volume_correction || !is_balanced(s)) return status->code;
    s->fills = rh_arena_take(s->arena, ((size_t)s->tiles.count + 1) * sizeof *s->fills, status);
    if (s->fills) rh_volume_measure(&s->tiles, s->surface.phi, s->cut.volume, s->positions, per_cell(s), s->fills);
    return status->code;
}

// Distance from the liquid at a face, in cells. Inside walls the liquid goes on as far as at them: a face deep in one
// that particles at it reach is no spray. (Taken for spray it fell freely, and particles at oblique walls slid along
// them at up to 0.06 sqrt(g depth) in water at rest.)
static float face_distance(const step *s, int a, int32_t t, int c)
{
    static const int step_near[3] = {1, 3, 9}, step_cell[3] = {1, 8, 64};
    const rh_tiles *tiles = &s->tiles;
    int edge = a == 0 ? c & 7 : a == 1 ? c >> 3 & 7 : c >> 6;
    int32_t other = edge ? t : tiles->near[t][RH_HERE - step_near[a]];
    float here = s->surface.phi[(int64_t)t * tiles->cells + c];
    if (other < 0) return here * tiles->inverse_h;
    float low = s->surface.phi[(int64_t)other * tiles->cells + (edge ? c - step_cell[a] : c + 7 * step_cell[a])];
    return 0.5f * (here + low) * tiles->inverse_h;
}

// Faces that only a few stray particles reach keep the velocity of these particles: spray flies freely. Near the liquid
// the liquid's extension is better: a face outside it has the change by gravity but none by pressure.
static void keep_spray(const step *s)
{
    int cells = s->tiles.cells;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < s->tiles.count; t++)
        for (int a = 0; a < s->tiles.dimension; a++)
            for (int c = 0; c < cells; c++) {
                int64_t at = (int64_t)t * cells + c;
                int reached = s->reached[a][at / 8] >> (c & 7);
                if (!reached) c |= 7;  // nothing more in this row
                else if ((reached & 1) && !s->known[a][at] && face_distance(s, a, t, c) > 1) s->known[a][at] = 1;
            }
}

// How far beyond the liquid faces need values, in cells: those that the projection reads (velocities before the step)
// and the shift on the faces of liquid cells; new velocities also on the next ones, which particles at the surface
// read, and as far as the flow carries particles.
static const float NEXT_FACES = 2, LIQUID_FACES = 1;

static rh_code extend(step *s, rh_faces field, float band, const float *bands, rh_status *status)
{
    return rh_faces_extend(&s->tiles, s->surface.phi, s->cut.distance, band, bands, field, s->known, s->arena, status);
}

// Room for the numbers of particles in tiles that may have liquid.
static rh_code take_counts(step *s, rh_status *status)
{
    const rh_tiles *tiles = &s->tiles;
    s->count = rh_arena_take(s->arena, ((size_t)tiles->count + 1) * sizeof *s->count, status);
    if (!s->count) return RH_MEMORY;
    for (int32_t t = 0; t < tiles->count; t++) {
        const float *phi = s->surface.phi + (int64_t)t * tiles->cells;
        rh_f8 least = rh_f8_all(0);
        for (int c = 0; c < tiles->cells; c += 8) least = rh_f8_min(least, rh_f8_load(phi + c));
        s->count[t] = NULL;
        bool may_be_film = s->cut.kind[t] != RH_TILE_FREE && rh_tile_first(tiles, t) < rh_tile_first(tiles, t + 1);
        if (!rh_i8_bits(least < rh_f8_all(0)) && !may_be_film) continue;
        s->count[t] = rh_arena_take(s->arena, (size_t)tiles->cells * sizeof(float), status);
        if (!s->count[t]) return RH_MEMORY;
    }
    return RH_OK;
}

static rh_code measure_force_change(step *s, rh_status *status)
{
    const rh_tiles *tiles = &s->tiles;
    rh_step_add_forces(s->around, (double)s->dt, s->kick, tiles, s->velocity, s->spare);
    s->force_change_everywhere = rh_v3_from(rh_d3_scale(s->around->gravity, (double)s->kick));
    if (!s->around->acceleration) return RH_OK;
    RH_TRY(rh_faces_new(&s->force_change, tiles, false, s->arena, status));
    for (int a = 0; a < tiles->dimension; a++) {
        float *out = s->force_change.axis[a];
        const float *now = s->velocity.axis[a], *before = s->spare.axis[a];
#pragma omp parallel for schedule(static)
        for (int64_t c = 0; c < rh_tiles_values(tiles); c++) out[c] = now[c] - before[c];
    }
    return RH_OK;
}

static rh_code to_grid(step *s, rh_status *status)
{
    const rh_tiles *tiles = &s->tiles;
    size_t values = (size_t)rh_tiles_values(tiles);
    RH_TRY(rh_faces_new(&s->velocity, tiles, false, s->arena, status));
    RH_TRY(rh_faces_new(&s->spare, tiles, false, s->arena, status));
    RH_TRY(rh_faces_new(&s->weight, tiles, false, s->arena, status));
    if (s->params->volume_correction) RH_TRY(take_counts(s, status));
    for (int a = 0; a < tiles->dimension; a++) {
        s->known[a] = rh_arena_take(s->arena, values, status);
        s->reached[a] = rh_arena_take(s->arena, values / 8 + 1, status);
        if (!s->known[a] || !s->reached[a]) return RH_MEMORY;
    }
    rh_particles_to_grid(tiles, s->positions, s->velocities, (const float(*)[9])s->affine, s->velocity, s->weight,
                         s->count);
    for (int a = 0; a < tiles->dimension; a++) {
        uint8_t *known = s->known[a], *reached = s->reached[a];
        const float *w = s->weight.axis[a];
#pragma omp parallel for schedule(static)
        for (int64_t row = 0; row < (int64_t)values / 8; row++) {
            reached[row] = (uint8_t)rh_i8_bits(rh_f8_load(w + 8 * row) > 1e-6f);
            for (int i = 0; i < 8; i++) known[8 * row + i] = reached[row] >> i & 1;
        }
    }
    RH_TRY(extend(s, s->velocity, LIQUID_FACES, NULL, status));
    return measure_force_change(s, status);
}

// The pressure attribute of particles. A step gives an impulse, and impulse over the length of the step is no pressure
// where the flow changes faster than steps follow: water that hits a floor is stopped within one step, with 27 kPa in
// steps of 10 ms and 178 kPa in steps of 1.25 ms. So it is an exponentially weighted mean over a time of its own: its
// integral over time is the impulse for any steps.
static void report_pressure(const step *s)
{
    double time = s->params->pressure_time;
    bool begins = s->around->previous_dt == 0;  // nothing to remember
    float weight = time > 0 && !begins ? (float)-expm1(-(double)s->dt / time) : 1;
    rh_pressure_sample(&s->pressure, s->positions, (float)s->params->density * s->tiles.h / s->kick, weight,
                       rh_points_data(s->points, "pressure", RH_POINT_F32));
}

static rh_solid_coupling_faces coupled_faces(const step *s)
{
    return (rh_solid_coupling_faces){s->velocity, s->weight, per_cell(s)};
}

static rh_code couple_solids(step *s, rh_status *status)
{
    const rh_solid_coupling_faces faces = coupled_faces(s);
    const float *const *const open[3] = {s->cut.open[0], s->cut.open[1], s->cut.open[2]};
    return rh_solid_coupling_prepare(&s->solids, s->around->dynamics, s->around->obstacles, &s->tiles, &s->cut, open,
                                     s->params->density, &faces, s->arena, status);
}

// The edge of liquid at rest is held (still_edge.h). With forces of the scene's own it is not known what rests.
static rh_code hold_edge(step *s, rh_status *status)
{
    double g = rh_d3_length(s->around->gravity);
    if (!is_balanced(s) || g == 0 || s->around->acceleration || s->around->obstacles->count == 0) return RH_OK;
    s->edge = (rh_still_edge){.tiles = &s->tiles,
                              .phi = s->surface.phi,
                              .before = s->spare,
                              .gravity = rh_v3_from(s->around->gravity),
                              .slow = 0.1f * (float)sqrt(g * s->around->cell),
                              .keep = 1 / (1 + 0.5f * s->kick * (float)sqrt(g / s->around->cell))};
    return rh_still_edge_close(&s->edge, &s->cut, s->arena, status);
}

// What the tension of a surface bent as much as a cell does in a step, m/s.
static float tension_change(const step *s)
{
    double h = s->around->cell;
    return (float)(s->params->surface_tension * (double)s->kick / (s->params->density * h * h));
}

static void support_films(step *s)
{
    if (is_balanced(s))
        rh_thin_films_support(&s->tiles, &s->cut, s->velocity,
                              rh_v3_length(s->force_change_everywhere) + tension_change(s), s->surface.phi);
}

static rh_code find_curvature(step *s, rh_status *status)
{
    if (!has_tension(s)) return RH_OK;
    double angle = s->params->contact_angle;
    rh_curvature_input input = {.tiles = &s->tiles,
                                .surface = &s->surface,
                                .solid = s->around->obstacles->count > 0 ? s->cut.distance : NULL,
                                .contact = angle == 90 ? 0 : cos(angle * M_PI / 180)};
    rh_faces curvature;
    RH_TRY(rh_curvature_build(&input, &curvature, s->arena, status));
    rh_surface_tension_init(&s->tension, curvature, s->params->surface_tension, s->params->density, s->around->cell,
                            (double)s->dt, (double)s->kick, s->arena, status);
    return stage(s, "tension", status);
}

static rh_code solve_pressure(step *s, rh_status *status)
{
    rh_cg_report solve;
    RH_TRY(rh_pressure_project(&s->pressure, s->velocity, s->known, s->params->tolerance,
                               (int)s->params->max_iterations, s->arena, &solve, status));
    s->report->cells = s->pressure.matrix.unknowns;
    s->report->iterations += solve.iterations;
    s->report->residual = solve.residual;
    s->report->unconverged = !solve.converged;
    if (!solve.converged)
        return rh_fail(
            status, RH_NUMERIC,
            "the pressure solve did not converge: relative residual %.2e after %d iterations (asked for %.2e); "
            "try a larger physics.%s.max_iterations or a smaller physics.%s.cfl",
            solve.residual, solve.iterations, s->params->tolerance, s->method->name, s->method->name);
    return RH_OK;
}

static rh_code project(step *s, rh_status *status)
{
    bool coupled = s->around->dynamics != NULL;
    if (coupled) RH_TRY(couple_solids(s, status));
    RH_TRY(hold_edge(s, status));
    if (s->method->stage_count) {
        s->rigid = rh_arena_take_zero(s->arena, (size_t)rh_tiles_values(&s->tiles) / 8 + 1, status);
        if (!s->rigid) return RH_MEMORY;
    }
    RH_TRY(rh_pressure_prepare(&s->pressure, &s->tiles, &s->surface, &s->cut, coupled ? &s->solids : NULL,
                               is_balanced(s), (rh_precondition)s->params->preconditioner, s->arena, status));
    if (coupled) {
        const rh_solid_coupling_faces faces = coupled_faces(s);
        RH_TRY(rh_buoyancy_find(&s->solids, &faces, &s->pressure.layout, s->arena, status));
        rh_solid_coupling_follow(&s->solids);
    }
    if (has_tension(s)) {
        s->pressure.tension = &s->tension;
        RH_TRY(rh_faces_new(&s->pressure.jump, &s->tiles, true, s->arena, status));
        float heavier = s->tension.inertia * (float)(2 * (s->tiles.dimension - 1));
        if (heavier > 0) RH_TRY(rh_pressure_weigh_surface(&s->pressure, heavier, s->arena, status));
    }
    return solve_pressure(s, status);
}

// --- viscosity -------------------------------------------------------------------------------------------------------
static rh_code project_again(void *user, rh_status *status) { return solve_pressure(user, status); }

static rh_code thicken(step *s, rh_status *status)
{
    if (!rh_is_viscous(s->params)) return RH_OK;
    RH_TRY(stage(s, "pressure", status));
    RH_TRY(rh_faces_new(&s->stress_change, &s->tiles, false, s->arena, status));
    bool watched = s->around->observer && s->around->obstacles->count > 0;
    if (watched) {
        RH_TRY(rh_faces_new(&s->to_walls, &s->tiles, true, s->arena, status));
        RH_TRY(rh_faces_copy(&s->own, s->velocity, &s->tiles, s->arena, status));
    }
    rh_viscous_step viscous = {.params = s->params,
                               .around = s->around,
                               .tiles = &s->tiles,
                               .surface = &s->surface,
                               .cut = &s->cut,
                               .name = s->method->name,
                               .points = s->points,
                               .kick = s->kick,
                               .pressure = &s->pressure,
                               .solids = &s->solids,
                               .velocity = s->velocity,
                               .known = s->known,
                               .weight = s->weight,
                               .per_cell = per_cell(s),
                               .change = s->stress_change,
                               .to_walls = s->to_walls,
                               .project = project_again,
                               .user = s,
                               .arena = s->arena,
                               .report = s->report};
    RH_TRY(rh_viscous_act(&viscous, status));
    s->pressed = viscous.pressed;
    return watched ? show(s, RH_SIGHT_FRICTION, NONE, status) : RH_OK;
}

// How much of their own velocities particles keep: the fluctuations that FLIP keeps are smaller than a cell, where the
// grid's viscosity does not see them; they decay as it would have them. What is left out of them the particles get from
// the grid with its slopes: the blend goes from FLIP to APIC, which does not slow rotation as PIC does.
static rh_code find_flip_shares(step *s, rh_status *status)
{
    const rh_tiles *tiles = &s->tiles;
    if (!rh_is_viscous(s->params)) return RH_OK;
    s->flip_shares = rh_arena_take(s->arena, ((size_t)tiles->count + 1) * sizeof *s->flip_shares, status);
    if (!s->flip_shares) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        double mean = rh_viscous_of_tile(s->params, tiles, s->points, t);
        s->flip_shares[t] = (float)(s->params->flip *
                                    rh_viscosity_leaves(mean, s->params->density, (double)s->kick, s->around->cell));
    }
    return RH_OK;
}

static rh_code balance_beyond(step *s, rh_status *status)
{
    rh_outer_flow beyond = {.tiles = &s->tiles,
                            .phi = s->surface.phi,
                            .open = {s->cut.open[0], s->cut.open[1], s->cut.open[2]},
                            .wall = {s->cut.wall[0], s->cut.wall[1], s->cut.wall[2]},
                            .velocity = s->velocity,
                            .known = {s->known[0], s->known[1], s->known[2]}};
    return rh_outer_flow_balance(&beyond, s->arena, status);
}

// What observers see as the velocities before walls act. Viscosity asks for values on faces that no pressure moved;
// what their particles had, and what stress gave them, walls take from them. (Without the latter a ball in a drop lost
// 4e-4 of all momentum in the few steps in which a shore lay at its wall.)
static rh_code before_walls(step *s, rh_faces *before, rh_status *status)
{
    if (!s->around->observer) return RH_OK;
    RH_TRY(rh_faces_copy(before, s->velocity, &s->tiles, s->arena, status));
    for (int a = 0; a < s->tiles.dimension && s->own.axis[0]; a++)
        for (int64_t c = 0; c < rh_tiles_values(&s->tiles); c++)
            if (!s->known[a][c]) before->axis[a][c] = s->own.axis[a][c] + s->stress_change.axis[a][c];
    return RH_OK;
}

// Values beyond the liquid, from projected faces and those of spray and inflows; then walls.
static rh_code extend_and_constrain(step *s, rh_status *status)
{
    rh_faces before = NONE;
    RH_TRY(before_walls(s, &before, status));
    keep_spray(s);
    rh_walls_set_inflow_velocities(&s->tiles, &s->cut, s->velocity, s->known);
    rh_still_edge_set(&s->edge, &s->cut, s->velocity, s->known);
    rh_arena_mark mark = rh_arena_save(s->arena);
    float *bands = rh_arena_take(s->arena, ((size_t)s->tiles.count + 1) * sizeof *bands, status);
    if (!bands) return RH_MEMORY;
    RH_TRY(rh_faces_farthest(&s->tiles, s->velocity, s->dt, bands, s->arena, status));
    for (int32_t t = 0; t < s->tiles.count; t++) bands[t] = rh_clamp(bands[t] + 1, NEXT_FACES, BAND);
    RH_TRY(extend(s, s->velocity, BAND, bands, status));
    rh_arena_restore(s->arena, mark);
    if (is_balanced(s)) RH_TRY(balance_beyond(s, status));
    if (s->around->obstacles->count > 0)
        RH_TRY(rh_walls_constrain(&s->tiles, &s->cut, s->around->obstacles, s->velocity, false, s->arena, status));
    rh_still_edge_set(&s->edge, &s->cut, s->velocity, s->known);  // those in walls once more
    return show(s, RH_SIGHT_FLOWS, before, status);
}

// All solids are dynamic: nothing else takes momentum.
static bool walls_return(const step *s)
{
    const rh_obstacles *all = s->around->obstacles;
    bool dynamic = s->around->dynamics != NULL && s->around->inflow_count == 0;
    for (int i = 0; i < all->count; i++) dynamic = dynamic && all->items[i].kind == RH_SOLID_DYNAMIC;
    return dynamic;
}

// The velocities that only forces and pressure have changed since: those before the step with what viscosity did.
static rh_code before_pressure(step *s, rh_faces *before, rh_status *status)
{
    if (!s->stress_change.axis[0]) return RH_OK;
    RH_TRY(rh_faces_copy(before, s->stress_change, &s->tiles, s->arena, status));
    for (int a = 0; a < s->tiles.dimension; a++)
#pragma omp parallel for schedule(static)
        for (int64_t c = 0; c < rh_tiles_values(&s->tiles); c++) before->axis[a][c] += s->spare.axis[a][c];
    return RH_OK;
}

// Particles take over the changes of the face velocities. No face exceeds the speed limit: what that takes is momentum
// that pressure gave and particles did not get, so errors are measured first.
static rh_code update_velocities(step *s, rh_status *status)
{
    static const rh_update updates[] = {RH_UPDATE_FLIP, RH_UPDATE_PIC, RH_UPDATE_APIC};
    RH_TRY(find_flip_shares(s, status));
    rh_velocity_update update = {s->velocity, s->spare, updates[s->params->transfer], (float)s->params->flip,
                                 s->flip_shares};
    if (is_balanced(s)) {
        rh_faces before = s->spare;
        RH_TRY(before_pressure(s, &before, status));
        bool no_slip_walls = rh_walls_any_no_slip(s->around->obstacles);
        s->momentum_errors = rh_arena_take(s->arena, ((size_t)s->tiles.count + 1) * sizeof *s->momentum_errors, status);
        if (!s->momentum_errors) return RH_MEMORY;
        rh_momentum_error_measure(&(rh_momentum_error_input){&s->pressure, s->weight, per_cell(s), before, s->velocity,
                                                             s->force_change, s->force_change_everywhere,
                                                             speed_limit(s), no_slip_walls, walls_return(s)},
                                  s->momentum_errors);
        update.velocity = s->weight;
    }
    rh_step_limit_speed(&s->tiles, s->velocity, speed_limit(s));
    s->report->max_speed = rh_grid_to_velocities(&s->tiles, &update, s->positions, s->velocities, s->affine);
    rh_still_edge_calm(&s->edge, s->velocity, s->momentum_errors, s->velocities);
    return RH_OK;
}

// Leaves the displacement in s->spare.
static rh_code correct_volume(step *s, rh_status *status)
{
    if (!s->params->volume_correction) return RH_OK;
    const rh_tiles *tiles = &s->tiles;
    rh_cg_report solve;
    s->pressure.jump = NONE;  // displacements know no tension
    RH_TRY(rh_pressure_weigh_surface(&s->pressure, 0, s->arena, status));
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++)
            memset(s->spare.axis[a] + (int64_t)t * tiles->cells, 0, (size_t)tiles->cells * sizeof(float));
    rh_volume_input input = {.count = (const float *const *)s->count,
                             .per_cell = per_cell(s),
                             .fills = s->fills,
                             .sags = !has_tension(s) && !rh_is_viscous(s->params),
                             .rigid = s->rigid,
                             .velocity = s->velocity,
                             .frame_share = s->frame_share,
                             .gravity = rh_v3_from(s->around->gravity),
                             .dt = s->dt,
                             .tolerance = s->params->volume_tolerance,
                             .max_iterations = (int)s->params->max_iterations};
    RH_TRY(rh_volume_correction(&s->pressure, &input, s->spare, s->known, s->arena, &solve, status));
    return extend(s, s->spare, LIQUID_FACES, NULL, status);
}

// Takes back the momentum that the particles gained in error, and finds the share of motion that the liquid of each
// tile has in common.
static rh_code settle(step *s, rh_status *status)
{
    if (!is_balanced(s)) return RH_OK;
    s->frame_share = rh_arena_take_zero(s->arena, ((size_t)s->tiles.count + 1) * sizeof *s->frame_share, status);
    return s->frame_share ? rh_momentum_error_correct(&s->tiles, s->momentum_errors, s->velocities, s->frame_share,
                                                      s->arena, status)
                          : RH_MEMORY;
}

// Last, and on the particles: the pressure of the next step sees it in their velocities, and a step that fails before
// has changed nothing.
static rh_code slow_at_rough_walls(step *s, rh_status *status)
{
    const rh_obstacles *obstacles = s->around->obstacles;
    if (!s->method->drag || !rh_drag_any(obstacles)) return RH_OK;
    return rh_drag_apply(&s->tiles, &s->cut, obstacles, per_cell(s), s->kick, s->positions, s->velocities, s->arena,
                         status);
}

// Parts particles that no displacement field can: those at one point, and lines that the flow has stretched.
static void part_particles(step *s)
{
    const int64_t *ids = rh_points_data(s->points, "id", RH_POINT_I64);
    rh_volume_scatter(&s->tiles, s->rigid, per_cell(s), s->around->seed, s->around->step, ids, s->around->first_id,
                      s->positions);
    rh_lines_input lines = {.velocity = s->velocity,
                            .dt = s->dt,
                            .particles_per_axis = (int)s->params->particles_per_axis,
                            .seed = s->around->seed,
                            .step = s->around->step,
                            .ids = ids,
                            .first_id = s->around->first_id};
    if (is_balanced(s)) rh_lines_break(&s->tiles, &lines, s->positions);
}

static rh_code advect(step *s, rh_status *status)
{
    if (rh_sides_walk(s->around)) {
        size_t bytes = (size_t)s->points->count * sizeof *s->start;
        s->start = rh_arena_take(s->arena, bytes, status);
        if (!s->start) return RH_MEMORY;
        memcpy(s->start, s->positions, bytes);
    }
    rh_paths way = {.velocity = s->velocity,
                    .dt = s->dt,
                    .rule = s->params->advection == RH_ADVECT_RK2 ? RH_PATH_MIDPOINT : RH_PATH_RALSTON,
                    .distance = s->surface.phi,
                    .free_beyond = s->tiles.h};
    if (s->params->volume_correction) way.shift = s->spare;
    way.frame_share = s->frame_share;
    RH_TRY(rh_particles_advect(&s->tiles, &way, s->velocities, s->positions, s->arena, status));
    if (s->params->volume_correction) part_particles(s);
    rh_position_report found;
    rh_position_input apart = {.how = (rh_position_correction)s->params->position_correction,
                               .tiles = &s->tiles,
                               .cut = &s->cut,
                               .spacing = spacing(s),
                               .sweeps = (int)s->params->position_sweeps,
                               .count = s->points->count};
    RH_TRY(rh_position_correct(&apart, s->neighbours, s->positions, s->arena, &found, status));
    rh_sides_return(s->around, s->points, s->start, s->positions);
    return RH_OK;
}

static void collide(step *s)
{
    // A tenth of the spacing: near enough not to thin the liquid at walls, far enough that rounding cannot put it
    // inside.
    rh_collision collision = {.gap = 0.1 * (double)spacing(s), .stop = true, .friction = s->method->friction};
    rh_sides_hold(s->around, &collision, s->points->count, s->start, s->positions, s->velocities);
    rh_walls_collide(&s->tiles, &s->cut, s->around->obstacles_after, &collision, s->positions, s->velocities);
    rh_sides_hold(s->around, &collision, s->points->count, s->start, s->positions, s->velocities);
}

rh_code rh_incompressible_step(rh_incompressible *me, const rh_surroundings *around, double dt, rh_points *points,
                               rh_step_report *report, rh_status *status)
{
    rh_status own = {0};
    if (!status) status = &own;  // some parts tell of failure through the status alone
    *report = (rh_step_report){0};
    if (points->count == 0) return RH_OK;
    rh_arena_reset(&me->arena);
    step s = {.params = &me->options,
              .method = &me->method,
              .around = around,
              .dt = (float)dt,
              .kick = rh_step_kick(around, dt),
              .points = points,
              .arena = &me->arena,
              .cache = &me->cut,
              .neighbours = &me->neighbours,
              .report = report,
              .clock = rh_seconds()};
    RH_TRY(sort_particles(&s, status));
    RH_TRY(show(&s, RH_SIGHT_SORTED, NONE, status));
    RH_TRY(stage(&s, "sort", status));
    RH_TRY(build_solids(&s, status));
    RH_TRY(look_for_squeeze(&s, status));
    RH_TRY(stage(&s, "solids", status));
    RH_TRY(build_surface(&s, status));
    RH_TRY(stage(&s, "surface", status));
    RH_TRY(to_grid(&s, status));
    RH_TRY(stage(&s, "to_grid", status));
    support_films(&s);
    RH_TRY(find_curvature(&s, status));
    RH_TRY(project(&s, status));
    RH_TRY(thicken(&s, status));
    if (s.params->pressure) report_pressure(&s);
    RH_TRY(show(&s, RH_SIGHT_PRESSED, NONE, status));
    RH_TRY(stage(&s, rh_is_viscous(s.params) ? "viscosity" : "pressure", status));
    RH_TRY(extend_and_constrain(&s, status));
    RH_TRY(stage(&s, "extend", status));
    RH_TRY(update_velocities(&s, status));
    RH_TRY(settle(&s, status));
    RH_TRY(slow_at_rough_walls(&s, status));
    RH_TRY(stage(&s, "update", status));
    RH_TRY(correct_volume(&s, status));
    RH_TRY(stage(&s, "volume", status));
    RH_TRY(advect(&s, status));
    RH_TRY(show(&s, RH_SIGHT_MOVED, NONE, status));
    RH_TRY(stage(&s, "advect", status));
    collide(&s);
    RH_TRY(stage(&s, "collide", status));
    return isfinite(report->max_speed)
               ? RH_OK
               : rh_fail(status, RH_NUMERIC, "a particle's velocity is not a number after this step");
}

// --- the object ------------------------------------------------------------------------------------------------------
rh_code rh_incompressible_create(const rh_incompressible_options *options, const rh_step_method *method,
                                 rh_points *points, rh_incompressible *me, rh_status *status)
{
    RH_ASSERT(rh_stages_fit(method, STAGES));
    *me = (rh_incompressible){.options = *options, .method = *method};
    rh_arena_init(&me->arena, "incompressible.step");
    RH_TRY(rh_points_add(points, "P", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(points, "v", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(points, "id", RH_POINT_I64, status));
    if (options->pressure) RH_TRY(rh_points_add(points, "pressure", RH_POINT_F32, status));
    if (options->viscosity_varies) RH_TRY(rh_points_add(points, "viscosity", RH_POINT_F32, status));
    if (!has_affine(options)) return RH_OK;
    RH_TRY(rh_points_add(points, "C", RH_POINT_MAT3F, status));
    rh_points_find(points, "C")->transient = true;
    return RH_OK;
}

void rh_incompressible_free(rh_incompressible *me)
{
    rh_arena_free(&me->arena);
    rh_cut_cache_free(&me->cut);
    rh_neighbours_free(&me->neighbours);
}

int64_t rh_incompressible_predict_bytes(const rh_incompressible_options *p, int dimension, int64_t particles,
                                        int64_t tiles)
{
    int64_t cells = dimension == 3 ? 512 : 64;
    bool apic = has_affine(p), viscous = rh_is_viscous(p);
    int64_t per_particle = 12 + 12 + 8 + (apic ? 36 + 36 : 12) + (p->pressure ? 4 : 0) +
                           (p->viscosity_varies ? 4 : 0);  // P, v, id, C; the spare block
    int64_t per_cell =
        4 + 4 + 4 + dimension * (2 * 4 + 2) + 24 + 10 +
        (viscous ? 90 * dimension
                 : 0);  // first, phi, numbers; faces twice and their marks; solver and solids, where they are
    int64_t grid = tiles * (cells * per_cell + 256), sort = 12 * particles;
    return particles * per_particle + (grid > sort ? grid : sort);
}
