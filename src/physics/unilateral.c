// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One step of a material that only pushes, in reading order (docs/theory/splash.md has the equations; Gerszewski
// 2014, section 3.2, with the density correction placed after to_grid):
//   sort          tiles around the particles, particles by tile and cell
//   solids        room for liquid around cells and faces
//   to_grid       particle mass and velocity to faces, mass to cells
//   density       displacement out of overfull cells (a first complementarity problem)
//   forces        what they do to velocities
//   predict       how full cells will be
//   pressure      pressure that keeps cells from overfilling (a second one), new velocities
//   make_way      pressure once more, where friction after it holds material back that has to leave overfull cells
//   extend        velocities beyond the liquid
//   update        PIC / FLIP update of the particles' velocities
//   advect        particles are shifted and move
//   collide       particles out of solids
// and after any of them the stages that a method adds (stages.h).
#include "physics/unilateral.h"

#include <math.h>
#include <string.h>
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "grid/advect.h"
#include "grid/ahead.h"
#include "grid/extent.h"
#include "grid/spread.h"
#include "grid/transfer.h"
#include "physics/carry.h"
#include "physics/dead_cells.h"
#include "physics/drag.h"
#include "physics/observer.h"
#include "physics/pushed.h"
#include "physics/time_step.h"
#include "physics/sides.h"
#include "physics/solid_coupling.h"
#include "physics/sealed.h"
#include "physics/step.h"
#include "physics/walls.h"
#include "physics/water_edge.h"

// Everything of the step in progress; lives in the arena.
typedef struct step {
    rh_unilateral *me;
    const rh_unilateral_options *options;
    const rh_step_method *method;
    const rh_surroundings *around;
    float dt;
    float kick;  // s: how long forces act in this step, see physics/step.h
    rh_points *points;
    rh_vec3 *positions, *velocities;
    rh_vec3 *start;  // positions at the start of the step; NULL without solids
    rh_arena *arena;
    rh_tiles tiles;
    rh_cut_cells cut, cut_after;  // solids at the start and at the end of the step
    rh_faces velocity, before, shift;
    rh_faces fill, fill_after;  // filling of faces as the particles are, and after the density correction
    float *raw, *cells;         // the same of cells
    rh_sealed sealed;
    rh_limit limit;
    rh_solid_coupling solids;  // dynamic ones; nothing without any
    float *q;                  // pressure
    rh_step_report *report;
    double clock;
} step;

// Pressure (Pa) that a filling of q stands for.
static float pressure_unit(const step *s)
{
    return (float)s->options->density * s->tiles.h * s->tiles.h / (s->dt * s->kick);
}

static const char *const STAGES[] = {"sort",     "solids", "to_grid", "density", "forces",  "predict", "pressure",
                                     "make_way", "extend", "update",  "advect",  "collide", NULL};

// A stage has ended; what the method has after it is done.
static rh_code stage(step *s, const char *name, rh_status *status)
{
    rh_unilateral_view view = {.around = s->around,
                               .tiles = &s->tiles,
                               .cut = &s->cut,
                               .limit = &s->limit,
                               .cells = s->raw,
                               .q = s->q,
                               .density = s->options->density,
                               .pressure_unit = pressure_unit(s),
                               .velocity = s->velocity,
                               .before = s->before,
                               .dt = s->dt,
                               .kick = s->kick,
                               .arena = s->arena,
                               .positions = s->positions,
                               .velocities = s->velocities,
                               .points = s->points};
    return rh_stages_end(s->method, name, &view, s->report, &s->clock, status);
}

static float pressure_at(const rh_step_view *view, rh_vec3 place) { return rh_carry_at(view->layout, view->q, place); }

// What a particle adds to the filling of a cell.
static float share(const step *s)
{
    return (float)(s->options->particle_mass / pow((double)s->options->particles_per_axis, s->around->dimension));
}

// Shows the step to whoever measures it.
static rh_code show(step *s, rh_sight what, const float *q, rh_faces before, rh_status *status)
{
    if (!s->around->observer) return RH_OK;
    const rh_limit *l = &s->limit;
    rh_step_view view = {.what = what,
                         .around = s->around,
                         .dt = s->dt,
                         .kick = s->kick,
                         .density = s->options->density,
                         .tiles = &s->tiles,
                         .points = s->points,
                         .arena = s->arena,
                         .cut = l->cut,
                         .obstacles = s->around->obstacles_after,
                         .layout = &l->layout,
                         .q = q,
                         .speed = s->tiles.h / s->dt,
                         .q_at = pressure_at,
                         .velocity = s->velocity,
                         .before = before,
                         .fill = s->fill,
                         .full = 1};
    for (int a = 0; a < s->tiles.dimension && l->cut; a++)
        view.open[a] = s->options->limit.two_sided ? l->link[a] : l->cut->pass[a];
    return rh_observe(&view, status);
}

static const rh_faces NONE;  // no faces

static bool two_sided(const step *s) { return s->options->limit.two_sided; }

// Cells around particles that exist: their weights reach one, velocities are spread four.
enum { MARGIN = 4, LEAST_SWEEPS = 4 };

// No face is faster than a particle may go in a step. Any lower limit took momentum from the thin faces that an impact
// shoots away: 5e-4 of it in a collision at 3 cells.
enum { FARTHEST = 5 };
static float speed_limit(const step *s) { return (float)(FARTHEST * s->around->cell) / s->dt; }

