// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sites are worked through in slabs of blocks of four sites an axis. What happens to a site near a slab's border
// depends on its neighbours, so slabs are decided one ahead of the one that is placed.
#include "world/seed_region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "solid/measure.h"
#include "world/lattice.h"

enum { EDGE = 4, MOST_SITES = EDGE * EDGE * EDGE };

// What becomes of a site: its centre is outside, or inside; a particle more for what is cut off there, or one less.
typedef enum site_state { SITE_OUT, SITE_IN, SITE_ADDED, SITE_DROPPED } site_state;

typedef struct filling {
    const rh_seeder *s;
    const rh_region *region;
    double slack;        // m, of sampled distances
    int64_t low[3];      // first site
    int64_t wide, high;  // sites along x, and along y in space
    int64_t slabs;
    int64_t blocks;   // of a slab
    double *deficit;  // [blocks]: volume beyond the sites that are in, in particles
    int *wanted;      // [blocks]: particles to add
    bool *cut;        // [blocks]: the region's border is near, and shares are known
    double *shares;   // [sites of a slab]: of a site's cube, in the region
    uint8_t *map[3];  // states of the slabs before, of and after the one that is placed
    double carried;   // particles
    double volume;    // particles
} filling;

typedef struct cut_site {
    int at;
    double share, rank;
} cut_site;  // `at`: offset in the slab's map

// --- the region ------------------------------------------------------------------------------------------------------
static rh_dvec3 to_local(const filling *f, rh_dvec3 x)
{
    return f->region->pose ? rh_pose_to_local(f->region->pose, x) : x;
}

static double shape_distance(const filling *f, rh_dvec3 x)
{
    return rh_shape_distance(f->region->shape, to_local(f, x));
}

static rh_dvec3 shape_normal(const filling *f, rh_dvec3 x)
{
    rh_dvec3 n = rh_shape_normal(f->region->shape, to_local(f, x));
    if (f->region->pose) n = rh_pose_turn(f->region->pose, n);
    if (f->s->dimension == 2) n.z = 0;
    return n;
}

// Negative inside of the region. `owned`: whether a site there is the region's. The first body that covers a site owns
// it, borders excepted.
static double region_look(const filling *f, rh_dvec3 x, bool *owned)
{
    const rh_geometry *geometry = f->s->geometry;
    double own = shape_distance(f, x), solids = rh_obstacles_distance(&geometry->obstacles, x, NULL);
    double d = fmax(own, -solids);
    *owned = own < 0 && solids > 0;
    for (int e = 0; e < f->region->earlier; e++) {
        double other = rh_shape_distance(&geometry->bodies[e], x);
        *owned = *owned && other >= 0;
        d = fmax(d, -other);
    }
    return d;
}

static double region_distance(const filling *f, rh_dvec3 x)
{
    bool owned;
    return region_look(f, x, &owned);
}

static double measured_distance(const double at[3], const void *user)
{
    const filling *f = user;
    return region_distance(f, rh_d3(at[0], at[1], f->s->dimension == 3 ? at[2] : 0));
}

static rh_measure measure_of(const filling *f)
{
    return (rh_measure){measured_distance, f, f->s->dimension, f->slack, f->slack > 0, 0};
}

static double share_of(const filling *f, rh_dvec3 x)
{
    rh_measure m = measure_of(f);
    const double center[3] = {x.x, x.y, x.z};
    return rh_measure_share(&m, center, f->s->spacing);
}

static double find_slack(const rh_seeder *s, const rh_region *region)
{
    double slack = rh_shape_slack(region->shape);
    for (int i = 0; i < s->geometry->obstacles.count; i++)
        slack = fmax(slack, rh_shape_slack(&s->geometry->obstacles.items[i].shape));
    for (int e = 0; e < region->earlier; e++) slack = fmax(slack, rh_shape_slack(&s->geometry->bodies[e]));
    return slack;
}

