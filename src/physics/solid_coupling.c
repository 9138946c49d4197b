// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// With q the pressure as a velocity (pressure.h), V the six velocities of each solid, s = 1 - open the closed share of
// a face and R_f the row that gives the solid's velocity along the face's axis:
//
//      inflow into a cell by the solids      J V,    J = sum over its faces  +-s R_f
//      impulse of the pressure on a solid    -m J^T q    (m: mass of a cell full of liquid)
//      V = V* - m C J^T q                    C: inverse of the mass
//      (A + m J C J^T) q = inflow of liquid + J V*
//
// which is symmetric and positive definite whatever the solids weigh.
//
// Faces that a solid closes altogether have no pressure in them, but the material around them moves with the wall: half
// a cell of it at a wall along the grid. It is attached to the solid as far as the wall decides its velocity: its
// inertia counts by the square of the normal's component along the face's axis. Without it a light solid would be
// thrown about by the weight of the layer of liquid on its own surface, which otherwise acts on it one step late
// (solid/dynamics.c).
#include "physics/solid_coupling.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"

enum { PARTS = RH_DYNAMICS_PARTS, SQUARE = PARTS * PARTS };

static inline rh_dvec3 face_place(const rh_tiles *tiles, int32_t t, int c, int axis)
{
    rh_vec3 x = rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6);
    (&x.x)[axis] -= 0.5f * tiles->h;
    return rh_d3_from(x);
}

// Of mass, of the solids as they were placed.
static rh_dvec3 center_of(const rh_solid_coupling *c, int solid)
{
    return c->obstacles->items[c->dynamics->items[solid].obstacle].origin;
}

static inline void row_at(const rh_solid_coupling *c, int solid, int32_t t, int cell, int axis, double row[PARTS])
{
    rh_dynamics_row(face_place(c->tiles, t, cell, axis), center_of(c, solid), axis, row);
    if (c->tiles->dimension == 2) row[2] = row[3] = row[4] = 0;
}

void rh_solid_coupling_row(const rh_solid_coupling *c, int solid, int32_t t, int cell, int axis, double row[PARTS])
{
    row_at(c, solid, t, cell, axis, row);
}

static double speed_of(const rh_solid_coupling *c, int solid, const double row[PARTS])
{
    const double *v = c->dynamics->velocity + solid * PARTS;
    double sum = 0;
    for (int k = 0; k < PARTS; k++) sum += row[k] * v[k];
    return sum;
}

// The velocity of a solid's wall along an axis: the row above times its velocities, without the zeros.
static inline double speed_at(const rh_solid_coupling *c, int solid, rh_dvec3 x, int axis)
{
    const double *v = c->dynamics->velocity + solid * PARTS;
    rh_dvec3 arm = rh_d3_sub(x, center_of(c, solid));
    if (axis == 0) return v[0] + v[4] * arm.z - v[5] * arm.y;
    if (axis == 1) return v[1] + v[5] * arm.x - v[3] * arm.z;
    return v[2] + v[3] * arm.y - v[4] * arm.x;
}

// --- whose face ------------------------------------------------------------------------------------------------------
static bool near_dynamic(const rh_solid_coupling *c, int32_t t, rh_cut_near *near)
{
    rh_cut_tile_near(c->tiles, c->obstacles, t, near);
    if (near->count == RH_CUT_NEAR) return true;  // stands for all
    for (int i = 0; i < near->count; i++)
        if (c->dynamics->of_obstacle[near->items[i]] >= 0) return true;
    return false;
}