static rh_code sort_particles(step *s, rh_status *status)
{
    rh_points *points = s->points;
    RH_TRY(rh_sides_leave(s->around, points, status));
    RH_TRY(rh_step_sort(s->around, MARGIN, points, &s->tiles, s->arena, s->report, status));
    s->positions = rh_points_data(points, "P", RH_POINT_VEC3F);
    s->velocities = rh_points_data(points, "v", RH_POINT_VEC3F);
    return RH_OK;
}

static rh_code build_solids(step *s, rh_cut_cells *cut, rh_cut_cache *cache, const rh_obstacles *obstacles,
                            rh_status *status)
{
    const rh_surroundings *around = s->around;
    RH_TRY(rh_cut_cells_build(cut, cache, &s->tiles, obstacles, s->arena, status));
    return rh_walls_add_inflows(&s->tiles, cut, obstacles, around->inflows, around->inflow_count, s->arena, status);
}

// Solids at the start and at the end of the step: the density correction takes liquid out of cells that are overfull
// now, pressure keeps it out of those that will be.
static rh_code build_all_solids(step *s, rh_status *status)
{
    const rh_surroundings *around = s->around;
    if (around->obstacles->any_moving) {  // where the last step ended this one begins
        rh_cut_cache start = s->me->cut_after;
        s->me->cut_after = s->me->cut;
        s->me->cut = start;
    }
    RH_TRY(build_solids(s, &s->cut, &s->me->cut, around->obstacles, status));
    s->cut_after = s->cut;
    if (around->obstacles->any_moving)
        RH_TRY(build_solids(s, &s->cut_after, &s->me->cut_after, around->obstacles_after, status));
    return RH_OK;
}

// --- mass and velocity on the grid -----------------------------------------------------------------------------------
static void scale(float *values, int64_t count, float by)
{
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < count; c++) values[c] *= by;
}

// Excess of material that rooms without an exit may hold, as a share of their volume: at least TOO_MUCH, and a little
// more than densely packed grains have.
static const double TOO_MUCH = 0.05, MORE_THAN_DENSE = 0.01;

static rh_code find_sealed(step *s, rh_status *status)
{
    rh_sealed_options options = {.blurred = true,
                                 .per_cell = 1 / (double)share(s),
                                 .tolerance = fmax(TOO_MUCH, s->options->limit.allowed_overfill + MORE_THAN_DENSE)};
    RH_TRY(rh_sealed_find(&s->sealed, &options, s->around, &s->tiles, &s->cut, s->arena, status));
    return rh_sealed_judge(&s->sealed, s->report, status);
}

// In rooms that are nearly full and have no exit empty cells are unknowns too, with the room they have. Elsewhere they
// are air, and air takes any amount: all the excess in a sealed box of sand ran into the one cell that happened to be
// empty, nine cells' worth at once, and the next step threw it out again, at thousands of metres a second.
static rh_code prepare(step *s, const rh_cut_cells *cut, rh_status *status)
{
    uint8_t *also = s->sealed.tight;
    rh_dead_cells dead = {&s->tiles,         cut, s->around->obstacles, s->cells, (float)s->options->limit.air,
                          s->around->gravity};
    if (s->options->shares == RH_BLUR_SHUT && s->around->obstacles->count > 0)
        RH_TRY(rh_dead_cells_find(&dead, also, s->arena, &also, status));
    return rh_limit_prepare(&s->limit, &s->options->limit, &s->tiles, cut, s->cells, s->fill, also, s->arena, status);
}

static rh_code to_grid(step *s, rh_status *status)
{
    const rh_tiles *tiles = &s->tiles;
    RH_TRY(rh_faces_new(&s->velocity, tiles, false, s->arena, status));
    RH_TRY(rh_faces_new(&s->before, tiles, false, s->arena, status));
    RH_TRY(rh_faces_new(&s->shift, tiles, true, s->arena, status));
    RH_TRY(rh_faces_new(&s->fill, tiles, false, s->arena, status));
    s->cells = rh_field_new(tiles, s->arena, status);
    s->raw = rh_field_new(tiles, s->arena, status);
    float **table = rh_arena_take(s->arena, ((size_t)tiles->count + 1) * sizeof *table, status);
    if (!s->cells || !s->raw || !table) return RH_MEMORY;
    for (int32_t t = 0; t < tiles->count; t++) table[t] = s->cells + (int64_t)t * tiles->cells;
    rh_particles_to_grid(tiles, s->positions, s->velocities, NULL, s->velocity, s->fill, table);
    for (int a = 0; a < tiles->dimension; a++) scale(s->fill.axis[a], rh_tiles_values(tiles), share(s));
    scale(s->cells, rh_tiles_values(tiles), share(s));
    memcpy(s->raw, s->cells, (size_t)rh_tiles_values(tiles) * sizeof(float));
    RH_TRY(find_sealed(s, status));
    return prepare(s, &s->cut, status);
}

// The volume that the material takes up. (All mass over density would only tell that no particle was lost.)
static rh_code measure_volume(step *s, rh_status *status)
{
    s->report->volume = rh_extent_volume(&s->tiles, s->raw, s->cut.room, s->arena, status);
    return status->code;
}

