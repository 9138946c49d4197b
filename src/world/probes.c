// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What a step shows (physics/observer.h) is added up by column, with its weight in seconds; at the time of a row the
// sum is divided by the weight and begins again. The sums are part of the state, so rows after a resume are the same.
#include "world/probes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "world/probe_parts.h"

// --- columns ---------------------------------------------------------------------------------------------------------
typedef struct quantity {
    const char *name, *unit, *flat_unit;  // in two dimensions: of a layer 1 m thick, but for volumes
    char parts;                           // 's' one number, 'v' a vector, 'm' a moment (in two dimensions its z)
    bool mean;
} quantity;

static const quantity quantities[RH_PROBE_POSE + 1][6] = {
    [RH_PROBE_POINT] = {{"pressure", "Pa", "Pa", 's', true}, {"velocity", "m/s", "m/s", 'v', true}},
    [RH_PROBE_LINE] = {{"height", "m", "m", 's', false}, {"wet", "m", "m", 's', false}},
    [RH_PROBE_RECTANGLE] = {{"flow", "m^3/s", "m^2/s", 's', true}},
    [RH_PROBE_BOX] = {{"volume", "m^3", "m^2", 's', false},
                      {"mass", "kg", "kg/m", 's', false},
                      {"centre", "m", "m", 'v', false},
                      {"kinetic_energy", "J", "J/m", 's', false},
                      {"potential_energy", "J", "J/m", 's', false}},
    [RH_PROBE_SOLID] = {{"force", "N", "N/m", 'v', true}, {"moment", "N m", "N", 'm', true}},
    [RH_PROBE_POSE] = {{"position", "m", "m", 'v', false},
                       {"turn", "rad", "rad", 'm', false},
                       {"velocity", "m/s", "m/s", 'v', false},
                       {"spin", "rad/s", "rad/s", 'm', false}},
};

static void add_column(rh_probes *p, const char *probe, const quantity *q, int axis)
{
    if (p->columns) {
        rh_probe_column *column = &p->columns[p->column_count];
        char part[4] = {'.', (char)('x' + axis), 0};
        snprintf(column->title, sizeof column->title, "%.40s.%s%s [%s]", probe, q->name, axis < 0 ? "" : part,
                 p->dimension == 2 ? q->flat_unit : q->unit);
        column->mean = q->mean;
    }
    p->column_count++;
}

// Counts the columns, and names them when there is room for them.
static void add_columns(rh_probes *p)
{
    p->column_count = 0;
    for (int i = 0; i < p->count; i++) {
        const rh_probe_params *params = p->items[i].params;
        p->items[i].first = p->column_count;
        for (const quantity *q = quantities[params->where.kind]; q->name; q++)
            for (int a = 0; a < 3; a++) {
                bool wanted = q->parts == 's'   ? a == 0
                              : q->parts == 'v' ? a < p->dimension
                                                : p->dimension == 3 || a == 2;
                if (wanted) add_column(p, params->name, q, q->parts == 's' ? -1 : a);
            }
    }
}

// --- the state -------------------------------------------------------------------------------------------------------
// Head, then by column: what is summed since the last row, its weights, and the samples at the end of the last step.
enum { MARK, NEXT, ROWS, SEEN, HEAD };  // whose state; number of the next row; rows so far; is there a last step

static double *summed(const rh_probes *p) { return p->state + HEAD; }
static double *weights(const rh_probes *p) { return p->state + HEAD + p->column_count; }
static double *last(const rh_probes *p) { return p->state + HEAD + 2 * p->column_count; }
static size_t state_bytes(const rh_probes *p) { return (size_t)(HEAD + 3 * p->column_count) * sizeof(double); }

// 48 bits of a hash, which a double holds.
static double mark_of(const rh_probes *p)
{
    uint64_t hash = rh_hash(&p->scene->output.probe_rate, sizeof(double), 0);
    for (int i = 0; i < p->column_count; i++) hash = rh_hash(p->columns[i].title, strlen(p->columns[i].title), hash);
    return (double)(hash >> 16);
}

const double *rh_probes_state(rh_probes *p, size_t *bytes)
{
    *bytes = state_bytes(p);
    return p->state;
}