// Faces that walls of a kind of their own close (blur.h) may be all open for the cut cells, which know no owner then.
static void find_owners(const rh_solid_coupling *c, int32_t t)
{
    const rh_tiles *tiles = c->tiles;
    rh_cut_tile_near(tiles, c->obstacles, t, c->near[t]);
    for (int a = 0; a < tiles->dimension; a++)
        for (int i = 0; i < tiles->cells; i++) {
            int16_t *owner = &c->owner[t][a * tiles->cells + i];
            bool poured = c->cut->inflow && c->cut->inflow[t] && (c->cut->inflow[t][i] >> a & 1);
            int which = (int)c->cut->owner[a][t][i] - 1;
            *owner = -1;
            if (poured || c->open[a][t][i] >= 1) continue;
            if (which < 0) rh_cut_tile_distance(c->obstacles, c->near[t], face_place(tiles, t, i, a), &which);
            if (which >= 0) *owner = (int16_t)c->dynamics->of_obstacle[which];
        }
}

// Tiles near dynamic solids get pages of owners, and walls of their own.
static rh_code take_pages(rh_solid_coupling *c, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = c->tiles;
    c->owner = rh_arena_take_zero(arena, ((size_t)tiles->count + 1) * sizeof *c->owner, status);
    c->near = rh_arena_take_zero(arena, ((size_t)tiles->count + 1) * sizeof *c->near, status);
    uint8_t *near = rh_arena_take_zero(arena, (size_t)tiles->count + 1, status);
    if (!c->owner || !c->near || !near) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_cut_near list;
        near[t] = c->cut->kind[t] == RH_TILE_MOVING && near_dynamic(c, t, &list);
    }
    for (int32_t t = 0; t < tiles->count; t++) {
        if (!near[t]) continue;
        c->owner[t] = rh_arena_take(arena, 3 * (size_t)tiles->cells * sizeof **c->owner, status);
        c->near[t] = rh_arena_take(arena, sizeof **c->near, status);
        if (!c->owner[t] || !c->near[t]) return RH_MEMORY;
        for (int a = 0; a < tiles->dimension; a++) {
            float *own = rh_arena_take(arena, (size_t)tiles->cells * sizeof *own, status);
            if (!own) return RH_MEMORY;
            memcpy(own, c->cut->wall[a][t], (size_t)tiles->cells * sizeof *own);
            c->cut->wall[a][t] = own;
        }
    }
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        if (c->owner[t]) find_owners(c, t);
    return RH_OK;
}

static void set_walls(rh_solid_coupling *c)
{
    const rh_tiles *tiles = c->tiles;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension && c->owner[t]; a++) {
            float *wall = (float *)c->cut->wall[a][t];  // a copy of our own: take_pages
            for (int i = 0; i < tiles->cells; i++) {
                int solid = c->owner[t][a * tiles->cells + i];
                if (solid >= 0) wall[i] = (float)speed_at(c, solid, face_place(tiles, t, i, a), a);
            }
        }
}

void rh_solid_coupling_follow(rh_solid_coupling *c)
{
    rh_dynamics_arrive(c->dynamics);
    set_walls(c);
}

// --- what moves with the solids --------------------------------------------------------------------------------------
rh_dvec3 rh_solid_coupling_place(const rh_solid_coupling *c, int32_t tile, int cell, int axis)
{
    return face_place(c->tiles, tile, cell, axis);
}

double rh_solid_coupling_decided(const rh_solid_coupling *c, int solid, int32_t tile, int cell, int axis)
{
    int which = c->dynamics->items[solid].obstacle;
    if (c->obstacles->items[which].wall == RH_WALL_NO_SLIP) return 1;
    rh_dvec3 n = rh_obstacles_normal(c->obstacles, which, face_place(c->tiles, tile, cell, axis));
    return (&n.x)[axis] * (&n.x)[axis];
}

static void attach_face(const rh_solid_coupling *c, int solid, const double row[PARTS], double mass, double speed,
                        double *masses, double *impulses)
{
    double faster = speed - speed_of(c, solid, row);
    for (int k = 0; k < PARTS; k++) {
        impulses[solid * PARTS + k] += mass * row[k] * faster;
        for (int j = 0; j < PARTS; j++) masses[solid * SQUARE + k * PARTS + j] += mass * row[k] * row[j];
    }
}

// Faces all closed in a tile, with what is attached to each (kg), into `out`; returns how many. `out` NULL: counts
// only.
typedef struct held_face {
    int32_t at;  // cell, after those of the axes before
    double mass;
} held_face;