// --- the two problems ------------------------------------------------------------------------------------------------
// `term`: of solids that the pressure moves; NULL = none does.
static rh_code solve_to(step *s, double tolerance, const rh_term *term, float *b, const float *lower, float *x,
                        const char *what, rh_mprgp_report *report, rh_status *status)
{
    const rh_unilateral_options *p = s->options;
    rh_arena_mark mark = rh_arena_save(s->arena);
    rh_mprgp_options options = {.tolerance = tolerance,
                                .largest = 0,
                                .max_iterations = (int)p->max_iterations,
                                .preconditioner = (rh_precondition)p->preconditioner,
                                .expansion = (rh_expansion)p->expansion,
                                .estimate_norm = p->estimate_norm,
                                .term = term,
                                .bodies = term ? &s->solids.bodies : NULL};
    float *w = rh_poisson_vector(&s->limit.matrix, s->arena, status);
    if (!w) return RH_MEMORY;
    RH_TRY(rh_mprgp_solve(&s->limit.matrix, b, lower, x, w, &options, s->arena, report, status));
    rh_arena_restore(s->arena, mark);
    if (report->converged) return RH_OK;
    s->report->unconverged = true;
    return rh_fail(status, RH_NUMERIC,
                   "the %s solve did not converge: relative residual %.2e after %d iterations (asked for %.2e); "
                   "try a larger physics.%s.max_iterations or a smaller physics.%s.cfl",
                   what, report->residual, report->iterations, tolerance, s->method->name, s->method->name);
}

static rh_code solve(step *s, const rh_term *term, float *b, const float *lower, float *x, const char *what,
                     rh_mprgp_report *report, rh_status *status)
{
    return solve_to(s, s->options->tolerance, term, b, lower, x, what, report, status);
}

static void note_solve(step *s, const char *of_stage, const rh_mprgp_report *r)
{
    RH_ASSERT(s->report->solve_count < RH_MAX_SOLVES);
    s->report->iterations += r->iterations;
    s->report->solves[s->report->solve_count++] = (rh_solve_report){of_stage,      r->iterations,     r->cg,
                                                                    r->expansions, r->proportionings, r->preparations};
}

// Sand beside a dynamic solid makes room for it by pressure alone, which moves both. Displaced out of overfull cells,
// grains that friction holds gave way without resistance: a ball that should have rested on sand sank at 0.1 m/s, in
// however short steps, through a film of loose grains around it.
static const double BESIDE = 1;  // cells; with 2 and 4 a ball rests as well, but trembles more

// Whether a material gave something to the solid of an obstacle in the last step: in the first one nothing has settled.
static bool was_touched(const rh_dynamics *d, int obstacle)
{
    int n = d->of_obstacle[obstacle];
    bool any = false;
    for (int k = 0; n >= 0 && k < RH_DYNAMICS_PARTS && !d->held[n]; k++) any = any || d->items[n].owed[k] != 0;
    return any;
}

static void keep_tile(const step *s, int32_t n, float *b)
{
    const rh_dynamics *d = s->around->dynamics;
    const rh_tiles *tiles = &s->tiles;
    int32_t t = s->limit.layout.listed[n];
    rh_cut_near near;
    rh_cut_tile_near(tiles, s->around->obstacles, t, &near);
    for (int c = 0; c < tiles->cells; c++) {
        float *left = b + (int64_t)n * tiles->cells + c;
        if (!(*left < 0) || (double)s->cut.distance[t][c] > BESIDE * s->around->cell) continue;
        int which = -1;
        rh_cut_tile_distance(s->around->obstacles, &near,
                             rh_d3_from(rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6)), &which);
        if (which >= 0 && was_touched(d, which)) *left = 0;
    }
}

static void keep_beside_solids(const step *s, float *b)
{
    if (!s->method->slide || !s->around->dynamics) return;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < s->limit.matrix.count; n++)
        if (s->cut.kind[s->limit.layout.listed[n]] == RH_TILE_MOVING) keep_tile(s, n, b);
}

static rh_code correct_density(step *s, rh_status *status)
{
    s->fill_after = s->fill;
    if (!s->options->density_correction || two_sided(s)) return RH_OK;
    RH_TRY(rh_faces_new(&s->fill_after, &s->tiles, false, s->arena, status));
    rh_arena_mark mark = rh_arena_save(s->arena);
    float *b = rh_poisson_vector(&s->limit.matrix, s->arena, status),
          *y = rh_poisson_vector(&s->limit.matrix, s->arena, status);
    if (!b || !y) return RH_MEMORY;
    rh_limit_room_left(&s->limit, s->cells, NULL, b);
    keep_beside_solids(s, b);
    rh_mprgp_report report;
    RH_TRY(solve(s, NULL, b, NULL, y, "density correction", &report, status));
    note_solve(s, "density", &report);
    // The gradient of y displaces particles, but never by more than half a cell.
    rh_limit_subtract_gradient(&s->limit, y, s->tiles.h, 0.5f * s->tiles.h, s->shift, NULL);
    RH_TRY(rh_limit_fill_after_shift(&s->limit, y, s->cells, s->fill_after, s->arena, status));
    rh_arena_restore(s->arena, mark);
    return RH_OK;
}

// Closed faces of the baseline move with their walls.
static void set_closed_faces(const step *s)
{
    const rh_tiles *tiles = &s->tiles;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++) {
            float *u = s->velocity.axis[a] + (int64_t)t * tiles->cells;
            for (int c = 0; c < tiles->cells; c++)
                if (s->limit.link[a][t][c] == 0) u[c] = s->cut.wall[a][t][c];
        }
}

// Room that cells will have left at the end of the step, as they are.
static void find_room(const step *s, const float *cells, float *b)
{
    rh_limit_room_left(&s->limit, cells, s->q, b);
    if (s->around->obstacles->any_moving) rh_limit_room_left_moved(&s->limit, &s->cut, cells, s->q, b);
}