// --- slabs -----------------------------------------------------------------------------------------------------------
// Sites of a slab run along x, then y (in space), then outwards.
static void site_index(const filling *f, int64_t slab, int64_t at, int64_t out[3])
{
    int64_t i = at % f->wide, j = at / f->wide % f->high, o = at / (f->wide * f->high) + slab * EDGE;
    bool deep = f->s->dimension == 3;
    out[0] = f->low[0] + i;
    out[1] = deep ? f->low[1] + j : f->low[1] + o;
    out[2] = deep ? f->low[2] + o : 0;
}

static rh_dvec3 site_place(const filling *f, int64_t slab, int64_t at)
{
    int64_t n[3];
    site_index(f, slab, at, n);
    return rh_lattice_position(f->s, n[0], n[1], n[2]);
}

// Offset in the slab's map of site number n of a block.
static int64_t block_site(const filling *f, int64_t block, int n)
{
    int64_t across = f->wide / EDGE, i = block % across * EDGE + n % EDGE;
    bool deep = f->s->dimension == 3;
    int64_t j = deep ? block / across * EDGE + n / EDGE % EDGE : 0, o = deep ? n / (EDGE * EDGE) : n / EDGE;
    return (o * f->high + j) * f->wide + i;
}

static int block_sites(const filling *f) { return f->s->dimension == 3 ? EDGE * EDGE * EDGE : EDGE * EDGE; }

static rh_dvec3 block_center(const filling *f, int64_t slab, int64_t block)
{
    rh_dvec3 a = site_place(f, slab, block_site(f, block, 0)),
             b = site_place(f, slab, block_site(f, block, block_sites(f) - 1));
    return rh_d3_scale(rh_d3_add(a, b), 0.5);
}

// Which centres are in, and by how much their number falls short of the volume. Returns the sites that are in.
static int survey_block(filling *f, int64_t slab, int64_t block, uint8_t *map)
{
    const rh_measure measure = measure_of(f);
    double reach = rh_measure_reach(&measure, f->s->spacing);
    double far = region_distance(f, block_center(f, slab, block));
    int in = 0;
    f->deficit[block] = 0;
    bool whole = fabs(far) >= rh_measure_reach(&measure, EDGE * f->s->spacing);
    f->cut[block] = !whole;
    for (int n = 0; n < block_sites(f); n++) {
        int64_t at = block_site(f, block, n);
        if (whole) map[at] = far < 0 ? SITE_IN : SITE_OUT;
        else {
            rh_dvec3 x = site_place(f, slab, at);
            bool owned;
            double distance = region_look(f, x, &owned), share = distance < 0;
            map[at] = owned ? SITE_IN : SITE_OUT;
            if (fabs(distance) < reach) {
                share = share_of(f, x);
                f->deficit[block] += share - owned;
            }
            f->shares[at] = share;
        }
        in += map[at] == SITE_IN;
    }
    return in;
}

static int fullest_first(const void *a, const void *b)
{
    const cut_site *p = a, *q = b;
    // Shares of a flat face are equal but for rounding, which must not choose.
    double x = round(p->share * 4096), y = round(q->share * 4096);
    if (x != y) return x > y ? -1 : 1;
    return p->rank < q->rank ? -1 : p->rank > q->rank;
}

static int cut_sites(const filling *f, int64_t slab, int64_t block, const uint8_t *map, site_state state, cut_site *out)
{
    int count = 0;
    for (int n = 0; n < block_sites(f); n++) {
        int64_t at = block_site(f, block, n), index[3];
        if (map[at] != (uint8_t)state) continue;
        site_index(f, slab, at, index);
        double share = f->shares[at];
        if (share > 0 && share < 1)
            out[count++] = (cut_site){(int)at, share, rh_lattice_rank(index[0], index[1], index[2])};
    }
    qsort(out, (size_t)count, sizeof *out, fullest_first);
    return count;
}

static bool place_added(const filling *f, rh_dvec3 site, uint64_t number, rh_dvec3 *out);