static void start_state(rh_probes *p, double time)
{
    memset(p->state, 0, state_bytes(p));
    p->state[MARK] = mark_of(p);
    p->state[NEXT] = floor(time * p->scene->output.probe_rate * (1 + 1e-12)) + 1;
}

bool rh_probes_set_state(rh_probes *p, const void *state, size_t bytes, double time)
{
    double mark = 0;
    if (bytes == state_bytes(p)) memcpy(&mark, state, sizeof mark);
    bool same = mark != 0 && mark == p->state[MARK];
    if (same) memcpy(p->state, state, bytes);
    else start_state(p, time);
    p->row_count = 0;
    return same;
}

// --- making them -----------------------------------------------------------------------------------------------------
static rh_code see(void *user, const rh_step_view *view, rh_status *status);

static int solid_of(const rh_scene *scene, const rh_probe_params *params)
{
    const char *name = rh_probe_solid_name(params);
    const rh_solid_params *solids = scene->solids.items;
    for (int i = 0; name && i < scene->solids.count; i++)
        if (solids[i].name && strcmp(solids[i].name, name) == 0) return i;
    return -1;
}

// --- forces on solids ------------------------------------------------------------------------------------------------
static rh_code take_walls(rh_probes *p, rh_status *status)
{
    rh_wall_region *regions = rh_alloc((size_t)(p->count + 1) * sizeof *regions, "probes", status);
    if (!regions) return RH_MEMORY;
    int count = 0;
    for (int i = 0; i < p->count; i++) {
        const rh_solid_probe *s = p->items[i].params->where.value;
        if (p->items[i].params->where.kind != RH_PROBE_SOLID) continue;
        p->items[i].region = count;
        regions[count++] = (rh_wall_region){p->items[i].solid, s->min, s->max};
    }
    rh_code code = rh_wall_impulses_init(&p->walls, regions, count, p->dimension, p->density * p->particle, status);
    rh_free(regions);
    return code;
}

// The middle of the solid's bounds where it is then; the origin for all solids, and those without end.
static rh_dvec3 centre_of(const rh_probes *p, const rh_probe *probe, const rh_obstacles *obstacles)
{
    if (probe->solid < 0) return rh_d3(0, 0, 0);
    const rh_obstacle *solid = &obstacles->items[probe->solid];
    rh_dbox box = rh_shape_bounds(&solid->shape);
    rh_dvec3 middle = rh_d3_scale(rh_d3_add(box.min, box.max), 0.5);
    if (!(fabs(box.min.x) < 1e20 && fabs(box.min.y) < 1e20 && fabs(box.max.x) < 1e20 && fabs(box.max.y) < 1e20))
        return rh_d3(0, 0, 0);
    if (p->dimension == 2) middle.z = 0;
    return rh_pose_to_world(&solid->pose, middle);
}

static void find_centres(rh_probes *p, const rh_obstacles *obstacles)
{
    for (int n = 0; n < p->count && p->wants[RH_PROBE_SOLID]; n++)
        if (p->items[n].params->where.kind == RH_PROBE_SOLID)
            p->items[n].centre = centre_of(p, &p->items[n], obstacles);
}

// Impulses of the step into the columns of forces and moments.
static void read_walls(rh_probes *p)
{
    for (int n = 0; n < p->count; n++) {
        const rh_probe *probe = &p->items[n];
        if (probe->params->where.kind != RH_PROBE_SOLID) continue;
        const rh_impulse *got = &p->walls.received[probe->region];
        rh_dvec3 moment = rh_impulse_about(got, probe->centre);
        double *out = p->sum + probe->first;
        for (int a = 0; a < p->dimension; a++) *out++ = (&got->linear.x)[a];
        for (int a = p->dimension == 3 ? 0 : 2; a < 3; a++) *out++ = (&moment.x)[a];
        for (double *w = p->weight + probe->first, *end = w + (out - (p->sum + probe->first)); w < end; w++)
            *w = p->walls.time;
    }
}

