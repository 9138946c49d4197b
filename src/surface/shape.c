// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The shape of every particle from its neighbourhood: R. Jones, "Droplets, Splashes and Sprays" (EngD thesis,
// Bournemouth University 2018, eqs. 5.3 to 5.9), after J. Yu, G. Turk, "Reconstructing surfaces of particle-based
// fluids using anisotropic kernels" (ACM TOG 32(1), 2013). With d = x_i - x_p and w = 1 - (|d| / R)^3, |d| < R:
//
//   mean       m = sum w d / sum w                     covariance   C = sum w d d^T / sum w - m m^T = Q diag(v) Q^T
//   clamped    v'_i = max(v_i, k_r v_0)                stretch      s_i = k_s v'_i,  k_s = (v'_0 v'_1 v'_2)^(-1/3)
//   semi-axes  a_i = r s_i
//
// Normalising with the clamped variances keeps the volume of the ball exactly (the printed formula does not, and loses
// flat sheets).
//
// The centre of the source is c = x_p + lambda m. Below a free surface m points inwards by what the missing half of the
// ball takes away, 0.32 R at the surface itself: the liquid is drawn in by a whole particle spacing, small drops and
// rims of sheets by more. `recentre` keeps the smoothing and drops the pull: along each axis of the ellipsoid the mean
// and the variance tell where the material ends, and the outermost particles get their shape's end there (find_centre).
// Where variances are equal, at corners of regular lattices, the axes are not determined and neither is the last tenth
// of a spacing. Tried before and worse: the direction of the mean alone instead of axes (sheets swell), subtracting the
// pull of a half space (sheets and slabs swell), moving centres without growing the shape (holes below the surface), no
// smoothing (twice as bumpy).
//
// Neighbours are found by the search of points/neighbours.h, among the particles that are not too deep to be anybody's
// neighbour. Eight of them at a time for the sums, in float with x_p as origin (two passes in double give the same to
// 1e-5 R^2, tests/unit/test_ellipsoid.c); then eight particles at a time.
#include <math.h>
#include <string.h>
#include "base/eigen.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "points/near_parts.h"
#include "surface/parts.h"

enum { LANES = 8, BLOCK = 512, SUMS = 11 };  // count, weight, three of the mean, six of the covariance

// Below a voxel's size a shape would fall through the grid: sheets would get holes and droplets would blink.
static const float LEAST_VOXELS = 0.9f;
static const float COINCIDENT = 1e-11f;  // variance (R^2) below which all neighbours are in one place

// Material ends EDGE standard deviations from the mean: 1.732 for an even slab, whatever its thickness, 1.486 for a
// half space seen from its surface, more for a ball. With this value between them flat, round and conical sets of
// scattered particles come back within a tenth of a spacing (tests/analytic/test_surfacing.c).
static const float EDGE = 1.7f;
static const float SCATTER = 0.08f;  // search radii: means move so much by chance
static const float AT_EDGE = 1.2f,
                   BELOW_EDGE = 2.4f;  // particle radii: so deep a particle is the outermost, or one of those below it

typedef struct batch {
    float sums[SUMS][LANES];
    uint32_t point[LANES];
    float radius[LANES], search[LANES];  // m
    int count;
} batch;

typedef struct tally {  // per block of cells, so that totals do not depend on threads
    double determinants, stretches, least, most;
    int64_t ellipsoids, droplets, neighbours[RH_SURFACING_HISTOGRAM];
} tally;

// The particles that can be neighbours.
typedef struct candidates {
    rh_vec3 *position;  // in cells of the cloud: so sums are of about 1 in any unit of length
    int64_t *cell;      // of the cloud
    int64_t count;
    int reach;             // cells
    rh_neighbours search;  // its cells are those of the cloud
} candidates;

