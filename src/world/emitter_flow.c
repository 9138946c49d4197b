// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Each column of the cross-section is measured once: where it enters the shape, how much of it is inside, which share
// of it the shape covers. After that how many particles have come by a time, and which, is counting.
#include "world/emitter_flow.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "solid/measure.h"
#include "world/lattice.h"
#include "world/emitter.h"

// --- the shape, seen along the velocity ------------------------------------------------------------------------------
typedef struct view {
    const rh_seeder *s;
    const rh_shape *shape;
    rh_pose pose;
    rh_dvec3 axis[3];
    double low[3], high[3];  // m, along the axes
} view;

static rh_dvec3 view_point(const view *v, double along, const double across[2])
{
    rh_dvec3 x = rh_d3_scale(v->axis[0], along);
    x = rh_d3_add(x, rh_d3_scale(v->axis[1], across[0]));
    if (v->s->dimension == 3) x = rh_d3_add(x, rh_d3_scale(v->axis[2], across[1]));
    return x;
}

static double view_distance(const view *v, double along, const double across[2])
{
    return rh_shape_distance(v->shape, rh_pose_to_local(&v->pose, view_point(v, along, across)));
}

// The least distance along a line, and where. Looked for at points of a quarter of a spacing, then between the
// neighbours of the best.
static double line_least(const view *v, const double across[2], double *where)
{
    double step = 0.25 * v->s->spacing, best = INFINITY, at = v->low[0];
    for (double z = v->low[0]; z <= v->high[0] + step; z += step) {
        double d = view_distance(v, z, across);
        if (d < best) best = d, at = z;
    }
    double a = at - step, b = at + step;
    const double golden = 0.6180339887498949;
    for (int n = 0; n < 40 && fabs(best) < 8 * step; n++) {
        double p = b - golden * (b - a), q = a + golden * (b - a), dp = view_distance(v, p, across),
               dq = view_distance(v, q, across);
        if (dp < best) best = dp, at = p;
        if (dq < best) best = dq, at = q;
        if (dp < dq) b = q;
        else a = p;
    }
    *where = at;
    return best;
}

static double across_distance(const double at[3], const void *user)
{
    double where;
    return line_least(user, at, &where);
}

static double space_distance(const double at[3], const void *user)
{
    const view *v = user;
    return view_distance(v, at[0], at + 1);
}

// Between a point outside and one inside.
static double crossing(const view *v, const double across[2], double outside, double inside)
{
    for (int n = 0; n < 50; n++) {
        double middle = 0.5 * (outside + inside);
        if (view_distance(v, middle, across) < 0) inside = middle;
        else outside = middle;
    }
    return 0.5 * (outside + inside);
}

// Where a column enters the shape, how much of it is inside, and the first hole (of a torus; more than one are rare
// and count as full).
static void measure_line(const view *v, rh_emitter_column *c)
{
    double step = 0.25 * v->s->spacing, left = -INFINITY;
    bool inside = false;
    line_least(v, c->across, &c->back);
    c->gap_at = INFINITY;
    for (double z = v->low[0] - step; z <= v->high[0] + step; z += step) {
        bool now = view_distance(v, z, c->across) < 0;
        if (now == inside) continue;
        double edge = crossing(v, c->across, now ? z - step : z, now ? z : z - step);
        if (now && c->length == 0) c->back = edge;
        else if (now && c->gap == 0) c->gap = edge - left, c->gap_at = left - c->back;
        if (!now) c->length = edge - c->back - c->gap;
        left = edge;
        inside = now;
    }
}

static rh_dvec3 cross_of(rh_dvec3 v)
{
    rh_dvec3 other = fabs(v.x) < 0.6 ? rh_d3(1, 0, 0) : rh_d3(0, 1, 0), n = rh_d3_cross(v, other);
    return rh_d3_scale(n, 1 / rh_d3_length(n));
}