// Adds or leaves out particles; returns how many of those wanted could not be.
static int settle_block(const filling *f, int64_t slab, int64_t block, uint8_t *map)
{
    cut_site cut[MOST_SITES];
    int wanted = f->wanted[block], step = wanted > 0 ? 1 : -1;
    if (wanted == 0 || !f->cut[block]) return wanted;
    int count = cut_sites(f, slab, block, map, wanted > 0 ? SITE_OUT : SITE_IN, cut);
    for (int n = 0; n < count && wanted != 0; n++) {
        // To be filled: those of which most is inside; to be emptied: those of which least is.
        int at = cut[wanted > 0 ? n : count - 1 - n].at;
        rh_dvec3 place;
        if (wanted > 0 && !place_added(f, site_place(f, slab, at), 0, &place)) continue;
        map[at] = wanted > 0 ? SITE_ADDED : SITE_DROPPED;
        wanted -= step;
    }
    return wanted;
}

static void decide_slab(filling *f, int64_t slab, uint8_t *map)
{
    int64_t in = 0, left = 0;
    if (slab >= f->slabs) {
        memset(map, SITE_OUT, (size_t)(f->wide * f->high * EDGE));
        return;
    }
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : in)
    for (int64_t b = 0; b < f->blocks; b++) in += survey_block(f, slab, b, map);
    f->volume += (double)in;
    for (int64_t b = 0; b < f->blocks; b++) {
        f->volume += f->deficit[b];
        f->carried += f->deficit[b];
        f->wanted[b] = (int)floor(f->carried + 0.5);
        f->carried -= f->wanted[b];
    }
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : left)
    for (int64_t b = 0; b < f->blocks; b++) left += settle_block(f, slab, b, map);
    f->carried += (double)left;
}

// --- places ----------------------------------------------------------------------------------------------------------
// The middle of what is inside of a site's cube, or failing that the innermost of some points of it. False when none
// is.
static bool place_in_cut(const filling *f, rh_dvec3 site, int points, rh_dvec3 *out)
{
    double s = f->s->spacing, least = 0;
    rh_dvec3 sum = rh_d3(0, 0, 0), best = site;
    int inside = 0, layers = f->s->dimension == 3 ? points : 1;
    for (int n = 0; n < points * points * layers; n++) {
        rh_dvec3 x = site;
        x.x += ((n % points + 0.5) / points - 0.5) * s;
        x.y += ((n / points % points + 0.5) / points - 0.5) * s;
        if (layers > 1) x.z += ((n / points / points + 0.5) / points - 0.5) * s;
        double d = region_distance(f, x);
        if (d >= 0) continue;
        sum = rh_d3_add(sum, x);
        inside++;
        if (d < least) least = d, best = x;
    }
    if (inside == 0) return false;
    *out = rh_d3_scale(sum, 1.0 / inside);
    if (region_distance(f, *out) >= 0) *out = best;
    return true;
}

// Slivers that no such point lies in: the way down the distance, a little beyond the border.
static bool place_beyond(const filling *f, rh_dvec3 site, rh_dvec3 *out)
{
    double s = f->s->spacing, step = 0.05 * s;
    *out = site;
    for (int n = 0; n < 8; n++) {
        double d = region_distance(f, *out);
        if (d < -1e-3 * s) return true;
        rh_dvec3 g = rh_d3(0, 0, 0);
        for (int a = 0; a < f->s->dimension; a++) {
            rh_dvec3 low = *out, high = *out;
            (&low.x)[a] -= step;
            (&high.x)[a] += step;
            (&g.x)[a] = region_distance(f, high) - region_distance(f, low);
        }
        double length = rh_d3_length(g);
        if (!(length > 0)) return false;
        *out = rh_d3_sub(*out, rh_d3_scale(g, (d + 0.02 * s) / length));
    }
    return false;
}

static bool is_fitted(const filling *f) { return f->region->fitted && f->s->jitter >= 1; }