// The mass flux through faces (Gerszewski 2014, eq. 3.7) overfills cells behind a moving front even in free flight:
// there the filling is found by moving the particles ahead. But that is not linear in the velocity as the solve takes
// it to be, and liquid at rest trembled at its surface and walls (0.5 m/s at cells of 5 cm; several passes about the
// pressure found changed nothing). So in cells that pressure held at the last step, and their neighbours, fluxes count
// as long as both agree to within what gravity moves in a step. (Fluxes alone there: a block in flight that once had
// touched something was pulled apart at its front.)
static rh_code predict_by_particles(step *s, const float *cells, float *b, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(s->arena);
    const rh_tiles *tiles = &s->tiles;
    float *ahead = rh_field_new(tiles, s->arena, status), *free = rh_poisson_vector(&s->limit.matrix, s->arena, status);
    if (!ahead || !free) return RH_MEMORY;
    rh_particles_ahead(tiles, &(rh_ahead){s->velocity, s->dt}, s->positions, ahead);
    int64_t values = rh_tiles_values(tiles);
    float unit = share(s);
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < values; c++) ahead[c] = cells[c] + (unit * ahead[c] - s->raw[c]);
    find_room(s, ahead, free);
    rh_limit_blend(&s->limit, s->q, free, (float)rh_d3_length(s->around->gravity) * s->dt * s->kick * tiles->inverse_h,
                   b);
    rh_arena_restore(s->arena, mark);
    return RH_OK;
}

static rh_code find_pushed(step *s, bool always, rh_status *status)
{
    if (!s->around->obstacles->any_moving || two_sided(s)) return RH_OK;
    rh_pushed_step of = {.tiles = &s->tiles,
                         .before = &s->cut,
                         .after = &s->cut_after,
                         .cells = s->raw,
                         .layout = &s->limit.layout,
                         .q = s->q,
                         .always = always};
    return rh_pushed_find(&of, &s->limit.pushed, s->arena, status);
}

// Where material is wedged between moving walls there is more overfill after every step. If all of it had to leave in
// the next one, however short, speeds would grow as steps get shorter, and steps get shorter as speeds grow. And where
// walls push, overfill that was there before is left to the density correction, which moves particles and makes nothing
// faster: all that friction or a narrow exit had held back would else leave at once, a few per cent of a whole tank.
static rh_code relax_overfill(const step *s, const float **cells, rh_status *status)
{
    double g = rh_d3_length(s->around->gravity),
           time = s->options->overfill_relaxation_time * sqrt(s->around->cell / g);
    bool at_once = g == 0 || (double)s->dt >= time;
    *cells = s->cells;
    if (at_once && !s->limit.pushed) return RH_OK;
    float *eased = rh_field_new(&s->tiles, s->arena, status);
    if (!eased) return RH_MEMORY;
    rh_limit_relax_overfill(&s->limit, &s->cut, s->cells, at_once ? 1 : (float)((double)s->dt / time), eased);
    *cells = eased;
    return RH_OK;
}

// Whether the step keeps water at rest in balance. Without gravity nothing rests, and weighing thin faces as at rest
// would only cost momentum: 2e-4 of it in a collision.
static bool is_balanced(const step *s)
{
    bool wanted = s->options->well_balanced && !two_sided(s) && s->options->limit.form == RH_LIMIT_SHARES;
    return wanted && rh_d3_length(s->around->gravity) > 0;
}

// m/s: slower water may rest. With sqrt(g h) a sloshing tank lost half of its energy more in six periods, and still
// water was no stiller.
static float slow_speed(const step *s)
{
    return 0.3f * (float)sqrt(rh_d3_length(s->around->gravity) * s->around->cell);
}

// Adds to the room left what flows out of cells; of confined liquid, and out of free surfaces, by the open shares of
// faces.
static rh_code flow_out(step *s, float *b, rh_status *status)
{
    if (is_balanced(s) || s->limit.pushed) {
        if (s->fill_after.axis[0] == s->fill.axis[0]) {  // not corrected: the particles' own fillings are wanted again
            RH_TRY(rh_faces_new(&s->fill_after, &s->tiles, false, s->arena, status));
            size_t bytes = (size_t)rh_tiles_values(&s->tiles) * sizeof(float);
            for (int a = 0; a < s->tiles.dimension; a++) memcpy(s->fill_after.axis[a], s->fill.axis[a], bytes);
        }
    }
    if (is_balanced(s)) {
        RH_TRY(rh_limit_find_confined(&s->limit, s->q, s->cells, s->before, slow_speed(s), s->arena, status));
        rh_limit_flow_shares(&s->limit, s->cells, s->before, s->velocity, s->fill_after);
    }
    rh_limit_flow_pushed(&s->limit, s->fill_after);
    rh_limit_outflow(&s->limit, s->fill_after, s->velocity, s->dt, b);
    return RH_OK;
}

// Room that cells will have left at the end of the step, before pressure acts: b.
static rh_code predict(step *s, float *b, rh_status *status)
{
    const float *cells;
    RH_TRY(relax_overfill(s, &cells, status));
    if (s->options->well_balanced && !is_balanced(s)) s->limit.options.contact_loss_gap = 0;
    rh_step_add_forces(s->around, (double)s->dt, s->kick, &s->tiles, s->velocity, s->before);
    RH_TRY(stage(s, "forces", status));
    rh_walls_set_inflow_velocities(&s->tiles, &s->cut, s->velocity, NULL);
    if (two_sided(s)) set_closed_faces(s);
    find_room(s, cells, b);
    RH_TRY(flow_out(s, b, status));
    bool flux = s->options->prediction == RH_PREDICT_BY_FLUX || two_sided(s);
    if (!flux) RH_TRY(predict_by_particles(s, cells, b, status));
    if (is_balanced(s)) rh_limit_scale_forces(&s->limit, s->before, s->velocity);
    return RH_OK;
}

