// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Probes with a place of their own: points read the grid of the step, rectangles count the particles that pass, boxes
// those inside, gauges make a surface of the particles around their line, as the liquid does.
#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "grid/levelset.h"
#include "world/balance.h"
#include "world/probe_parts.h"

// --- points ----------------------------------------------------------------------------------------------------------
// Eight (four) places of a lattice around a point, and their shares: `axis` is that of faces, 3 for centres of cells.
typedef struct corners {
    int64_t cell[8];  // index in fields; -1 = no tile
    double share[8];
    int count;
} corners;

static corners corners_of(const rh_tiles *tiles, rh_dvec3 point, int axis)
{
    corners out = {.count = 1 << tiles->dimension};
    int base[3] = {0, 0, 0};
    double way[3] = {0, 0, 0}, h = (double)tiles->h;
    for (int a = 0; a < tiles->dimension; a++) {
        double at = (&point.x)[a] / h - (a == axis ? 0 : 0.5);
        if (!(fabs(at) < 1e9)) at = 1e9;
        base[a] = (int)floor(at);
        way[a] = at - base[a];
    }
    for (int n = 0; n < out.count; n++) {
        int up[3] = {n & 1, n >> 1 & 1, n >> 2}, c[3];
        out.share[n] = 1;
        for (int a = 0; a < 3; a++) {
            c[a] = base[a] + up[a];
            if (a < tiles->dimension) out.share[n] *= up[a] ? way[a] : 1 - way[a];
        }
        int32_t t = rh_tiles_find(tiles, (rh_tile){c[0] >> 3, c[1] >> 3, c[2] >> 3});
        out.cell[n] = t < 0 ? -1 : (int64_t)t * tiles->cells + (c[0] & 7) + 8 * (c[1] & 7) + 64 * (c[2] & 7);
    }
    return out;
}

static double sample(const rh_tiles *tiles, const float *field, rh_dvec3 point, int axis, double missing)
{
    corners c = corners_of(tiles, point, axis);
    double sum = 0;
    for (int n = 0; n < c.count; n++) sum += c.share[n] * (c.cell[n] < 0 ? missing : (double)field[c.cell[n]]);
    return sum;
}

static rh_dvec3 position_of(const rh_probes *p, const rh_probe *probe)
{
    rh_dvec3 x = ((const rh_point_probe *)probe->params->where.value)->position;
    if (p->dimension == 2) x.z = 0;
    return x;
}

void rh_probe_point_pressed(rh_probes *p, const rh_step_view *view)
{
    double pascal_seconds = view->density * (double)view->tiles->h * (double)view->speed;
    for (int n = 0; n < p->count; n++) {
        const rh_probe *probe = &p->items[n];
        if (probe->params->where.kind != RH_PROBE_POINT) continue;
        p->sum[probe->first] += pascal_seconds * (double)view->q_at(view, rh_v3_from(position_of(p, probe)));
        p->weight[probe->first] = (double)view->kick;
    }
}

// Does any cell around the point have a pressure?
static bool is_wet(const rh_step_view *view, rh_dvec3 point)
{
    corners c = corners_of(view->tiles, point, 3);
    bool wet = false;
    for (int n = 0; n < c.count; n++)
        wet = wet || (c.cell[n] >= 0 && (view->layout->unknown[c.cell[n] >> 3] >> (c.cell[n] & 7) & 1));
    return wet;
}

// False where there is no material.
static bool velocity_at(const rh_step_view *view, rh_dvec3 point, rh_dvec3 *out)
{
    rh_vec3 velocity;
    if (view->velocity_at) {
        if (!view->velocity_at(view, rh_v3_from(point), &velocity)) return false;
        return *out = rh_d3_from(velocity), true;
    }
    if (!is_wet(view, point)) return false;
    for (int a = 0; a < view->tiles->dimension; a++)
        (&out->x)[a] = sample(view->tiles, view->velocity.axis[a], point, a, 0);
    return true;
}

void rh_probe_point_flows(rh_probes *p, const rh_step_view *view)
{
    for (int n = 0; n < p->count; n++) {
        const rh_probe *probe = &p->items[n];
        rh_dvec3 velocity;
        if (probe->params->where.kind != RH_PROBE_POINT || !velocity_at(view, position_of(p, probe), &velocity))
            continue;
        for (int a = 0; a < p->dimension; a++) {
            int c = probe->first + 1 + a;
            p->sum[c] += (double)view->dt * (&velocity.x)[a];
            p->weight[c] = (double)view->dt;
        }
    }
}