// Along a coordinate axis columns are those of the lattice that bodies are filled from.
static void choose_axes(int dimension, rh_dvec3 velocity, rh_dvec3 axis[3])
{
    axis[0] = rh_d3_scale(velocity, 1 / rh_d3_length(velocity));
    axis[2] = rh_d3(0, 0, 1);
    for (int a = 0; a < dimension; a++) {
        if (fabs((&axis[0].x)[a]) < 1 - 1e-12) continue;
        int b = (a + 1) % dimension, c = dimension - a - b;
        axis[1] = rh_d3(b == 0, b == 1, b == 2);
        if (dimension == 3) axis[2] = rh_d3(c == 0, c == 1, c == 2);
        return;
    }
    axis[1] = dimension == 2 ? rh_d3(-axis[0].y, axis[0].x, 0) : cross_of(axis[0]);
    if (dimension == 3) axis[2] = rh_d3_cross(axis[0], axis[1]);
}

static void view_bounds(view *v)
{
    rh_dbox b = rh_placed_bounds(v->shape, &v->pose);
    for (int a = 0; a < 3; a++) {
        v->low[a] = INFINITY;
        v->high[a] = -INFINITY;
        for (int corner = 0; corner < 8; corner++) {
            rh_dvec3 x = {corner & 1 ? b.max.x : b.min.x, corner & 2 ? b.max.y : b.min.y,
                          corner & 4 ? b.max.z : b.min.z};
            if (v->s->dimension == 2) x.z = 0;
            v->low[a] = fmin(v->low[a], rh_d3_dot(x, v->axis[a]));
            v->high[a] = fmax(v->high[a], rh_d3_dot(x, v->axis[a]));
        }
    }
}

// --- columns ---------------------------------------------------------------------------------------------------------
// The middle of what is covered of a cut column.
static bool find_middle(const view *v, const double center[2], double out[2])
{
    enum { POINTS = 8 };
    double s = v->s->spacing, sum[2] = {0, 0}, where;
    int inside = 0, rows = v->s->dimension == 3 ? POINTS : 1;
    for (int n = 0; n < POINTS * rows; n++) {
        double at[2] = {center[0] + ((n % POINTS + 0.5) / POINTS - 0.5) * s, center[1]};
        if (rows > 1) at[1] += ((n / POINTS + 0.5) / POINTS - 0.5) * s;
        if (line_least(v, at, &where) >= 0) continue;
        sum[0] += at[0];
        sum[1] += at[1];
        inside++;
    }
    if (inside == 0) return false;
    for (int a = 0; a < 2; a++) out[a] = sum[a] / inside;
    return line_least(v, out, &where) < 0;
}

static rh_code add_column(const view *v, rh_emitter_flow *flow, int *room, const int64_t index[2], rh_status *status)
{
    double s = v->s->spacing,
           center[3] = {((double)index[0] + 0.5) * s, v->s->dimension == 3 ? ((double)index[1] + 0.5) * s : 0, 0};
    // What is a thousandth off here is so in every layer to come.
    rh_measure m = {across_distance, v, v->s->dimension - 1, rh_shape_slack(v->shape), false, 0.002};
    rh_emitter_column c = {.across = {center[0], center[1]},
                           .share = flow->rate * rh_measure_share(&m, center, s),
                           .index = {index[0], index[1]}};
    flow->area += c.share * pow(s, v->s->dimension - 1);
    // Slivers that no point was found in: the others pour their part.
    if (c.share == 0 || (c.share < 1 && !find_middle(v, center, c.across))) return RH_OK;
    measure_line(v, &c);
    if (flow->count == *room) {
        int more = *room ? 2 * *room : 64;
        rh_emitter_column *grown = rh_realloc(flow->columns, (size_t)more * sizeof *grown, "world.emitter_flow",
                                              status);
        if (!grown) return RH_MEMORY;
        flow->columns = grown;
        *room = more;
    }
    flow->columns[flow->count++] = c;
    return RH_OK;
}

static int by_phase(const void *a, const void *b)
{
    const rh_emitter_column *p = a, *q = b;
    if (p->phase != q->phase) return p->phase < q->phase ? -1 : 1;
    return p->index[0] != q->index[0] ? (p->index[0] < q->index[0] ? -1 : 1) : p->index[1] < q->index[1] ? -1 : 1;
}