static rh_code take(rh_probes *p, rh_status *status)
{
    const rh_scene *scene = p->scene;
    p->items = rh_alloc_zero((size_t)p->count * sizeof *p->items, "probes", status);
    if (!p->items) return RH_MEMORY;
    const rh_probe_params *all = scene->probes.items;
    for (int i = 0, n = 0; i < p->count; i++, n++) {
        while (all[n].material_index != p->material) n++;
        p->items[i].params = &all[n];
        p->items[i].solid = solid_of(scene, p->items[i].params);
        p->wants[p->items[i].params->where.kind] = true;
    }
    add_columns(p);
    p->columns = rh_alloc_zero((size_t)p->column_count * sizeof *p->columns, "probes", status);
    if (!p->columns) return RH_MEMORY;
    add_columns(p);
    if (p->wants[RH_PROBE_SOLID]) RH_TRY(take_walls(p, status));
    size_t row = (size_t)p->column_count * sizeof(double);
    p->sum = rh_alloc_zero(row, "probes", status);
    p->weight = rh_alloc_zero(row, "probes", status);
    p->sample = rh_alloc_zero(row, "probes", status);
    p->latest = rh_alloc_zero(row, "probes", status);
    p->state = rh_alloc_zero(state_bytes(p), "probes", status);
    if (!p->sum || !p->weight || !p->sample || !p->latest || !p->state) return RH_MEMORY;
    start_state(p, 0);
    return rh_points_add(&p->near, "P", RH_POINT_VEC3F, status);
}

static int count_of(const rh_scene *scene, int material)
{
    const rh_probe_params *all = scene->probes.items;
    int count = 0;
    for (int i = 0; i < scene->probes.count; i++) count += all[i].material_index == material;
    return count;
}

rh_code rh_probes_create(const rh_scene *scene, int material, rh_obstacles *obstacles, double spacing, double density,
                         rh_probes **out, rh_status *status)
{
    *out = NULL;
    rh_probes *p = rh_alloc_zero(sizeof *p, "probes", status);
    if (!p) return RH_MEMORY;
    p->scene = scene;
    p->obstacles = obstacles;
    p->dimension = (int)scene->dimension;
    p->spacing = spacing;
    p->density = density;
    p->particle = pow(spacing, p->dimension);
    p->filling = spacing * cbrt(0.75 / 3.14159265358979323846);
    p->count = count_of(scene, material);
    p->material = material;
    p->observer = (rh_observer){see, p};
    rh_arena_init(&p->arena, "probes");
    rh_points_init(&p->near);
    rh_code code = take(p, status);
    if (code == RH_OK) *out = p;
    else rh_probes_free(p);
    return code;
}

void rh_probes_free(rh_probes *p)
{
    if (!p) return;
    void *owned[] = {p->items, p->columns, p->sum, p->weight, p->sample, p->latest, p->state, p->rows, p->start};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) rh_free(owned[i]);
    rh_points_free(&p->near);
    rh_cut_cache_free(&p->cut);
    rh_wall_impulses_free(&p->walls);
    rh_arena_free(&p->arena);
    rh_free(p);
}

// --- the step --------------------------------------------------------------------------------------------------------
const rh_observer *rh_probes_observer(const rh_probes *p) { return &p->observer; }

void rh_probes_begin(rh_probes *p)
{
    memset(p->sum, 0, (size_t)p->column_count * sizeof(double));
    memset(p->weight, 0, (size_t)p->column_count * sizeof(double));
    p->start_count = 0;
    if (!p->wants[RH_PROBE_SOLID]) return;
    rh_wall_impulses_begin(&p->walls);
    find_centres(p, p->obstacles);
}

static rh_code keep(const rh_points *points, const char *name, rh_vec3 **to, int64_t *count, int64_t *room,
                    rh_status *status)
{
    if (points->count > *room) {
        int64_t wanted = points->count + points->count / 4;
        rh_vec3 *grown = rh_realloc(*to, (size_t)wanted * sizeof **to, "probes", status);
        if (!grown) return RH_MEMORY;
        *to = grown;
        *room = wanted;
    }
    memcpy(*to, rh_points_data(points, name, RH_POINT_VEC3F), (size_t)points->count * sizeof **to);
    *count = points->count;
    return RH_OK;
}