static int32_t hold_tile(const rh_solid_coupling *c, const rh_solid_coupling_faces *faces, int32_t t, held_face *out)
{
    int32_t count = 0;
    for (int a = 0; a < c->tiles->dimension && c->owner[t]; a++)
        for (int i = 0; i < c->tiles->cells; i++) {
            float fill = faces->fill.axis[a][(int64_t)t * c->tiles->cells + i];
            int solid = c->owner[t][a * c->tiles->cells + i];
            if (solid < 0 || c->open[a][t][i] > 0 || !(fill > 0)) continue;
            if (out)
                out[count] = (held_face){a * c->tiles->cells + i, c->mass * (double)(fill / faces->full) *
                                                                      rh_solid_coupling_decided(c, solid, t, i, a)};
            count++;
        }
    return count;
}

static void attach_tile(const rh_solid_coupling *c, const rh_solid_coupling_faces *faces, int32_t t,
                        const held_face *held, int32_t count, double *masses, double *impulses)
{
    int cells = c->tiles->cells;
    for (int32_t n = 0; n < count; n++) {
        int a = held[n].at / cells, i = held[n].at % cells, solid = c->owner[t][held[n].at];
        double row[PARTS];
        row_at(c, solid, t, i, a, row);
        attach_face(c, solid, row, held[n].mass, (double)faces->velocity.axis[a][(int64_t)t * cells + i], masses,
                    impulses);
    }
}

// What is attached is found side by side and added in the order of tiles.
static rh_code attach(rh_solid_coupling *c, const rh_solid_coupling_faces *faces, rh_arena *arena, rh_status *status)
{
    size_t solids = (size_t)c->dynamics->count;
    int32_t tiles = c->tiles->count;
    rh_arena_mark mark = rh_arena_save(arena);
    double *masses = rh_arena_take_zero(arena, solids * SQUARE * sizeof *masses, status);
    double *impulses = rh_arena_take_zero(arena, solids * PARTS * sizeof *impulses, status);
    int32_t *first = rh_arena_take_zero(arena, ((size_t)tiles + 1) * sizeof *first, status);
    if (!masses || !impulses || !first) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles; t++) first[t + 1] = hold_tile(c, faces, t, NULL);
    for (int32_t t = 0; t < tiles; t++) first[t + 1] += first[t];
    held_face *held = rh_arena_take(arena, ((size_t)first[tiles] + 1) * sizeof *held, status);
    if (!held) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles; t++) hold_tile(c, faces, t, held + first[t]);
    for (int32_t t = 0; t < tiles; t++)
        attach_tile(c, faces, t, held + first[t], first[t + 1] - first[t], masses, impulses);
    rh_dynamics_attach(c->dynamics, masses, impulses);
    rh_arena_restore(arena, mark);
    return RH_OK;
}

// A solid with less than this share of the material's density would follow every particle that hits it. Its weight
// stays what it is, but what it is owed is given as to more mass (rh_dynamics_forgive). In the complementarity problem,
// where nothing is attached to solids, it also has the inertia of one of this share while pressure holds it
// (rh_dynamics_pad), and is owed what that withholds. (Padded always, a light crate that fell on a dry floor was owed
// all that padding had taken of the floor's impulse, twenty times what it needed, and flew away; one that a wave had
// hit, all that padding had taken of the wave's.)
static const double LEAST = 0.1;

// Times by which a solid is too light; above 1.
static double too_light(const rh_solid_coupling *c, int n)
{
    const rh_mass *m = &c->dynamics->items[n].mass;
    return LEAST * c->density * m->volume / m->mass;
}

static void pay_attached(rh_solid_coupling *c)
{
    rh_dynamics *d = c->dynamics;
    for (int n = 0; n < d->count; n++)
        if (too_light(c, n) > 1) rh_dynamics_forgive(d, n);
    rh_dynamics_pay(d, c->touch);
}