static rh_code find_bounds(step *s, float **lower, rh_status *status)
{
    *lower = NULL;
    if (!two_sided(s) && s->options->suction_depth == 0) return RH_OK;
    *lower = rh_poisson_vector(&s->limit.matrix, s->arena, status);
    if (!*lower) return RH_MEMORY;
    if (!two_sided(s))
        return rh_limit_suction(&s->limit, s->q, (int)s->options->suction_depth, *lower, s->arena, status);
    int64_t count = (int64_t)s->limit.matrix.count * s->tiles.cells;
    for (int64_t c = 0; c < count; c++) (*lower)[c] = -INFINITY;
    return RH_OK;
}

static rh_code apply_pressure(step *s, const float *q, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(s->arena);
    rh_dvec3 *given = rh_arena_take(s->arena, ((size_t)s->tiles.count + 1) * sizeof *given, status);
    if (!given) return RH_MEMORY;
    rh_limit_subtract_gradient(&s->limit, q, s->tiles.h / s->dt, speed_limit(s), s->velocity, given);
    RH_TRY(rh_limit_restore_momentum(&s->limit, given, s->velocity, s->arena, status));
    rh_arena_restore(s->arena, mark);
    return RH_OK;
}

// --- dynamic solids --------------------------------------------------------------------------------------------------
// The room that cells will have is found for where the solids come with the velocities they begin with; a change of
// these by pressure changes it by the volume that they sweep, which is what the term stands for. Pressure gives the
// faces momentum in the material's own masses, so no material has to be attached to the solids.
static rh_code couple_solids(step *s, rh_status *status)
{
    if (!s->around->dynamics || two_sided(s)) return RH_OK;
    rh_cut_cells *cut = s->around->obstacles->any_moving ? &s->cut_after : &s->cut;
    const float *const *const open[3] = {cut->pass[0], cut->pass[1], cut->pass[2]};
    RH_TRY(rh_solid_coupling_prepare(&s->solids, s->around->dynamics, s->around->obstacles_after, &s->tiles, cut, open,
                                     s->options->density, NULL, s->arena, status));
    RH_TRY(rh_solid_coupling_gather(&s->solids, &s->limit.layout, s->arena, status));
    RH_TRY(rh_solid_coupling_steady(&s->solids, s->q, s->arena, status));
    return rh_solid_coupling_find_added(&s->solids, &s->limit.layout, &s->limit.matrix, s->arena, status);
}

// Room that a cell loses for an inflow of 1 m/s.
static double swept(const step *s) { return -(double)(s->dt / s->tiles.h); }

static const rh_term *moved_term(const step *s) { return s->solids.dynamics ? &s->solids.term : NULL; }

static void push_solids(step *s, const float *q)
{
    if (s->solids.dynamics) rh_solid_coupling_give(&s->solids, q, (double)(s->tiles.h / s->dt));
}

// What the tolerance of a solve is relative to.
static double size_of(const step *s, const float *b)
{
    double sum = 0;
    for (int64_t c = 0; c < (int64_t)s->limit.matrix.count * s->tiles.cells; c++)
        sum += (double)(b[c] < 0 ? b[c] * b[c] : 0);
    return sqrt(sum);
}

// As in pressure.c; to the tolerance of the first solve, however far impulses throw light solids before the material
// has answered them.
static rh_code answer_contacts(step *s, float *b, const float *lower, rh_status *status)
{
    enum { ANSWERS = RH_SOLID_ANSWERS };
    const rh_poisson *m = &s->limit.matrix;
    if (!s->solids.dynamics) return RH_OK;
    rh_arena_mark mark = rh_arena_save(s->arena);
    float *more = rh_poisson_vector(m, s->arena, status);
    double size = 0;
    if (!more) return RH_MEMORY;
    for (int n = 0; n < ANSWERS; n++) {
        rh_mprgp_report report;
        size_t values = rh_poisson_values(m);
        double before = n ? size : size_of(s, b);
        if (!(n ? rh_solid_coupling_touch_again : rh_solid_coupling_touch)(&s->solids, swept(s), b)) break;
        double part = fmin(1, before / fmax(size_of(s, b), 1e-30));
        size = before;
        memcpy(more, s->q, values * sizeof *more);
        RH_TRY(solve_to(s, part * s->options->tolerance, moved_term(s), b, lower, s->q, "pressure", &report, status));
        s->report->iterations += report.iterations;
        for (size_t c = 0; c < values; c++) more[c] = s->q[c] - more[c];
        push_solids(s, more);
    }
    rh_solid_coupling_touch_last(&s->solids);
    rh_solid_coupling_follow(&s->solids);
    rh_arena_restore(s->arena, mark);
    return RH_OK;
}

static rh_code project(step *s, float *b, rh_status *status)
{
    rh_mprgp_report report;
    float *lower;
    RH_TRY(find_bounds(s, &lower, status));
    if (s->solids.dynamics) rh_solid_coupling_pay(&s->solids, swept(s), b);
    RH_TRY(solve(s, moved_term(s), b, lower, s->q, "pressure", &report, status));
    s->report->cells = s->limit.matrix.unknowns;
    note_solve(s, "pressure", &report);
    s->report->residual = report.worst;
    push_solids(s, s->q);
    RH_TRY(answer_contacts(s, b, lower, status));
    RH_TRY(apply_pressure(s, s->q, status));
    if (!is_balanced(s)) return RH_OK;
    rh_dvec3 g = s->around->gravity;
    const float fall[3] = {(float)g.x * s->kick, (float)g.y * s->kick, (float)g.z * s->kick};
    return rh_limit_support(&s->limit, s->q, s->cells, fall, slow_speed(s), s->velocity, s->arena, status);
}