// A particle for what is cut off from sites whose centres are outside. Under a surface that particles are fitted to,
// the outermost layer is complete, half a spacing deep, so those that are too many for it lie under it: where a layer
// as thin as that would be.
static bool place_added(const filling *f, rh_dvec3 site, uint64_t number, rh_dvec3 *out)
{
    double s = f->s->spacing, d = shape_distance(f, site);
    if (is_fitted(f) && d >= 0) {
        double depth = 1.25 * s - 0.5 * d;
        rh_dvec3 x = rh_lattice_jittered(f->s, site, number);
        x = rh_d3_sub(x, rh_d3_scale(shape_normal(f, x), shape_distance(f, x) + depth));
        if (region_distance(f, x) < 0 && fabs(shape_distance(f, x) + depth) < 0.2 * s) {
            *out = x;
            return true;
        }
    }
    return place_in_cut(f, site, 4, out) || place_beyond(f, site, out);
}

static site_state neighbour(const filling *f, int64_t at, int axis, int sign)
{
    int64_t i = at % f->wide, j = at / f->wide % f->high, o = at / (f->wide * f->high);
    bool outwards = axis == f->s->dimension - 1;
    if (axis == 0) i += sign;
    else if (outwards) o += sign;
    else j += sign;
    if (i < 0 || i >= f->wide || j < 0 || j >= f->high) return SITE_OUT;
    const uint8_t *map = f->map[o < 0 ? 0 : o < EDGE ? 1 : 2];
    return (site_state)map[((o + EDGE) % EDGE * f->high + j) * f->wide + i];
}

// Is this the site below one that was left out at the surface? Then it takes that one's place.
static bool moves_up(const filling *f, rh_dvec3 site, int64_t at)
{
    for (int a = 0; a < f->s->dimension; a++)
        for (int sign = -1; sign <= 1; sign += 2) {
            if (neighbour(f, at, a, sign) != SITE_DROPPED) continue;
            rh_dvec3 above = site;
            (&above.x)[a] += sign * f->s->spacing;
            rh_dvec3 n = shape_normal(f, above);
            double along = sign * (&n.x)[a];
            if (along >= fabs(n.x) && along >= fabs(n.y) && along >= fabs(n.z)) return true;
        }
    return false;
}

// The outermost layer of sites is moved to lie exactly half a spacing inside the surface (Y. Zhu, R. Bridson,
// "Animating sand as a fluid", 2005), so that the surface starts smooth; a site's depth is anything between 0 and one
// spacing there, and what that layer has too much or too little the one below makes up for. (Moving that one too, to
// the middle of the room it has left, made resting water no calmer.)
static rh_dvec3 place_in(const filling *f, rh_dvec3 site, int64_t at, uint64_t number)
{
    rh_dvec3 x = rh_lattice_jittered(f->s, site, number);
    double s = f->s->spacing, depth = is_fitted(f) ? -shape_distance(f, site) : 2 * s;
    if (depth >= s && !(depth < 2 * s && moves_up(f, site, at))) return x;
    return rh_d3_sub(x, rh_d3_scale(shape_normal(f, x), shape_distance(f, x) + 0.5 * s));
}

static int64_t place_row(const filling *f, int64_t slab, int64_t row, rh_dvec3 *out)
{
    int64_t count = 0;
    for (int64_t at = row * f->wide; at < (row + 1) * f->wide; at++) {
        site_state state = (site_state)f->map[1][at];
        if (state != SITE_IN && state != SITE_ADDED) continue;
        int64_t n[3];
        site_index(f, slab, at, n);
        rh_dvec3 site = rh_lattice_position(f->s, n[0], n[1], n[2]);
        uint64_t number = rh_lattice_number(n[0], n[1], n[2]);
        if (out && state == SITE_IN) out[count] = place_in(f, site, at, number);
        // What could be placed without its jitter may just not be with it.
        else if (out && !place_added(f, site, number, &out[count])) out[count] = site;
        count++;
    }
    return count;
}