rh_code rh_solid_coupling_prepare(rh_solid_coupling *c, rh_dynamics *dynamics, const rh_obstacles *obstacles,
                                  const rh_tiles *tiles, rh_cut_cells *cut, const float *const *const open[3],
                                  double density, const rh_solid_coupling_faces *faces, rh_arena *arena,
                                  rh_status *status)
{
    *c = (rh_solid_coupling){.dynamics = dynamics,
                             .obstacles = obstacles,
                             .tiles = tiles,
                             .cut = cut,
                             .open = {open[0], open[1], open[2]},
                             .density = density,
                             .mass = density * pow((double)tiles->h, tiles->dimension)};
    size_t six = ((size_t)dynamics->count + 1) * PARTS * sizeof(double);
    c->touch = rh_arena_take(arena, six, status);
    c->before = rh_arena_take(arena, six, status);
    c->change = rh_arena_take(arena, six, status);
    c->whole = rh_arena_take(arena, six, status);
    c->masses = rh_arena_take(arena, six * PARTS, status);
    if (!c->touch || !c->before || !c->change || !c->whole || !c->masses) return RH_MEMORY;
    RH_TRY(take_pages(c, arena, status));
    if (faces) {
        RH_TRY(attach(c, faces, arena, status));
        pay_attached(c);
    }
    set_walls(c);
    return RH_OK;
}

// --- the term --------------------------------------------------------------------------------------------------------
// A face of a cell: where it is stored.
typedef struct place {
    int32_t tile;
    int cell;
} place;

static place upper_face(const rh_tiles *tiles, int32_t t, int c, int axis)
{
    static const int step[3] = {1, 8, 64}, near[3] = {1, 3, 9};
    int at = axis == 0 ? c & 7 : axis == 1 ? c >> 3 & 7 : c >> 6;
    if (at < 7) return (place){t, c + step[axis]};
    return (place){tiles->near[t][RH_HERE + near[axis]], c - 7 * step[axis]};
}

enum { MOST_BLOCKS = 512 };  // solids whose faces lie in one tile: one for each cell

// The solids of one tile that have been met, and the rows of the cell in progress.
typedef struct tile_work {
    int16_t solid[MOST_BLOCKS];
    int count;
    int local[6];  // of the cell
    double row[6][PARTS];
    int rows;
} tile_work;

static int local_of(tile_work *w, int solid)
{
    for (int i = 0; i < w->count; i++)
        if (w->solid[i] == solid) return i;
    RH_ASSERT(w->count < MOST_BLOCKS);
    w->solid[w->count] = (int16_t)solid;
    return w->count++;
}

static void add_face(const rh_solid_coupling *c, place at, int axis, double sign, tile_work *w)
{
    if (at.tile < 0 || !c->owner[at.tile]) return;
    int solid = c->owner[at.tile][axis * c->tiles->cells + at.cell];
    if (solid < 0) return;
    double row[PARTS], share = sign * (1 - (double)c->open[axis][at.tile][at.cell]);
    int local = local_of(w, solid), n = 0;
    row_at(c, solid, at.tile, at.cell, axis, row);
    while (n < w->rows && w->local[n] != local) n++;
    if (n == w->rows) {
        w->local[w->rows++] = local;
        memset(w->row[n], 0, sizeof w->row[n]);
    }
    for (int k = 0; k < PARTS; k++) w->row[n][k] += share * row[k];
}

// Entries of a tile of the operator into `out`, or only their number when that is NULL.
static int32_t gather_tile(const rh_solid_coupling *c, const rh_layout *layout, int32_t n, tile_work *w,
                           rh_term_entry *out)
{
    int32_t t = layout->listed[n], count = 0;
    w->count = 0;
    for (int i = 0; i < c->tiles->cells; i++) {
        if (!(layout->unknown[((int64_t)t * c->tiles->cells + i) >> 3] >> (i & 7) & 1)) continue;
        w->rows = 0;
        for (int a = 0; a < c->tiles->dimension; a++) {
            add_face(c, (place){t, i}, a, 1, w);
            add_face(c, upper_face(c->tiles, t, i, a), a, -1, w);
        }
        for (int r = 0; r < w->rows; r++, count++) {
            if (!out) continue;
            out[count] = (rh_term_entry){.cell = (uint16_t)i, .local = (uint16_t)w->local[r]};
            for (int k = 0; k < PARTS; k++) out[count].row[k] = (float)w->row[r][k];
        }
    }
    return count;
}