static rh_code press(step *s, rh_status *status)
{
    float *b = NULL, *pressure = rh_points_data(s->points, "pressure", RH_POINT_F32);
    // Solids that move: another operator for where they will be.
    if (s->around->obstacles->any_moving && !two_sided(s)) RH_TRY(prepare(s, &s->cut_after, status));
    b = rh_poisson_vector(&s->limit.matrix, s->arena, status);
    s->q = rh_poisson_vector(&s->limit.matrix, s->arena, status);
    if (!b || !s->q) return RH_MEMORY;
    rh_carry_to_cells(&s->limit.layout, pressure, 1 / pressure_unit(s), s->q);
    RH_TRY(couple_solids(s, status));
    RH_TRY(find_pushed(s, false, status));
    RH_TRY(predict(s, b, status));
    RH_TRY(stage(s, "predict", status));
    RH_TRY(project(s, b, status));
    rh_carry_to_particles(&s->limit.layout, s->q, s->positions, pressure_unit(s), pressure);
    return show(s, RH_SIGHT_PRESSED, s->q, NONE, status);
}

// Friction acts after pressure and may hold back material that has to leave overfull cells, most of all between walls
// that close: then a second pressure acts last.
static rh_code make_way(step *s, rh_status *status)
{
    float crowded = (float)s->options->crowded, *b, *more;
    int64_t count = (int64_t)s->limit.matrix.count * s->tiles.cells;
    const float *cells;
    bool any = false;
    rh_mprgp_report report;
    if (crowded == 0) return RH_OK;
    rh_arena_mark mark = rh_arena_save(s->arena);
    b = rh_poisson_vector(&s->limit.matrix, s->arena, status);
    if (!b) return RH_MEMORY;
    RH_TRY(relax_overfill(s, &cells, status));
    find_room(s, cells, b);
    rh_limit_outflow(&s->limit, s->fill_after, s->velocity, s->dt, b);
#pragma omp parallel for schedule(static) reduction(|| : any)
    for (int64_t c = 0; c < count; c++) {
        b[c] = s->q[c] > 0 ? b[c] + crowded : crowded;  // in flight fluxes overfill cells that nothing presses
        any = any || b[c] < 0;
    }
    if (any) {
        more = rh_poisson_vector(&s->limit.matrix, s->arena, status);
        if (!more) return RH_MEMORY;
        memset(more, 0, (size_t)count * sizeof *more);
        RH_TRY(solve(s, moved_term(s), b, NULL, more, "second pressure", &report, status));
        note_solve(s, "make_way", &report);
        push_solids(s, more);
        if (s->solids.dynamics) rh_dynamics_arrive(s->solids.dynamics);
        RH_TRY(apply_pressure(s, more, status));
        RH_TRY(show(s, RH_SIGHT_PRESSED, more, NONE, status));
    }
    rh_arena_restore(s->arena, mark);
    return RH_OK;
}

// m: extent along gravity of the material that walls push, to a tile.
static double pushed_height(const step *s)
{
    rh_dvec3 g = s->around->gravity;
    double length = rh_d3_length(g), low = INFINITY, high = -INFINITY;
    for (int32_t t = 0; t < s->tiles.count && length > 0; t++) {
        rh_tile at = s->tiles.at[t];
        if (!rh_bits_any(&s->tiles, &s->limit.pushed[t])) continue;
        double along = (at.x * g.x + at.y * g.y + at.z * g.z) / length;
        low = fmin(low, along), high = fmax(high, along);
    }
    return high >= low ? (high - low + 1) * RH_TILE * s->around->cell : 0;
}

// Grains that walls push are held by friction, which grows with pressure, so that pressure has no limit: it moved sand
// at 2000 m/s before a piston at 0.2 m/s. Real walls or grains would have given way: so no pressure makes the sand
// faster than the largest one that counts for friction could (Bernoulli's law). A room that is too small for its
// material is reported (sealed.h).
static rh_code hold_pushed(step *s, rh_status *status)
{
    if (s->options->wedged == 0) return RH_OK;
    RH_TRY(find_pushed(s, true, status));  // by the pressure found; friction holds grains back from wide ways out, too
    if (!s->limit.pushed) return RH_OK;
    double wall = rh_obstacles_max_speed(s->around->obstacles), g = rh_d3_length(s->around->gravity);
    double most = sqrt(2 * s->options->wedged * (g * pushed_height(s) + wall * wall));
    rh_limit_hold_pushed(&s->limit, s->before, (float)most, s->velocity);
    return RH_OK;
}

// --- after the pressure ----------------------------------------------------------------------------------------------
// Faces with mass have a velocity of their own; with two-sided pressure only faces of liquid cells, on which pressure
// acted. With smooth shares faces in the wall do not: their mass is the rim of particles beside the wall, which no
// pressure stops there. Gravity pulled at it, walls turned it aside, and a jet of 0.4 m/s ran down a slope below water
// at rest.
static const float MOSTLY_WALL = 0.4f;  // a face that lies on a wall along the grid is open by half
// Particles beside thin walls are seen on centres of cells (solid/thin.h), to rounding: faces beyond the wall get a
// millionth of their mass. Counted as known these fell freely on the dry side, at g dt, and the closed faces between,
// which take part of what is around them, kept water at rest in motion at 0.15 m/s.
static const float ROUNDING = 1e-4f;