// Turns are evenly spread by share, in an order in which neighbours are far apart.
static void share_turns(const rh_seeder *s, rh_emitter_flow *flow)
{
    double all = 0, sum = 0;
    for (int i = 0; i < flow->count; i++) {
        flow->columns[i].phase = rh_lattice_rank(flow->columns[i].index[0], flow->columns[i].index[1], 0);
        all += flow->columns[i].share;
    }
    qsort(flow->columns, (size_t)flow->count, sizeof *flow->columns, by_phase);
    double scale = flow->area / pow(s->spacing, s->dimension - 1) / all;
    for (int i = 0; i < flow->count; i++) {
        rh_emitter_column *c = &flow->columns[i];
        c->phase = (sum + 0.5 * c->share) / all;
        sum += c->share;
        c->share *= scale;
    }
}

rh_code rh_emitter_flow_create(const rh_seeder *seeder, int n, rh_emitter_flow *flow, rh_status *status)
{
    const rh_emitter_params *p = (const rh_emitter_params *)seeder->geometry->scene->emitters.items + n;
    const rh_placed_shape *placed = &seeder->geometry->emitters[n];
    *flow = (rh_emitter_flow){.speed = rh_d3_length(p->velocity), .rate = p->rate};
    rh_dvec3 velocity = seeder->dimension == 2 ? rh_d3(p->velocity.x, p->velocity.y, 0) : p->velocity;
    if (rh_d3_length(velocity) == 0 || !rh_motion_is_still(placed->motion) || rh_emitter_varies(p)) return RH_OK;
    flow->speed = rh_d3_length(velocity);
    view v = {.s = seeder, .shape = &placed->shape, .pose = rh_placed_pose(placed, p->start)};
    choose_axes(seeder->dimension, velocity, v.axis);
    view_bounds(&v);
    for (int a = 0; a < 3; a++) flow->axis[a] = v.axis[a];
    double s = seeder->spacing;
    int64_t low[2] = {0, 0}, high[2] = {1, 1};
    int room = 0;
    for (int a = 0; a < seeder->dimension - 1; a++) {
        low[a] = (int64_t)floor(v.low[a + 1] / s);
        high[a] = (int64_t)ceil(v.high[a + 1] / s);
    }
    for (int64_t j = low[1]; j < high[1]; j++)
        for (int64_t i = low[0]; i < high[0]; i++)
            RH_TRY(add_column(&v, flow, &room, (const int64_t[2]){i, j}, status));
    rh_measure space = {space_distance, &v, seeder->dimension, rh_shape_slack(&placed->shape), true, 0};
    flow->volume = p->rate * rh_measure_box(&space, v.low, v.high, s);
    if (flow->count > 0) share_turns(seeder, flow);
    return RH_OK;
}

void rh_emitter_flow_free(rh_emitter_flow *flow)
{
    rh_free(flow->columns);
    rh_free(flow->turns);
    *flow = (rh_emitter_flow){0};
}

double rh_emitter_flow_volume(const rh_emitter_flow *flow, double start, double time)
{
    return time < start ? 0 : flow->volume + flow->area * flow->speed * (time - start);
}

// --- particles -------------------------------------------------------------------------------------------------------
// Column c has poured its particles with numbers up to this when so many spacings have passed; before it began, those
// that fill the shape.
static double last_number(const rh_emitter_column *c, double passed) { return floor(c->share * passed + c->phase); }

static double before_first(const rh_emitter_column *c, double spacing) { return last_number(c, -c->length / spacing); }

static double count_at(const rh_emitter_flow *flow, double spacing, double passed)
{
    double sum = 0;
    for (int i = 0; i < flow->count; i++)
        sum += fmax(last_number(&flow->columns[i], passed) - before_first(&flow->columns[i], spacing), 0);
    return sum;
}

// So many spacings have passed when `count` particles have had their turn.
static double passed_at(const rh_emitter_flow *flow, double spacing, double count)
{
    double low = 0, high = 1;
    for (int i = 0; i < flow->count; i++) low = fmin(low, -flow->columns[i].length / spacing);
    low -= 1;
    while (count_at(flow, spacing, high) <= count) high = 2 * high + 1;
    for (int n = 0; n < 100 && high > low; n++) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        if (count_at(flow, spacing, middle) <= count) low = middle;
        else high = middle;
    }
    return low;
}