// --- rectangles ------------------------------------------------------------------------------------------------------
typedef struct gate {
    rh_dvec3 corner, normal, a, b;  // a and b divided by their squared lengths: they measure shares of the sides
} gate;

static gate gate_of(const rh_probes *p, const rh_probe *probe)
{
    const rh_rectangle_probe *r = probe->params->where.value;
    rh_dvec3 a = r->side_a, b = r->side_b, corner = r->corner;
    if (p->dimension == 2) a.z = 0, corner.z = -0.5, b = rh_d3(0, 0, 1);
    return (gate){corner, rh_d3_unit(rh_d3_cross(a, b)), rh_d3_scale(a, 1 / rh_d3_dot(a, a)),
                  rh_d3_scale(b, 1 / rh_d3_dot(b, b))};
}

// +1 when the way leads through it along its normal, -1 against it, else 0. What begins on it has not passed it yet.
static int passes(const gate *g, rh_dvec3 from, rh_dvec3 to)
{
    double before = rh_d3_dot(rh_d3_sub(from, g->corner), g->normal),
           after = rh_d3_dot(rh_d3_sub(to, g->corner), g->normal);
    if ((before > 0) == (after > 0)) return 0;
    rh_dvec3 at = rh_d3_sub(rh_d3_add(from, rh_d3_scale(rh_d3_sub(to, from), before / (before - after))), g->corner);
    double a = rh_d3_dot(at, g->a), b = rh_d3_dot(at, g->b);
    return a < 0 || a >= 1 || b < 0 || b >= 1 ? 0 : after > 0 ? 1 : -1;
}

void rh_probe_rectangles(rh_probes *p, const rh_points *points)
{
    const rh_vec3 *x = rh_points_data(points, "P", RH_POINT_VEC3F);
    for (int n = 0; n < p->count; n++) {
        if (p->items[n].params->where.kind != RH_PROBE_RECTANGLE) continue;
        const gate g = gate_of(p, &p->items[n]);
        int64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (int64_t i = 0; i < points->count; i++) sum += passes(&g, rh_d3_from(p->start[i]), rh_d3_from(x[i]));
        p->sum[p->items[n].first] = p->particle * (double)sum;
    }
}

// Volumes differ, so they are summed by blocks, in fixed order.
rh_code rh_probe_rectangles_pieces(rh_probes *p, const rh_step_view *view, rh_status *status)
{
    int64_t blocks = rh_blocks(view->piece_count);
    for (int n = 0; n < p->count; n++) {
        if (p->items[n].params->where.kind != RH_PROBE_RECTANGLE) continue;
        const gate g = gate_of(p, &p->items[n]);
        rh_arena_reset(&p->arena);
        double *sums = rh_arena_take_zero(&p->arena, (size_t)(blocks + 1) * sizeof *sums, status);
        if (!sums) return RH_MEMORY;
#pragma omp parallel for schedule(static)
        for (int64_t b = 0; b < blocks; b++)
            for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, view->piece_count); i++) {
                const rh_moved_piece *m = &view->pieces[i];
                sums[b] += (double)m->volume * passes(&g, rh_d3_from(m->from), rh_d3_from(m->to));
            }
        p->sum[p->items[n].first] = rh_sum(sums, blocks);
    }
    return RH_OK;
}

// --- boxes -----------------------------------------------------------------------------------------------------------
enum { BOX_PARTS = 6 };  // number, centre, kinetic energy, potential energy, of particles of mass 1

static void box_block(const rh_probes *p, const rh_box_probe *box, const rh_points *points, int64_t b, double *out)
{
    const rh_vec3 *x = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    rh_dvec3 g = p->scene->gravity;
    if (p->dimension == 2) g.z = 0;
    const rh_attribute *radius = rh_points_find(points, "radius");
    const rh_weights weights = rh_weights_of(points, radius && !radius->uniform ? p->filling : 0);
    for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, points->count); i++) {
        rh_dvec3 at = rh_d3_from(x[i]);
        bool inside = true;
        for (int a = 0; a < p->dimension; a++)
            inside = inside && (&at.x)[a] >= (&box->min.x)[a] && (&at.x)[a] < (&box->max.x)[a];
        if (!inside) continue;
        double weight = rh_weight(&weights, i);
        out[0] += weight;
        for (int a = 0; a < 3; a++) out[1 + a] += weight * (&at.x)[a];
        out[4] += weight * (0.5 * (double)rh_v3_dot(v[i], v[i]));
        out[5] -= weight * rh_d3_dot(g, at);
    }
}