typedef struct shaper {
    const rh_surface_cloud *cloud;
    rh_ellipsoid *shapes;
    double global;      // k_s of all, 1/m^2; only with global_blend
    bool measure_only;  // nothing but the determinants
    int64_t blocks;     // of cells
    float *reaches;     // per block
    tally *tallies;     // per block
    candidates candidates;
    struct {
        float *k_s, *stretch, *rotation, *centre;
        int32_t *neighbours, *ellipsoid;
    } keep;  // diagnostics, may be NULL
} shaper;

// --- neighbourhoods --------------------------------------------------------------------------------------------------
static inline float square(float x) { return x * x; }

// Distance of x from the row of cells [c, c + 1).
static inline float gap(float x, float c) { return x < c ? c - x : x > c + 1 ? x - (c + 1) : 0; }

static void add_eight(rh_f8 q, const rh_f8 d[3], rh_i8 near, rh_f8 sums[SUMS])
{
    rh_f8 one = rh_f8_all(1), none = {0}, w = rh_f8_select(near, one - q * rh_f8_sqrt(q), none), wx = w * d[0],
          wy = w * d[1], wz = w * d[2];
    sums[0] += rh_f8_select(near, one, none);
    sums[1] += w;
    sums[2] += wx;
    sums[3] += wy;
    sums[4] += wz;
    sums[5] += wx * d[0];
    sums[6] += wy * d[1];
    sums[7] += wz * d[2];
    sums[8] += wx * d[1];
    sums[9] += wx * d[2];
    sums[10] += wy * d[2];
}

// Sums over the candidates within `radius` of x, which is in the cell that the window is at; both in cells.
static void sum_neighbours(const rh_near_window *window, rh_vec3 x, float radius, rh_f8 sums[SUMS])
{
    const rh_neighbours *n = window->n;
    float y = x.y - floorf(x.y), z = x.z - floorf(x.z);  // within the cell
    rh_f8 one = rh_f8_all(1), inverse = rh_f8_all(1 / (radius * radius));
    rh_i8 lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int i = 0; i < SUMS; i++) sums[i] = (rh_f8){0};
    for (int r = 0; r < window->count; r++) {
        if (square(gap(y, window->rows[r].y)) + square(gap(z, window->rows[r].z)) >= radius * radius) continue;
        for (int64_t q = window->runs[r].begin, end = window->runs[r].end; q < end; q += LANES) {
            rh_f8 d[3], far = rh_near_eight(n, q, x, d) * inverse;
            rh_i8 near = (far < one) & (lanes < (int32_t)(end - q));
            if (rh_i8_bits(near)) add_eight(far, d, near, sums);
        }
    }
}

// --- eight particles -------------------------------------------------------------------------------------------------
typedef struct form {
    rh_f8 mean[3];            // search radii, from the particle
    rh_f8 raw[3], values[3];  // variances, R^2; clamped ones
    rh_f8 axes[3][3];
    rh_f8 k;            // k_s R^2
    rh_f8 determinant;  // R^6
    rh_i8 one_place;
} form;

// x^(-1/3) by Newton, 1 for zero; the same on every machine, which a library's cbrt need not be.
static double inverse_cube_root(double x)
{
    if (!(x > 0) || x > 1e300) return 1;
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = 0x553ef0ff289dd796 - bits / 3;
    double y;
    memcpy(&y, &bits, sizeof y);
    for (int n = 0; n < 5; n++) y = y * (4 - x * y * y * y) * (1.0 / 3);
    return y;
}