static int open_bits(const step *s, int a, int32_t t, int r)
{
    if (!s->method->slide && s->options->shares != RH_BLUR_SMOOTH) return 255;
    int bits = rh_i8_bits(rh_f8_load(s->cut.pass[a][t] + 8 * r) > rh_f8_all(s->method->slide ? 0.5f : MOSTLY_WALL));
    // faces at walls that move keep their own velocity
    if (!s->method->slide) bits |= rh_i8_bits(rh_f8_load(s->cut.wall[a][t] + 8 * r) != rh_f8_all(0));
    const uint8_t *inflow = s->cut.inflow && !s->method->slide ? s->cut.inflow[t] : NULL;
    for (int i = 0; i < 8 && inflow; i++) bits |= (inflow[8 * r + i] >> a & 1) << i;
    return bits;
}

static rh_bits known_tile(const step *s, int a, int32_t t)
{
    const rh_tiles *tiles = &s->tiles;
    rh_bits out = {{0}};
    rh_bit_rows unknown = rh_bit_rows_of(tiles, s->limit.layout.unknown, t);
    rh_f8 least = rh_f8_all(s->around->obstacles->any_thin ? ROUNDING : 0);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int bits = rh_i8_bits(rh_f8_load(s->fill.axis[a] + (int64_t)t * tiles->cells + 8 * r) > least);
        bits &= open_bits(s, a, t, r);
        if (two_sided(s)) bits = unknown.here[r] | rh_bits_row_below(&unknown, a, r);
        out.layer[r >> 3] |= (uint64_t)bits << (8 * (r & 7));
    }
    return out;
}

// The edge of water at rest is held (water_edge.h), and what moves there comes to rest in some steps: it would else
// coast for seconds. With body forces of the scene's own it is not known what rests.
static rh_code hold_edge(step *s, rh_status *status)
{
    const rh_surroundings *around = s->around;
    double g = rh_d3_length(around->gravity);
    if (!is_balanced(s) || around->acceleration || around->obstacles->count == 0) return RH_OK;
    rh_arena_mark mark = rh_arena_save(s->arena);
    size_t bytes = (size_t)rh_tiles_values(&s->tiles) / 8 + 8;
    uint8_t *wet = rh_arena_take(s->arena, bytes, status), *full = rh_arena_take(s->arena, bytes, status);
    if (!wet || !full) return RH_MEMORY;
    rh_limit_find_full(&s->limit, s->q, s->cells, wet, full);
    rh_water_edge edge = {.tiles = &s->tiles,
                          .cut = &s->cut,
                          .room = (const float *const *)s->cut.room,
                          .layout = &s->limit.layout,
                          .q = s->q,
                          .head = s->tiles.h * s->tiles.h / ((float)g * s->dt * s->kick),
                          .wet = wet,
                          .full = full,
                          .gravity = rh_v3_from(around->gravity),
                          .before = s->before,
                          .slow = slow_speed(s),
                          .keep = 1 / (1 + 0.5f * s->kick * (float)sqrt(g / s->around->cell))};
    RH_TRY(rh_water_edge_hold(&edge, s->velocity, s->arena, status));
    rh_arena_restore(s->arena, mark);
    return RH_OK;
}

static rh_code extend(step *s, rh_status *status)
{
    const rh_tiles *tiles = &s->tiles;
    rh_faces before = NONE;
    if (s->around->observer) RH_TRY(rh_faces_copy(&before, s->velocity, tiles, s->arena, status));
    RH_TRY(hold_edge(s, status));
    rh_arena_mark mark = rh_arena_save(s->arena);
    rh_bits *known[3] = {NULL, NULL, NULL};
    for (int a = 0; a < tiles->dimension; a++) {
        known[a] = rh_arena_take(s->arena, ((size_t)tiles->count + 1) * sizeof *known[a], status);
        if (!known[a]) return RH_MEMORY;
#pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < tiles->count; t++) known[a][t] = known_tile(s, a, t);
    }
    int sweeps = (int)ceil(s->options->cfl) + 2;
    RH_TRY(rh_faces_spread(tiles, s->velocity, known, sweeps > LEAST_SWEEPS ? sweeps : LEAST_SWEEPS, s->arena, status));
    rh_arena_restore(s->arena, mark);
    bool slide = s->method->slide && s->around->obstacles->count > 0;
    if (slide || s->around->obstacles->any_thin || rh_walls_any_no_slip(s->around->obstacles))
        RH_TRY(rh_walls_constrain(tiles, &s->cut, s->around->obstacles_after, s->velocity, !slide, s->arena, status));
    RH_TRY(show(s, RH_SIGHT_FLOWS, NULL, before, status));
    rh_step_limit_speed(tiles, s->velocity, speed_limit(s));
    return RH_OK;
}

static void update_velocities(step *s)
{
    rh_velocity_update update = {s->velocity, s->before, RH_UPDATE_FLIP, (float)s->options->flip, NULL};
    s->report->max_speed = rh_grid_to_velocities(&s->tiles, &update, s->positions, s->velocities, NULL);
}