static int by_turn(const void *a, const void *b)
{
    const rh_emitter_turn *p = a, *q = b;
    if (p->at != q->at) return p->at < q->at ? -1 : 1;
    return p->column < q->column ? -1 : p->column > q->column;
}

// All turns between two passages, in order.
static rh_code list_turns(rh_emitter_flow *flow, double spacing, double from, double to, int64_t *count,
                          rh_status *status)
{
    double all = count_at(flow, spacing, to) - count_at(flow, spacing, from);
    *count = 0;
    if (all > (double)flow->room) {
        rh_emitter_turn *grown = rh_realloc(flow->turns, (size_t)(1.5 * all + 64) * sizeof *grown, "world.emitter_flow",
                                            status);
        if (!grown) return RH_MEMORY;
        flow->turns = grown;
        flow->room = (int64_t)(1.5 * all + 64);
    }
    for (int i = 0; i < flow->count; i++) {
        const rh_emitter_column *c = &flow->columns[i];
        double done = fmax(last_number(c, from), before_first(c, spacing)), last = last_number(c, to);
        for (double n = done + 1; n <= last; n++)
            flow->turns[(*count)++] = (rh_emitter_turn){(n - c->phase) / c->share, (int64_t)n, i};
    }
    qsort(flow->turns, (size_t)*count, sizeof *flow->turns, by_turn);
    return RH_OK;
}

static rh_dvec3 in_space(const rh_emitter_flow *flow, const rh_emitter_column *c, double along)
{
    rh_dvec3 x = rh_d3_add(rh_d3_scale(flow->axis[0], along), rh_d3_scale(flow->axis[1], c->across[0]));
    return rh_d3_add(x, rh_d3_scale(flow->axis[2], c->across[1]));
}

rh_code rh_emitter_flow_emit(rh_seeder *s, int n, double last, double until, double time, rh_points *points,
                             rh_status *status)
{
    const rh_emitter_params *p = (const rh_emitter_params *)s->geometry->scene->emitters.items + n;
    rh_emitter_flow *flow = &s->emitter_flows[n];
    double particle = pow(s->spacing, s->dimension), layer = flow->area * s->spacing / particle;
    double before = last < 0 ? 0 : floor(rh_emitter_flow_volume(flow, p->start, last) / particle + 0.5);
    double now = floor(rh_emitter_flow_volume(flow, p->start, until) / particle + 0.5);
    if (now <= before || flow->count == 0) return RH_OK;
    int64_t count, batched = 0;
    RH_TRY(list_turns(flow, s->spacing, before > 0 ? passed_at(flow, s->spacing, before) : -INFINITY,
                      passed_at(flow, s->spacing, now), &count, status));
    rh_dvec3 drift = rh_d3_scale(p->velocity, time - p->start), batch[256], rest[256];
    for (int64_t i = 0; i < count; i++) {
        const rh_emitter_turn *turn = &flow->turns[i];
        const rh_emitter_column *c = &flow->columns[turn->column];
        // Rounding may give a particle its turn a little before its place has entered the shape: then it begins where
        // the shape does.
        double volume_due = ((double)i + before + 0.5 - flow->volume / particle) / layer;
        double along = -fmin(turn->at, fmax(volume_due, 0)) * s->spacing;
        along += c->back + (along > c->gap_at ? c->gap : 0);
        rh_dvec3 site = in_space(flow, c, along);
        // Half a spacing on: shapes that begin at a wall pour all the same.
        if (rh_lattice_in_solid(s, rh_d3_add(rh_d3_add(site, drift), rh_d3_scale(flow->axis[0], 0.5 * s->spacing))))
            continue;
        rest[batched] = rh_lattice_jittered(s, site, rh_lattice_number(c->index[0], c->index[1], turn->number));
        batch[batched] = rh_d3_add(rest[batched], drift);
        s->emitted++;
        if (++batched < 256) continue;
        RH_TRY(rh_seed_append(s, points, batch, rest, batched, -1, p->velocity, status));
        batched = 0;
    }
    return rh_seed_append(s, points, batch, rest, batched, -1, p->velocity, status);
}