static void find_form(const shaper *s, const batch *b, form *f)
{
    const rh_surfacing_params *params = s->cloud->params;
    rh_f8 weight = rh_f8_load(b->sums[1]), cell = rh_f8_all(s->cloud->cells.h), scale = cell / rh_f8_load(b->search),
          c[6], none = {0};
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int a = 0; a < 3; a++) f->mean[a] = rh_f8_load(b->sums[2 + a]) / weight * scale;
    for (int n = 0; n < 6; n++)
        c[n] = rh_f8_load(b->sums[5 + n]) / weight * scale * scale - f->mean[row[n]] * f->mean[column[n]];
    rh_eigen3(c, f->raw, f->axes);
    for (int i = 0; i < 3; i++) f->raw[i] = rh_f8_max(f->raw[i], none);
    f->one_place = ~(f->raw[0] >= COINCIDENT);  // also what is not a number
    for (int i = 0; i < 3; i++) f->values[i] = rh_f8_max(f->raw[i], (float)params->anisotropy * f->raw[0]);
    const rh_f8 *chosen = params->literal ? f->raw : f->values;
    f->determinant = chosen[0] * chosen[1] * chosen[2];
    for (int l = 0; l < LANES; l++) f->k[l] = (float)inverse_cube_root(f->determinant[l]);
}

// Normalisation (Jones 2018, eq. 5.7) and the passage to droplets (eq. 5.8): the stretches.
static void find_stretch(const shaper *s, const batch *b, form *f, rh_f8 stretch[3], rh_f8 *share)
{
    const rh_surfacing_params *params = s->cloud->params;
    rh_f8 search = rh_f8_load(b->search), squared = search * search, none = {0}, one = rh_f8_all(1);
    float blend = (float)params->global_blend, least = (float)params->droplet_neighbours,
          width = (float)(params->droplet_blend * (double)params->droplet_neighbours);
    if (blend > 0) f->k = (1 - blend) * f->k + blend * (float)s->global * squared;
    if (params->stretch > 0) f->k = (float)params->stretch * squared;
    rh_f8 n = rh_f8_load(b->sums[0]),
          t = rh_f8_min(rh_f8_max((n - least) / rh_f8_all(width > 0 ? width : 1e-3f), none), one);
    *share = t * t * (3 - 2 * t);
    for (int i = 0; i < 3; i++) {
        stretch[i] = rh_f8_select(f->one_place, one, f->k * f->values[i]);
        stretch[i] = (1 - *share) * (float)params->droplet_scale + *share * stretch[i];
    }
}

// Where the centres go (smoothing them: Yu and Turk 2013), search radii from the particle, and what the axes gain by
// it. Axis by axis: the mean is `along` it, material ends at `edge` from the mean on the side of the particle. If the
// particle is the outermost there, its shape should end with the material.
static void find_centre(const shaper *s, const batch *b, const form *f, rh_f8 length[3], rh_f8 centre[3])
{
    float smoothing = (float)s->cloud->params->smoothing;
    rh_f8 none = {0}, one = rh_f8_all(1), search = rh_f8_load(b->search), radius = rh_f8_load(b->radius) / search,
          scale = rh_f8_all((float)s->cloud->voxel) / search;
    for (int a = 0; a < 3; a++) centre[a] = s->cloud->params->recentre ? none : smoothing * f->mean[a];
    for (int i = 0; i < 3 && s->cloud->params->recentre; i++) {
        rh_f8 along = f->mean[0] * f->axes[i][0] + f->mean[1] * f->axes[i][1] + f->mean[2] * f->axes[i][2],
              inward = rh_f8_abs(along);
        rh_f8 edge = EDGE * rh_f8_sqrt(f->raw[i]), depth = edge - inward;
        rh_f8 t = rh_f8_min(rh_f8_max((BELOW_EDGE * radius - depth) / ((BELOW_EDGE - AT_EDGE) * radius), none), one);
        rh_f8 outermost = inward - rh_f8_max(edge - length[i] * scale, none);
        rh_f8 move = smoothing * ((one - t) * rh_f8_min(inward, rh_f8_all(SCATTER)) + t * outermost);
        // A shape that goes outwards would leave a hole behind: it goes half the way and grows by the other half.
        rh_f8 half = 0.5f * rh_f8_min(move, none);
        length[i] -= half / scale;
        move -= half;
        rh_f8 signed_move = rh_f8_select(along < none, -move, move);
        for (int a = 0; a < 3; a++) centre[a] += signed_move * f->axes[i][a];
    }
}