// Last, and on the particles, as in incompressible.c.
static rh_code slow_at_rough_walls(step *s, rh_status *status)
{
    const rh_obstacles *obstacles = s->around->obstacles;
    if (!s->method->drag || !rh_drag_any(obstacles)) return RH_OK;
    float per_cell = powf((float)s->options->particles_per_axis, (float)s->tiles.dimension);
    return rh_drag_apply(&s->tiles, &s->cut, obstacles, per_cell, s->kick, s->positions, s->velocities, s->arena,
                         status);
}

static rh_code advect(step *s, rh_status *status)
{
    if (s->around->obstacles->count > 0) {
        size_t bytes = (size_t)s->points->count * sizeof *s->start;
        s->start = rh_arena_take(s->arena, bytes, status);
        if (!s->start) return RH_MEMORY;
        memcpy(s->start, s->positions, bytes);
    }
    rh_paths way = {.velocity = s->velocity, .shift = s->shift, .dt = s->dt, .rule = (rh_path_rule)s->options->path};
    RH_TRY(rh_particles_advect(&s->tiles, &way, s->velocities, s->positions, s->arena, status));
    rh_sides_return(s->around, s->points, s->start, s->positions);
    return RH_OK;
}

static void collide(step *s)
{
    rh_collision collision = {.gap = 0.1 * s->around->cell / (double)s->options->particles_per_axis,
                              .stop = s->options->stop_at_walls,
                              .friction = s->method->friction,
                              .before = s->start};
    rh_sides_hold(s->around, &collision, s->points->count, s->start, s->positions, s->velocities);
    rh_walls_collide(&s->tiles, &s->cut, s->around->obstacles_after, &collision, s->positions, s->velocities);
    rh_sides_hold(s->around, &collision, s->points->count, s->start, s->positions, s->velocities);
}

rh_code rh_unilateral_step(rh_unilateral *me, const rh_surroundings *around, double dt, rh_points *points,
                           rh_step_report *report, rh_status *status)
{
    rh_status own = {0};
    if (!status) status = &own;  // some parts tell of failure through the status alone
    *report = (rh_step_report){0};
    if (points->count == 0) return RH_OK;
    rh_arena_reset(&me->arena);
    step s = {.me = me,
              .method = &me->method,
              .options = &me->options,
              .around = around,
              .dt = (float)dt,
              .kick = rh_step_kick(around, dt),
              .points = points,
              .arena = &me->arena,
              .report = report,
              .clock = rh_seconds()};
    RH_TRY(sort_particles(&s, status));
    RH_TRY(show(&s, RH_SIGHT_SORTED, NULL, NONE, status));
    RH_TRY(stage(&s, "sort", status));
    RH_TRY(build_all_solids(&s, status));
    RH_TRY(stage(&s, "solids", status));
    RH_TRY(to_grid(&s, status));
    RH_TRY(measure_volume(&s, status));
    RH_TRY(stage(&s, "to_grid", status));
    RH_TRY(correct_density(&s, status));
    RH_TRY(stage(&s, "density", status));
    RH_TRY(press(&s, status));
    RH_TRY(stage(&s, "pressure", status));
    RH_TRY(make_way(&s, status));
    RH_TRY(hold_pushed(&s, status));
    if (me->options.crowded > 0) RH_TRY(stage(&s, "make_way", status));
    RH_TRY(extend(&s, status));
    RH_TRY(stage(&s, "extend", status));
    update_velocities(&s);
    RH_TRY(slow_at_rough_walls(&s, status));
    RH_TRY(stage(&s, "update", status));
    RH_TRY(advect(&s, status));
    RH_TRY(stage(&s, "advect", status));
    RH_TRY(show(&s, RH_SIGHT_MOVED, NULL, NONE, status));
    collide(&s);
    RH_TRY(stage(&s, "collide", status));
    return isfinite(report->max_speed)
               ? RH_OK
               : rh_fail(status, RH_NUMERIC, "a particle's velocity is not a number after this step");
}

// --- making one ------------------------------------------------------------------------------------------------------
rh_code rh_unilateral_create(const rh_unilateral_options *options, const rh_step_method *method, rh_points *points,
                             rh_unilateral *me, rh_status *status)
{
    RH_ASSERT(rh_stages_fit(method, STAGES));
    *me = (rh_unilateral){.options = *options, .method = *method};
    rh_arena_init(&me->arena, "unilateral.step");
    me->cut.blur = me->cut_after.blur = (int)options->particles_per_axis;
    me->cut.form = me->cut_after.form = (rh_blur_form)options->shares;
    RH_TRY(rh_points_add(points, "P", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(points, "v", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(points, "id", RH_POINT_I64, status));
    RH_TRY(rh_points_add(points, "pressure", RH_POINT_F32, status));
    rh_points_find(points, "pressure")->transient = !options->pressure;
    return RH_OK;
}

void rh_unilateral_free(rh_unilateral *me)
{
    rh_arena_free(&me->arena);
    rh_cut_cache_free(&me->cut);
    rh_cut_cache_free(&me->cut_after);
}

int64_t rh_unilateral_predict_bytes(int dimension, int64_t particles, int64_t tiles)
{
    int64_t cells = dimension == 3 ? 512 : 64;
    int64_t per_particle = 12 + 12 + 8 + 4 + 2 + 12;  // P, v, id, pressure, groups; the spare block
    int64_t per_cell = 4 + dimension * 4 * 4 + 2 * 4 + 24 + 40 +
                       5;  // first; four face fields; fillings; solids; solver; held
    int64_t grid = tiles * (cells * per_cell + 256), sort = 12 * particles;
    return particles * per_particle + (grid > sort ? grid : sort);
}