rh_code rh_probe_boxes(rh_probes *p, const rh_points *points, rh_status *status)
{
    int64_t blocks = rh_blocks(points->count);
    double mass = p->density * p->particle;
    for (int n = 0; n < p->count; n++) {
        if (p->items[n].params->where.kind != RH_PROBE_BOX) continue;
        rh_arena_reset(&p->arena);
        double *sums = rh_arena_take_zero(&p->arena, (size_t)(blocks + 1) * BOX_PARTS * sizeof *sums, status);
        double all[BOX_PARTS] = {0}, *out = p->sample + p->items[n].first;
        if (!sums) return RH_MEMORY;
#pragma omp parallel for schedule(static)
        for (int64_t b = 0; b < blocks; b++)
            box_block(p, p->items[n].params->where.value, points, b, sums + b * BOX_PARTS);
        for (int64_t b = 0; b < blocks; b++)
            for (int k = 0; k < BOX_PARTS; k++) all[k] += sums[b * BOX_PARTS + k];
        *out++ = p->particle * all[0];
        *out++ = mass * all[0];
        for (int a = 0; a < p->dimension; a++) *out++ = all[0] > 0 ? all[1 + a] / all[0] : 0;
        *out++ = mass * all[4];
        *out++ = mass * all[5];
    }
    return RH_OK;
}

// --- poses -----------------------------------------------------------------------------------------------------------
// Axis times angle (0 to pi) of a rotation, by way of the unit quaternion, whose largest part is found first (S.
// Shepperd, J. Guidance and Control 1, 1978): near a half turn the others alone would be rounding.
static rh_dvec3 turn_of(rh_mat3 r)
{
    const double *const m[3] = {&r.row[0].x, &r.row[1].x, &r.row[2].x};
    double d[4] = {m[0][0] + m[1][1] + m[2][2], m[0][0], m[1][1], m[2][2]}, q[4];  // w, x, y, z
    int most = 0;
    for (int k = 1; k < 4; k++)
        if (d[k] > d[most]) most = k;
    q[most] = 0.5 * sqrt(fmax(0, 1 + (most ? 2 * d[most] - d[0] : d[0])));
    if (most == 0) {
        for (int k = 0; k < 3; k++) q[k + 1] = (m[(k + 2) % 3][(k + 1) % 3] - m[(k + 1) % 3][(k + 2) % 3]) / (4 * q[0]);
    } else {
        int a = most - 1, b = (a + 1) % 3, c = (a + 2) % 3;
        q[0] = (m[c][b] - m[b][c]) / (4 * q[most]);
        q[b + 1] = (m[a][b] + m[b][a]) / (4 * q[most]);
        q[c + 1] = (m[a][c] + m[c][a]) / (4 * q[most]);
    }
    rh_dvec3 axis = rh_d3_scale(rh_d3(q[1], q[2], q[3]), q[0] < 0 ? -1 : 1);
    double sine = rh_d3_length(axis), angle = 2 * atan2(sine, fabs(q[0]));
    return rh_d3_scale(axis, sine > 0 ? angle / sine : 0);
}

// Velocities are those of the middle of the step, as those of particles.
void rh_probe_poses(rh_probes *p)
{
    for (int n = 0; n < p->count; n++) {
        const rh_probe *probe = &p->items[n];
        if (probe->params->where.kind != RH_PROBE_POSE) continue;
        const rh_obstacle *o = &p->obstacles->items[probe->solid];
        rh_dvec3 at = rh_d3_add(o->pose.pivot, o->pose.translation), turn = turn_of(o->pose.rotation);
        double *out = p->sample + probe->first;
        for (int a = 0; a < p->dimension; a++) *out++ = (&at.x)[a];
        for (int a = p->dimension == 3 ? 0 : 2; a < 3; a++) *out++ = (&turn.x)[a];
        for (int a = 0; a < p->dimension; a++) *out++ = (&o->linear.x)[a];
        for (int a = p->dimension == 3 ? 0 : 2; a < 3; a++) *out++ = (&o->angular.x)[a];
    }
}

// --- gauges ----------------------------------------------------------------------------------------------------------
enum { REACH = 4, BAND = 3, MARGIN = 3, PER_CELL = 4 };  // cells around the line, of the surface, of tiles; samples