static void write_shape(const shaper *s, const batch *b, int l, const rh_f8 axes[3][3], const rh_f8 length[3],
                        const rh_f8 centre[3], float *reach)
{
    const rh_surface_cloud *cloud = s->cloud;
    rh_ellipsoid *e = &s->shapes[b->point[l]];
    float inverse = (float)(1 / cloud->voxel), far = 0;
    const float *x = &cloud->position[b->point[l]].x;
    float *c = &e->centre.x;
    for (int a = 0; a < 3; a++) {
        float shift = centre[a][l] * b->search[l];
        c[a] = (x[a] + shift) * inverse;
        far += square(shift * inverse);
    }
    e->most = rh_max_of(rh_max_of(length[0][l], length[1][l]), length[2][l]);
    e->least = rh_min(rh_min(length[0][l], length[1][l]), length[2][l]);
    *reach = rh_max_of(*reach, e->most + sqrtf(far));
    if (e->most - e->least < 1e-4f * e->most) {
        e->least = e->most;
        return;
    }
    memset(e->form, 0, sizeof e->form);
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 3; i++)
        for (int n = 0; n < 6; n++) e->form[n] += axes[i][row[n]][l] * axes[i][column[n]][l] / square(length[i][l]);
}

static void keep_facts(const shaper *s, const batch *b, int l, const form *f, const rh_f8 stretch[3],
                       const rh_f8 centre[3], bool droplet)
{
    uint32_t p = b->point[l];
    if (!s->keep.k_s) return;
    s->keep.k_s[p] = droplet ? 0 : f->k[l] / square(b->search[l]);
    s->keep.neighbours[p] = (int32_t)b->sums[0][l];
    s->keep.ellipsoid[p] = !droplet;
    const float *x = &s->cloud->position[p].x;
    for (int a = 0; a < 3; a++) {
        s->keep.stretch[3 * p + a] = stretch[a][l];
        s->keep.centre[3 * p + a] = x[a] + centre[a][l] * b->search[l];
        for (int i = 0; i < 3; i++) s->keep.rotation[9 * p + 3 * a + i] = droplet ? a == i : f->axes[i][a][l];
    }
}

static void count_facts(const batch *b, int l, const form *f, bool droplet, tally *t)
{
    double squared = (double)b->search[l] * b->search[l], k = f->k[l] / squared;
    int bin = 31 - __builtin_clz((uint32_t)b->sums[0][l] | 1);
    t->neighbours[bin < RH_SURFACING_HISTOGRAM ? bin : RH_SURFACING_HISTOGRAM - 1]++;
    if (droplet) {
        t->droplets++;
        return;
    }
    t->determinants += f->determinant[l] * squared * squared * squared;
    t->stretches += k;
    if (t->ellipsoids == 0 || k < t->least) t->least = k;
    if (k > t->most) t->most = k;
    t->ellipsoids++;
}

static void finish_batch(const shaper *s, batch *b, tally *t, float *reach)
{
    for (int l = b->count; l < LANES; l++) {  // lanes to spare: anything finite
        for (int n = 0; n < SUMS; n++) b->sums[n][l] = b->sums[n][0];
        b->radius[l] = b->radius[0];
        b->search[l] = b->search[0];
    }
    form f;
    rh_f8 stretch[3], share, length[3], centre[3], inverse = rh_f8_all((float)(1 / s->cloud->voxel)),
                                                   radius = rh_f8_load(b->radius) * inverse;
    find_form(s, b, &f);
    find_stretch(s, b, &f, stretch, &share);
    for (int i = 0; i < 3; i++) length[i] = rh_f8_max(radius * stretch[i], rh_f8_all(LEAST_VOXELS));
    find_centre(s, b, &f, length, centre);
    for (int l = 0; l < b->count; l++) {
        bool droplet = share[l] <= 0 || f.one_place[l];
        count_facts(b, l, &f, droplet, t);
        if (s->measure_only) continue;
        write_shape(s, b, l, f.axes, length, centre, reach);
        keep_facts(s, b, l, &f, stretch, centre, droplet);
    }
    b->count = 0;
}