static bool touches(const rh_solid_coupling *c, int32_t t)
{
    bool any = c->owner[t] != NULL;
    for (int a = 0; a < c->tiles->dimension && !any; a++) {
        int32_t high = c->tiles->near[t][RH_HERE + rh_near_step[a]];
        any = high >= 0 && c->owner[high] != NULL;
    }
    return any;
}

static void respond(const void *user, const double *in, double *out) { rh_dynamics_respond(user, in, out); }

// What preconditioners want to know of the solids.
static rh_code describe(rh_solid_coupling *c, rh_arena *arena, rh_status *status)
{
    const rh_dynamics *d = c->dynamics;
    double *extent = rh_arena_take(arena, ((size_t)d->count + 1) * sizeof *extent, status);
    rh_body_tie *ties = rh_arena_take(arena, ((size_t)d->joints.row_count + 1) * sizeof *ties, status);
    if (!extent || !ties) return RH_MEMORY;
    for (int n = 0; n < d->count; n++) {
        double volume = d->items[n].mass.volume, across = c->tiles->dimension == 3 ? cbrt(volume) : sqrt(volume);
        extent[n] = across / (double)c->tiles->h;
    }
    for (int i = 0; i < d->joints.row_count; i++) {
        const rh_joint_row *r = &d->joints.rows[i];
        ties[i] = (rh_body_tie){.a = r->a, .b = r->b};
        memcpy(ties[i].ja, r->ja, sizeof r->ja);
        memcpy(ties[i].jb, r->jb, sizeof r->jb);
    }
    c->bodies = (rh_bodies){&c->term, d->inverse, extent, ties, d->joints.row_count};
    return RH_OK;
}

// Counts first, then fills: both take the same way.
rh_code rh_solid_coupling_gather(rh_solid_coupling *c, const rh_layout *layout, rh_arena *arena, rh_status *status)
{
    rh_term *term = &c->term;
    size_t solids = (size_t)c->dynamics->count;
    int32_t entries = 0, blocks = 0;
    *term = (rh_term){.blocks = (int32_t)solids, .scale = c->mass, .respond = respond, .user = c->dynamics};
    term->tiles = rh_arena_take(arena, ((size_t)layout->count + 1) * sizeof *term->tiles, status);
    if (!term->tiles) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < layout->count; n++) {
        tile_work w = {.count = 0};
        int32_t count = touches(c, layout->listed[n]) ? gather_tile(c, layout, n, &w, NULL) : 0;
        term->tiles[n] = (rh_term_tile){.tile = n, .entry_end = count, .block_count = w.count};
    }
    for (int32_t n = 0; n < layout->count; n++) {
        int32_t count = term->tiles[n].entry_end, own = term->tiles[n].block_count;
        if (count == 0) continue;
        term->tiles[term->tile_count++] = (rh_term_tile){n, entries, entries + count, blocks, own};
        entries += count;
        blocks += own;
    }
    term->entries = rh_arena_take(arena, ((size_t)entries + 1) * sizeof *term->entries, status);
    term->block = rh_arena_take(arena, ((size_t)blocks + 1) * sizeof *term->block, status);
    term->sums = rh_arena_take(arena, ((size_t)blocks + 1) * sizeof *term->sums, status);
    term->gathered = rh_arena_take(arena, (solids + 1) * PARTS * sizeof(double), status);
    term->answer = rh_arena_take(arena, (solids + 1) * PARTS * sizeof(double), status);
    term->traces = rh_arena_take(arena, (solids + 1) * sizeof(double), status);
    if (!term->entries || !term->block || !term->sums || !term->gathered || !term->answer || !term->traces)
        return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t i = 0; i < term->tile_count; i++) {
        const rh_term_tile *t = &term->tiles[i];
        tile_work w;
        gather_tile(c, layout, t->tile, &w, term->entries + t->entry_first);
        for (int b = 0; b < t->block_count; b++) term->block[t->block_first + b] = w.solid[b];
    }
    return describe(c, arena, status);
}