static rh_code place_slab(const filling *f, int64_t slab, rh_seed_region_function *visit, void *user, int64_t *count,
                          rh_status *status)
{
    int64_t rows = f->high * EDGE, total = 0;
    int64_t *first = rh_alloc((size_t)rows * sizeof *first, "world.seed", status);
    if (!first) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < rows; r++) first[r] = place_row(f, slab, r, NULL);
    for (int64_t r = 0; r < rows; r++) {
        int64_t n = first[r];
        first[r] = total;
        total += n;
    }
    *count += total;
    rh_code code = RH_OK;
    if (visit && total > 0) {
        rh_dvec3 *places = rh_alloc((size_t)total * sizeof *places, "world.seed", status);
        if (!places) code = RH_MEMORY;
        else {
#pragma omp parallel for schedule(dynamic, 1)
            for (int64_t r = 0; r < rows; r++) place_row(f, slab, r, places + first[r]);
            code = visit(places, total, user, status);
        }
        rh_free(places);
    }
    rh_free(first);
    return code;
}

// --- all of it -------------------------------------------------------------------------------------------------------
static int64_t floor_to(int64_t n) { return n >= 0 ? n / EDGE * EDGE : -((-n + EDGE - 1) / EDGE * EDGE); }

static rh_code take_room(filling *f, rh_status *status)
{
    size_t sites = (size_t)(f->wide * f->high * EDGE);
    f->deficit = rh_alloc((size_t)f->blocks * sizeof *f->deficit, "world.seed", status);
    f->wanted = rh_alloc((size_t)f->blocks * sizeof *f->wanted, "world.seed", status);
    f->cut = rh_alloc((size_t)f->blocks * sizeof *f->cut, "world.seed", status);
    f->shares = rh_alloc(sites * sizeof *f->shares, "world.seed", status);
    for (int i = 0; i < 3; i++)
        if (!(f->map[i] = rh_alloc_zero(sites, "world.seed", status))) return RH_MEMORY;
    return f->deficit && f->wanted && f->cut && f->shares ? RH_OK : RH_MEMORY;
}

static rh_code fill_slabs(filling *f, rh_seed_region_function *visit, void *user, int64_t *count, rh_status *status)
{
    decide_slab(f, 0, f->map[2]);
    for (int64_t slab = 0; slab < f->slabs; slab++) {
        uint8_t *oldest = f->map[0];
        f->map[0] = f->map[1];
        f->map[1] = f->map[2];
        f->map[2] = oldest;
        decide_slab(f, slab + 1, f->map[2]);
        RH_TRY(place_slab(f, slab, visit, user, count, status));
    }
    return RH_OK;
}

rh_code rh_seed_region(const rh_seeder *seeder, const rh_region *region, const rh_dbox *bounds,
                       rh_seed_region_function *visit, void *user, rh_seeded *out, rh_status *status)
{
    rh_sites box;
    *out = (rh_seeded){0};
    RH_TRY(rh_lattice_sites(seeder, *bounds, &box, status));
    filling f = {.s = seeder, .region = region, .slack = find_slack(seeder, region), .high = 1};
    int last = seeder->dimension - 1;
    int64_t size[3] = {1, 1, 1};
    for (int a = 0; a <= last; a++) {
        f.low[a] = floor_to(box.low[a]);
        size[a] = floor_to(box.high[a] + EDGE - 1) - f.low[a];
        if (size[a] <= 0) return RH_OK;
    }
    f.wide = size[0];
    if (last == 2) f.high = size[1];
    f.slabs = size[last] / EDGE;
    f.blocks = f.wide / EDGE * (last == 2 ? f.high / EDGE : 1);
    rh_code code = take_room(&f, status);
    if (code == RH_OK) code = fill_slabs(&f, visit, user, &out->count, status);
    out->volume = f.volume * pow(seeder->spacing, seeder->dimension);
    for (int i = 0; i < 3; i++) rh_free(f.map[i]);
    rh_free(f.shares);
    rh_free(f.cut);
    rh_free(f.wanted);
    rh_free(f.deficit);
    return code;
}