// --- tiles -----------------------------------------------------------------------------------------------------------
static void plain_sphere(const shaper *s, uint32_t p, float *reach)
{
    rh_vec3 x = s->cloud->position[p];
    float inverse = (float)(1 / s->cloud->voxel), a = rh_max_of(rh_cloud_radius(s->cloud, p) * inverse, LEAST_VOXELS);
    s->shapes[p] = (rh_ellipsoid){.centre = rh_v3_scale(x, inverse), .most = a, .least = a};
    *reach = rh_max_of(*reach, a);
    if (!s->keep.k_s) return;
    s->keep.centre[3 * p] = x.x, s->keep.centre[3 * p + 1] = x.y, s->keep.centre[3 * p + 2] = x.z;
    for (int a3 = 0; a3 < 3; a3++) s->keep.stretch[3 * p + a3] = s->keep.rotation[9 * p + 4 * a3] = 1;
}

static bool wants_ellipsoid(const shaper *s, int depth, uint32_t p)
{
    return s->cloud->params->mode == RH_SURFACING_ELLIPSOID && depth < s->cloud->sphere_depth &&
           rh_cloud_in_group(s->cloud, p);
}

// Particles of a tile that have no neighbourhood.
static void shape_rest(const shaper *s, int32_t t, float *reach, int64_t *deep)
{
    const rh_surface_cloud *cloud = s->cloud;
    const uint32_t *first = cloud->cells.first + (int64_t)t * cloud->cells.cells;
    for (int c = 0; c < RH_LEAF; c++) {
        int depth = cloud->depth[(int64_t)t * RH_LEAF + c];
        for (uint32_t p = first[c]; p < first[c + 1]; p++) {
            if (wants_ellipsoid(s, depth, p)) continue;
            plain_sphere(s, p, reach);
            if (depth >= cloud->skip_depth) s->shapes[p].most = -1;
            *deep += depth >= cloud->sphere_depth;
        }
    }
}

static void add_particle(const shaper *s, const rh_near_window *window, uint32_t p, batch *b)
{
    const rh_surface_cloud *cloud = s->cloud;
    const rh_surfacing_params *params = cloud->params;
    float radius = rh_cloud_radius(cloud, p), inverse = cloud->cells.inverse_h;
    float search = (float)fmin(
        params->search_radius * (params->search == RH_SEARCH_OWN ? radius : cloud->largest_radius), cloud->widest);
    rh_f8 sums[SUMS];
    sum_neighbours(window, rh_v3_scale(cloud->position[p], inverse), search * inverse, sums);
    int l = b->count++;
    for (int n = 0; n < SUMS; n++) b->sums[n][l] = rh_f8_sum(sums[n]);
    b->point[l] = p;
    b->radius[l] = radius;
    b->search[l] = search;
}

// All particles of a cell of the cloud, whether candidates or not: one that is lent to nobody has a shape, too.
static void shape_cell(const shaper *s, int64_t block, const rh_near_window *window, int64_t at, batch *b)
{
    const rh_surface_cloud *cloud = s->cloud;
    for (uint32_t p = cloud->cells.first[at]; p < cloud->cells.first[at + 1]; p++) {
        if (!wants_ellipsoid(s, cloud->depth[at], p)) continue;
        add_particle(s, window, p, b);
        if (b->count == LANES) finish_batch(s, b, &s->tallies[block], &s->reaches[block]);
    }
}