// In the first step, of which no pressure is known yet, by whatever touches them.
static void find_pressed(const rh_solid_coupling *c, const float *q, bool *pressed)
{
    const rh_term *term = &c->term;
    bool first = !(c->dynamics->last_span > 0);
    for (int32_t i = 0; i < term->tile_count; i++) {
        const rh_term_tile *t = &term->tiles[i];
        for (int32_t e = t->entry_first; e < t->entry_end; e++)
            if (first || q[(int64_t)t->tile * c->tiles->cells + term->entries[e].cell] > 0)
                pressed[term->block[t->block_first + term->entries[e].local]] = true;
    }
}

rh_code rh_solid_coupling_steady(rh_solid_coupling *c, const float *q, rh_arena *arena, rh_status *status)
{
    rh_dynamics *d = c->dynamics;
    rh_arena_mark mark = rh_arena_save(arena);
    double *masses = rh_arena_take_zero(arena, ((size_t)d->count + 1) * SQUARE * sizeof *masses, status);
    bool *pressed = rh_arena_take_zero(arena, ((size_t)d->count + 1) * sizeof *pressed, status);
    if (!masses || !pressed) return RH_MEMORY;
    find_pressed(c, q, pressed);
    for (int n = 0; n < d->count; n++) {
        double times = too_light(c, n);
        if (!(times > 1)) continue;
        if (pressed[n]) rh_dynamics_scale_inertia(d, n, times, masses);
        else rh_dynamics_forgive(d, n);
    }
    rh_dynamics_pad(d, masses);
    rh_arena_restore(arena, mark);
    return RH_OK;
}

void rh_solid_coupling_impulse(const rh_solid_coupling *c, const float *q, double speed, double *impulse)
{
    rh_term_gather(&c->term, c->tiles->cells, q, impulse);
    for (int k = 0; k < c->dynamics->count * PARTS; k++) impulse[k] *= -c->mass * speed;
}

void rh_solid_coupling_give(rh_solid_coupling *c, const float *q, double speed)
{
    double *impulse = c->term.gathered;
    rh_solid_coupling_impulse(c, q, speed, impulse);
    rh_dynamics_receive(c->dynamics, impulse, true);
}

// --- contacts --------------------------------------------------------------------------------------------------------
// Adds the effect of the impulses in `touch`, which the solids have received, to the right-hand side. The walls follow
// when the answer is given.
static void tell_cells(rh_solid_coupling *c, double scale, float *b)
{
    rh_dynamics_respond(c->dynamics, c->touch, c->change);
    for (int k = 0; k < c->dynamics->count * PARTS; k++) c->change[k] *= scale;
    rh_term_spread(&c->term, c->tiles->cells, c->change, b);
}

static const double LEAST_RATIO = 1e-3;  // of masses: beyond it, other things than these impulses moved the solid
static const double SETTLED = 1e-3;      // of the impulses of contacts: smaller changes are not answered

bool rh_solid_coupling_touch(rh_solid_coupling *c, double scale, float *b)
{
    size_t six = (size_t)c->dynamics->count * PARTS * sizeof(double);
    if (!rh_dynamics_touch(c->dynamics, c->added, c->touch)) return false;
    memcpy(c->before, c->dynamics->velocity, six);
    memcpy(c->whole, c->touch, six);
    rh_dynamics_strike(c->dynamics, c->touch);
    tell_cells(c, scale, b);
    return true;
}