static rh_code see(void *user, const rh_step_view *view, rh_status *status)
{
    rh_probes *p = user;
    bool points = p->wants[RH_PROBE_POINT];
    if (view->what == RH_SIGHT_SORTED && p->wants[RH_PROBE_RECTANGLE])
        RH_TRY(keep(view->points, "P", &p->start, &p->start_count, &p->start_room, status));
    if (view->what == RH_SIGHT_PIECES && p->wants[RH_PROBE_RECTANGLE])
        RH_TRY(rh_probe_rectangles_pieces(p, view, status));
    if (view->what == RH_SIGHT_PRESSED && points) rh_probe_point_pressed(p, view);
    if (view->what == RH_SIGHT_FLOWS && points) rh_probe_point_flows(p, view);
    if (!p->wants[RH_PROBE_SOLID]) return RH_OK;
    if (view->what == RH_SIGHT_PRESSED || view->what == RH_SIGHT_FLOWS) find_centres(p, view->obstacles);
    return rh_wall_impulses_see(&p->walls, view, status);
}

rh_code rh_probes_stepped(rh_probes *p, const rh_points *points, rh_status *status)
{
    if (p->start_count == points->count && points->count > 0) rh_probe_rectangles(p, points);
    if (!p->wants[RH_PROBE_SOLID]) return RH_OK;
    RH_TRY(rh_wall_impulses_stepped(&p->walls, p->obstacles, points, status));
    read_walls(p);
    return RH_OK;
}

// --- rows ------------------------------------------------------------------------------------------------------------
static rh_code add_row(rh_probes *p, double time, rh_status *status)
{
    int64_t width = p->column_count + 1;
    if (p->row_count == p->row_room) {
        int64_t room = 2 * p->row_room + 4;
        double *grown = rh_realloc(p->rows, (size_t)(room * width) * sizeof *grown, "probes", status);
        if (!grown) return RH_MEMORY;
        p->rows = grown;
        p->row_room = room;
    }
    double *row = p->rows + p->row_count++ * width;
    row[0] = time;
    memcpy(row + 1, p->latest, (size_t)p->column_count * sizeof(double));
    p->latest_time = time;
    p->state[ROWS]++;
    return RH_OK;
}

static void add_share(rh_probes *p, double share)
{
    for (int c = 0; c < p->column_count; c++) {
        summed(p)[c] += share * p->sum[c];
        weights(p)[c] += share * p->weight[c];
    }
}

// The values of a row `way` through the step (0..1), of what was summed since the one before.
static void finish_row(rh_probes *p, double way)
{
    for (int c = 0; c < p->column_count; c++) {
        double before = p->state[SEEN] != 0 ? last(p)[c] : p->sample[c];
        if (!p->columns[c].mean) p->latest[c] = before + way * (p->sample[c] - before);
        else p->latest[c] = weights(p)[c] > 0 ? summed(p)[c] / weights(p)[c] : 0;
        summed(p)[c] = weights(p)[c] = 0;
    }
}

// Even times: a share of the step goes to each row that ends in it.
static rh_code add_even_rows(rh_probes *p, double from, double to, double rate, rh_status *status)
{
    double at = from, length = to - from;
    for (;;) {
        double end = p->state[NEXT] / rate;
        bool ends = end <= to + 1e-9 / rate;
        double until = ends ? fmin(end, to) : to;
        if (until > at) add_share(p, (until - at) / length);
        at = fmax(at, until);
        if (!ends) return RH_OK;
        finish_row(p, fmin(fmax((end - from) / length, 0), 1));
        RH_TRY(add_row(p, end, status));
        p->state[NEXT]++;
    }
}

// Nothing pressed and nothing passed is a measurement too; a velocity there is only in what is wet.
static void count_idle_time(rh_probes *p, double length)
{
    for (int i = 0; i < p->count; i++) {
        int kind = p->items[i].params->where.kind, end = i + 1 < p->count ? p->items[i + 1].first : p->column_count;
        for (int c = p->items[i].first; c < end; c++)
            if (p->weight[c] == 0 && !(kind == RH_PROBE_POINT && c > p->items[i].first)) p->weight[c] = length;
    }
}