static void shape_block(const shaper *s, int64_t block)
{
    const rh_neighbours *n = &s->candidates.search;
    int64_t end = (block + 1) * BLOCK < n->cells ? (block + 1) * BLOCK : n->cells;
    rh_near_window window = {.n = n, .reach = s->candidates.reach, .cell = -1};
    batch b = {.count = 0};
    s->tallies[block] = (tally){0};
    s->reaches[block] = 0;
    for (int64_t cell = block * BLOCK; cell < end; cell++) {
        int64_t before = -1;
        for (int64_t i = n->cell_first[cell]; i < n->cell_first[cell + 1]; i++) {
            // One and the same, but a million cells from the origin: the search has no farther ones.
            int64_t at = s->candidates.cell[n->index[i]];
            if (at == before || s->cloud->depth[at] >= s->cloud->sphere_depth) continue;
            if (window.cell != cell) rh_near_window_to(&window, cell);
            shape_cell(s, block, &window, before = at, &b);
        }
    }
    if (b.count) finish_batch(s, &b, &s->tallies[block], &s->reaches[block]);
}

static void shape_all(const shaper *s)
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t b = 0; b < s->blocks; b++) shape_block(s, b);
}

// Those without a neighbourhood; returns how far they reach.
static float shape_others(const shaper *s, rh_surfacing_report *report)
{
    float reach = 0;
    int64_t deep = 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(max : reach) reduction(+ : deep)
    for (int32_t t = 0; t < s->cloud->cells.count; t++) shape_rest(s, t, &reach, &deep);
    report->deep = deep;
    return reach;
}

static double global_stretch(const shaper *s)
{
    double sum = 0;  // few enough blocks for a plain sum, in their order
    int64_t count = 0;
    for (int64_t b = 0; b < s->blocks; b++) sum += s->tallies[b].determinants, count += s->tallies[b].ellipsoids;
    return sum > 0 ? inverse_cube_root(sum / (double)count) : 0;
}

static void report_tallies(const shaper *s, rh_surfacing_report *report)
{
    double sum = 0;
    for (int64_t b = 0; b < s->blocks; b++) {
        const tally *one = &s->tallies[b];
        if (one->ellipsoids && (report->ellipsoids == 0 || one->least < report->k_min)) report->k_min = one->least;
        report->k_max = fmax(report->k_max, one->most);
        sum += one->stretches;
        report->ellipsoids += one->ellipsoids;
        report->droplets += one->droplets;
        for (int i = 0; i < RH_SURFACING_HISTOGRAM; i++) report->neighbours[i] += one->neighbours[i];
    }
    report->k_mean = report->ellipsoids ? sum / (double)report->ellipsoids : 0;
    report->k_global = global_stretch(s);
}

// Lists the candidates of tile t from place `at` on, or only counts them. A cell with more than `max_per_cell`
// particles lends only so many, or a few more: every n-th.
static int64_t list_tile(const shaper *s, int32_t t, int64_t at, bool write)
{
    const rh_surface_cloud *cloud = s->cloud;
    uint32_t most = (uint32_t)cloud->params->max_per_cell;
    for (int64_t c = (int64_t)t * RH_LEAF; c < (int64_t)(t + 1) * RH_LEAF; c++) {
        if (cloud->depth[c] >= cloud->sphere_depth + s->candidates.reach) continue;
        uint32_t begin = cloud->cells.first[c], end = cloud->cells.first[c + 1], count = end - begin;
        uint32_t step = most && count > most ? count / most : 1;
        if (!write) at += (count + step - 1) / step;
        for (uint32_t p = begin; write && p < end; p += step, at++) {
            s->candidates.position[at] = rh_v3_scale(cloud->position[p], cloud->cells.inverse_h);
            s->candidates.cell[at] = c;
        }
    }
    return at;
}