void rh_solid_coupling_pay(rh_solid_coupling *c, double scale, float *b)
{
    if (!rh_dynamics_pay(c->dynamics, c->touch)) return;
    tell_cells(c, scale, b);
    set_walls(c);
}

// The expected and the actual effect of these impulses tell how much mass there really is, in their direction (the
// update of C. Broyden, R. Fletcher, D. Goldfarb, D. Shanno, 1970). Contacts assume a mass that may be far too small:
// for a cork below a shelf 6 kg instead of 44.
static void learn_mass(const double impulse[PARTS], const double change[PARTS], double mass[SQUARE])
{
    double expected[PARTS] = {0}, own = 0, found = 0;
    for (int k = 0; k < PARTS; k++)
        for (int j = 0; j < PARTS; j++) expected[k] += mass[k * PARTS + j] * change[j];
    for (int k = 0; k < PARTS; k++) own += change[k] * expected[k], found += change[k] * impulse[k];
    if (!(own > 0) || !(found > LEAST_RATIO * own) || found > own / LEAST_RATIO) return;
    for (int k = 0; k < PARTS; k++)
        for (int j = 0; j < PARTS; j++)
            if (mass[k * PARTS + k] > 0 && mass[j * PARTS + j] > 0)  // a velocity that there is
                mass[k * PARTS + j] += impulse[k] * impulse[j] / found - expected[k] * expected[j] / own;
}

// Whether the material has any part in how a solid responds to impulses: whether it has added or attached mass.
static bool is_wet(const rh_solid_coupling *c, int n)
{
    double sum = 0;
    for (int k = 0; k < PARTS; k++)
        sum += c->added[n * SQUARE + k * PARTS + k] + c->dynamics->attached[n * SQUARE + k * PARTS + k];
    return sum > 1e-6 * c->dynamics->items[n].mass.mass;
}

// Whether the linear impulses on solids in the material have changed by more than SETTLED.
static bool goes_on(rh_solid_coupling *c)
{
    double parts = 0, all = 0;
    for (int n = 0; n < c->dynamics->count; n++)
        for (int k = 0; k < PARTS; k++) {
            double *whole = &c->whole[n * PARTS + k], more = c->touch[n * PARTS + k];
            *whole += more;
            if (k >= 3 || !is_wet(c, n)) continue;
            parts += more * more;
            all += *whole * *whole;
        }
    return parts > SETTLED * SETTLED * all;
}

bool rh_solid_coupling_touch_again(rh_solid_coupling *c, double scale, float *b)
{
    rh_dynamics *d = c->dynamics;
    size_t six = (size_t)d->count * PARTS * sizeof(double);
    if (c->learnt && d->contacts.count > RH_CONTACTS_MANY) return false;  // piles tremble anyway: two solves are enough
    if (!c->learnt) rh_dynamics_masses(d, c->added, c->masses);
    c->learnt = true;
    for (int n = 0; n < d->count; n++) {
        double change[PARTS];
        for (int k = 0; k < PARTS; k++) change[k] = d->velocity[n * PARTS + k] - c->before[n * PARTS + k];
        learn_mass(c->touch + n * PARTS, change, c->masses + n * SQUARE);
    }
    if (!rh_dynamics_touch_again(d, c->masses, c->touch) || !goes_on(c)) return false;
    memcpy(c->before, d->velocity, six);
    rh_dynamics_strike(d, c->touch);
    tell_cells(c, scale, b);
    return true;
}

// Nothing answers these, so the masses are the solids' own. (Instead of it the last impulses above were left
// unanswered: they reckon with the mass of the material, and turned the small error of a stone's velocity round. Below
// a splash it crept away at 0.2 mm/s.)
void rh_solid_coupling_touch_last(rh_solid_coupling *c)
{
    rh_dynamics *d = c->dynamics;
    if (d->contacts.count == 0 || d->contacts.count > RH_CONTACTS_MANY) return;
    rh_dynamics_masses(d, NULL, c->masses);
    if (rh_dynamics_touch_again(d, c->masses, c->touch)) rh_dynamics_strike(d, c->touch);
}