typedef struct line {
    rh_dvec3 from, way;  // m; of unit length
    double length;
} line;

static line line_of(const rh_probes *p, const rh_probe *probe)
{
    const rh_line_probe *l = probe->params->where.value;
    rh_dvec3 from = l->from, to = l->to;
    if (p->dimension == 2) from.z = to.z = 0;
    rh_dvec3 way = rh_d3_sub(to, from);
    return (line){from, rh_d3_unit(way), rh_d3_length(way)};
}

// In order of the particles, so that there is one result.
static rh_code gather(rh_probes *p, const line *l, const rh_points *points, rh_status *status)
{
    const rh_vec3 *x = rh_points_data(points, "P", RH_POINT_VEC3F);
    double reach = REACH * p->scene->cell;
    for (int pass = 0, count = 0; pass < 2; pass++, count = 0) {
        rh_vec3 *out = pass ? rh_points_data(&p->near, "P", RH_POINT_VEC3F) : NULL;
        for (int64_t i = 0; i < points->count; i++) {
            rh_dvec3 d = rh_d3_sub(rh_d3_from(x[i]), l->from);
            double along = fmin(fmax(rh_d3_dot(d, l->way), 0), l->length);
            rh_dvec3 off = rh_d3_sub(d, rh_d3_scale(l->way, along));
            if (rh_d3_dot(off, off) > reach * reach) continue;
            if (out) out[count] = x[i];
            count++;
        }
        if (!pass) RH_TRY(rh_points_resize(&p->near, count, status));
    }
    return RH_OK;
}

static rh_code make_surface(rh_probes *p, rh_tiles *tiles, rh_surface *surface, rh_status *status)
{
    rh_cut_cells cut;
    bool solids = p->obstacles->count > 0;
    const rh_vec3 *x = rh_points_data(&p->near, "P", RH_POINT_VEC3F);
    RH_TRY(rh_tiles_build(tiles, p->dimension, p->scene->cell, x, p->near.count, MARGIN, &p->arena, status));
    RH_TRY(rh_tiles_sort(tiles, &p->near, &p->arena, status));
    if (solids) RH_TRY(rh_cut_cells_build(&cut, &p->cut, tiles, p->obstacles, &p->arena, status));
    return rh_surface_build(surface, tiles, rh_points_data(&p->near, "P", RH_POINT_VEC3F), (float)p->spacing,
                            solids ? cut.distance : NULL, BAND, &p->arena, status);
}

// Height: where the first material from below ends. Wet: all of the line that is in material.
static void read_line(const rh_probes *p, const line *l, const rh_tiles *tiles, const float *phi, double *height,
                      double *wet)
{
    int count = (int)fmin(ceil(l->length / p->scene->cell * PER_CELL), 1e7);
    double step = l->length / count, before = 0;
    bool begun = false, over = false;
    *height = *wet = 0;
    for (int i = 0; i <= count; i++) {
        rh_dvec3 at = rh_d3_add(l->from, rh_d3_scale(l->way, i * step));
        // Deep in solids there is none, whatever the surface does there.
        double outside = fmax(sample(tiles, phi, at, 3, BAND * p->scene->cell),
                              -rh_obstacles_distance(p->obstacles, at, NULL));
        if (i > 0) {
            double in = before <= 0 && outside <= 0 ? step
                        : before > 0 && outside > 0
                            ? 0
                            : step * fmin(before, outside) / (fmin(before, outside) - fmax(before, outside));
            *wet += in;
            if (before < 0 && outside > 0 && !over) *height = (i - 1) * step + in, over = true;
        }
        begun = begun || outside < 0;
        before = outside;
    }
    if (begun && !over) *height = l->length;
}

rh_code rh_probe_gauges(rh_probes *p, const rh_points *points, rh_status *status)
{
    for (int n = 0; n < p->count; n++) {
        rh_probe *probe = &p->items[n];
        if (probe->params->where.kind != RH_PROBE_LINE) continue;
        line l = line_of(p, probe);
        rh_tiles tiles;
        rh_surface surface;
        double *out = p->sample + probe->first;
        out[0] = out[1] = 0;
        RH_TRY(gather(p, &l, points, status));
        if (p->near.count == 0) continue;
        rh_arena_reset(&p->arena);
        RH_TRY(make_surface(p, &tiles, &surface, status));
        read_line(p, &l, &tiles, surface.phi, &out[0], &out[1]);
    }
    return RH_OK;
}