// Particles are candidates unless they lie too deep: nobody's neighbourhood goes so far.
static rh_code find_candidates(shaper *s, rh_arena *arena, rh_status *status)
{
    candidates *c = &s->candidates;
    int32_t tiles = s->cloud->cells.count;
    c->reach = (int)ceil(s->cloud->widest / s->cloud->cells.h - 1e-6);
    if (s->cloud->params->mode != RH_SURFACING_ELLIPSOID || c->reach < 1) return RH_OK;
    int64_t *first = rh_arena_take(arena, ((size_t)tiles + 1) * sizeof *first, status);
    if (!first) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles; t++) first[t] = list_tile(s, t, 0, false);
    for (int32_t t = 0; t < tiles; t++) {
        int64_t here = first[t];
        first[t] = c->count, c->count += here;
    }
    c->position = rh_arena_take(arena, ((size_t)c->count + 1) * sizeof *c->position, status);
    c->cell = rh_arena_take(arena, ((size_t)c->count + 1) * sizeof *c->cell, status);
    if (!c->position || !c->cell) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles; t++) list_tile(s, t, first[t], true);
    const rh_neighbours_input input = {.dimension = 3, .positions = c->position, .count = c->count, .cell = 1};
    return rh_neighbours_build(&c->search, &input, arena, status);
}

static rh_code add_diagnostics(shaper *s, rh_status *status)
{
    rh_points *points = s->cloud->points;
    if (!s->cloud->params->diagnostics || points->count == 0) return RH_OK;
    static const struct {
        const char *name;
        rh_point_type type;
    } rows[] = {{"k_s", RH_POINT_F32},        {"neighbours", RH_POINT_I32}, {"stretch", RH_POINT_VEC3F},
                {"rotation", RH_POINT_MAT3F}, {"centre", RH_POINT_VEC3F},   {"ellipsoid", RH_POINT_I32}};
    void *data[6];
    for (int i = 0; i < 6; i++) {
        RH_TRY(rh_points_add(points, rows[i].name, rows[i].type, status));
        data[i] = rh_points_data(points, rows[i].name, rows[i].type);
    }
    s->keep.k_s = data[0];
    s->keep.neighbours = data[1];
    s->keep.stretch = data[2];
    s->keep.rotation = data[3];
    s->keep.centre = data[4];
    s->keep.ellipsoid = data[5];
    return RH_OK;
}

static rh_code shape_points(shaper *s, float *reach, rh_arena *arena, rh_surfacing_report *report, rh_status *status)
{
    RH_TRY(find_candidates(s, arena, status));
    s->blocks = (s->candidates.search.cells + BLOCK - 1) / BLOCK;
    s->reaches = rh_arena_take(arena, (size_t)(s->blocks + 1) * sizeof *s->reaches, status);
    s->tallies = rh_arena_take(arena, (size_t)(s->blocks + 1) * sizeof *s->tallies, status);
    if (!s->reaches || !s->tallies) return RH_MEMORY;
    if (s->cloud->params->global_blend > 0) {
        s->measure_only = true;
        shape_all(s);
        s->global = global_stretch(s);
        s->measure_only = false;
    }
    shape_all(s);
    *reach = shape_others(s, report);
    for (int64_t b = 0; b < s->blocks; b++) *reach = rh_max_of(*reach, s->reaches[b]);
    report_tallies(s, report);
    return RH_OK;
}

rh_code rh_shapes_make(rh_surface_cloud *cloud, rh_ellipsoid **out, float *reach, rh_arena *arena,
                       rh_surfacing_report *report, rh_status *status)
{
    shaper s = {.cloud = cloud};
    RH_TRY(add_diagnostics(&s, status));
    s.shapes = rh_arena_take(arena, ((size_t)cloud->points->count + 1) * sizeof *s.shapes, status);
    if (!s.shapes) return RH_MEMORY;
    rh_arena_mark mark = rh_arena_save(arena);
    rh_code code = shape_points(&s, reach, arena, report, status);
    rh_neighbours_free(&s.candidates.search);
    rh_arena_restore(arena, mark);
    *out = s.shapes;
    return code;
}