rh_code rh_probes_measure(rh_probes *p, const rh_points *points, double from, double to, rh_status *status)
{
    double rate = p->scene->output.probe_rate;
    count_idle_time(p, to - from);
    if (p->wants[RH_PROBE_BOX]) RH_TRY(rh_probe_boxes(p, points, status));
    if (p->wants[RH_PROBE_LINE]) RH_TRY(rh_probe_gauges(p, points, status));
    if (p->wants[RH_PROBE_POSE]) rh_probe_poses(p);
    if (rate > 0) RH_TRY(add_even_rows(p, from, to, rate, status));
    else {
        add_share(p, 1);
        finish_row(p, 1);
        RH_TRY(add_row(p, to, status));
    }
    memcpy(last(p), p->sample, (size_t)p->column_count * sizeof(double));
    p->state[SEEN] = 1;
    return RH_OK;
}

// --- reading ---------------------------------------------------------------------------------------------------------
int rh_probes_columns(const rh_probes *p) { return p->column_count; }
const char *rh_probes_title(const rh_probes *p, int column) { return p->columns[column].title; }
const double *rh_probes_latest(const rh_probes *p) { return p->latest; }
double rh_probes_latest_time(const rh_probes *p) { return p->latest_time; }
int64_t rh_probes_row_count(const rh_probes *p) { return (int64_t)p->state[ROWS]; }
void rh_probes_forget_rows(rh_probes *p) { p->row_count = 0; }

int64_t rh_probes_rows(const rh_probes *p, const double **rows)
{
    *rows = p->rows;
    return p->row_count;
}

// --- warnings --------------------------------------------------------------------------------------------------------
// The box around what a probe looks at, of those that have a place of their own.
static bool place_of(const rh_probe_params *params, rh_dbox *box)
{
    const void *value = params->where.value;
    rh_dvec3 corners[4];
    int count = 2;
    if (params->where.kind == RH_PROBE_POINT) corners[0] = corners[1] = ((const rh_point_probe *)value)->position;
    else if (params->where.kind == RH_PROBE_LINE)
        corners[0] = ((const rh_line_probe *)value)->from, corners[1] = ((const rh_line_probe *)value)->to;
    else if (params->where.kind == RH_PROBE_BOX)
        corners[0] = ((const rh_box_probe *)value)->min, corners[1] = ((const rh_box_probe *)value)->max;
    else if (params->where.kind == RH_PROBE_RECTANGLE) {
        const rh_rectangle_probe *r = value;
        corners[0] = r->corner, corners[1] = rh_d3_add(r->corner, r->side_a);
        corners[2] = rh_d3_add(r->corner, r->side_b), corners[3] = rh_d3_add(corners[1], r->side_b);
        count = 4;
    } else return false;
    *box = (rh_dbox){corners[0], corners[0]};
    for (int i = 1; i < count; i++)
        for (int a = 0; a < 3; a++) {
            (&box->min.x)[a] = fmin((&box->min.x)[a], (&corners[i].x)[a]);
            (&box->max.x)[a] = fmax((&box->max.x)[a], (&corners[i].x)[a]);
        }
    return true;
}

void rh_probes_warn(const rh_probes *p, rh_dbox container)
{
    for (int i = 0; i < p->count; i++) {
        const rh_probe_params *params = p->items[i].params;
        rh_scene_words name = rh_scene_item(p->scene, "probe", i, params, params->name);
        rh_dbox box;
        bool outside = false;
        if (!place_of(params, &box)) continue;
        for (int a = 0; a < p->dimension && container.min.x <= container.max.x; a++)
            outside |= (&box.max.x)[a] < (&container.min.x)[a] || (&box.min.x)[a] > (&container.max.x)[a];
        if (outside)
            rh_log(RH_LOG_WARNING, "%s lies outside of the scene's containers: nothing comes there", name.text);
        else if (params->where.kind == RH_PROBE_POINT &&
                 rh_obstacles_distance(p->obstacles, box.min, NULL) < -p->scene->cell)
            rh_log(RH_LOG_WARNING, "%s lies inside of a solid: nothing comes there", name.text);
    }
}
