// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Links are kept because weights of present distances soften: the farther a gap opens, the less the fit sees of it, and
// matter of few particles parts at stretches of a tenth, whatever its strength. Lists are in ascending order of slots
// and hold all pairs of which one gives the other a weight, so that a resumed run, which finds them by another search,
// has the same sums to the bit.
#include "physics/elastoplastic/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "physics/elastoplastic/small_matrix.h"

enum { LANES = 8 };
static const char LABEL[] = "elastoplastic.links";
static const float APART = 2;  // spacings, where links were made

void rh_ep_links_free(rh_ep_links *links)
{
    rh_free(links->kept.first);
    rh_free(links->kept.near);
    *links = (rh_ep_links){.valid = false};
}

// --- making ----------------------------------------------------------------------------------------------------------
// Which of eight others give particle i a weight, or get one from it: bits.
static int linked_bits(const rh_ep_matter *m, int64_t i, const uint32_t near[8])
{
    const uint32_t at[8] = {2 * near[0], 2 * near[1], 2 * near[2], 2 * near[3],
                            2 * near[4], 2 * near[5], 2 * near[6], 2 * near[7]};
    const float *own = m->origin + 4 * i;
    rh_f8 p[4], g[4], h[4];
    rh_sph_gather(m->origin, near, p);
    rh_sph_gather(m->metric, at, g);
    rh_sph_gather(m->metric + 4, at, h);
    rh_f8 x = p[0] - own[0], y = p[1] - own[1], z = p[2] - own[2], none = rh_f8_all(0);
    rh_f8 theirs = x * (g[0] * x + 2 * (g[3] * y + h[0] * z)) + y * (g[1] * y + 2 * h[1] * z) + z * (g[2] * z);
    rh_i8 linked = (rh_ep_weight(m, rh_ep_square(m->metric + 8 * i, x, y, z)) > none) |
                   (rh_ep_weight(m, theirs) > none);
    if (m->piece) linked &= rh_f8_gather(m->piece, near) == rh_f8_all(m->piece[i]);
    return rh_i8_bits(linked);
}

static bool is_linked(const rh_ep_matter *m, int64_t i, int64_t j)
{
    uint32_t n = (uint32_t)j, nobody = (uint32_t)m->count;
    return linked_bits(m, i, (const uint32_t[8]){n, nobody, nobody, nobody, nobody, nobody, nobody, nobody}) & 1;
}

static void sort_up(uint32_t *list, int count)
{
    for (int n = 1; n < count; n++) {
        uint32_t one = list[n];
        int at = n;
        for (; at > 0 && list[at - 1] > one; at--) list[at] = list[at - 1];
        list[at] = one;
    }
}

static rh_code make_firsts(rh_ep_links *links, int64_t count, rh_status *status)
{
    if (links->kept.first && count + 1 <= links->first_room) return RH_OK;
    rh_free(links->kept.first);
    links->first_room = count + 1 + count / 8;
    links->kept.first = rh_alloc((size_t)links->first_room * sizeof(uint32_t), LABEL, status);
    return links->kept.first ? RH_OK : RH_MEMORY;
}

// `first` has lengths in eights: they become places, and there is room for all.
static rh_code make_room(rh_ep_links *links, rh_status *status)
{
    rh_sph_list *list = &links->kept;
    uint64_t sum = 0;
    for (int64_t n = 0; n <= links->count; n++) {
        uint32_t own = n < links->count ? list->first[n] : 0;
        list->first[n] = (uint32_t)sum, sum += own;
    }
    if (sum > UINT32_MAX / LANES) return rh_fail(status, RH_NUMERIC, "elastoplastic: too many neighbours to number");
    if (list->near && (int64_t)sum <= list->room) return RH_OK;
    rh_free(list->near);
    list->room = 0;
    list->near = rh_alloc((size_t)(sum + sum / 8 + 1) * LANES * sizeof *list->near, LABEL, status);
    if (!list->near) return RH_MEMORY;
    list->room = (int64_t)(sum + sum / 8 + 1);
    return RH_OK;
}

static void write_links(const rh_ep_links *links, int64_t slot, uint32_t *found, int count)
{
    uint32_t *out = links->kept.near + LANES * (uint64_t)links->kept.first[slot];
    sort_up(found, count);
    if (out != found) memcpy(out, found, (size_t)count * sizeof *out);
    for (uint32_t *end = links->kept.near + LANES * (uint64_t)links->kept.first[slot + 1]; out + count < end; count++)
        out[count] = links->kept.nobody;
}

static int near_links(const rh_ep_matter *m, int64_t i, uint32_t *out)
{
    int count = 0;
    RH_SPH_EACH(m->lists->fluid, i, near)
    {
        int bits = linked_bits(m, i, near);
        for (int left = bits; left && out; left &= left - 1) out[count++] = near[__builtin_ctz((unsigned)left)];
        if (!out) count += __builtin_popcount((unsigned)bits);
    }
    return count;
}

rh_code rh_ep_links_make(rh_ep_links *links, const rh_ep_matter *m, rh_status *status)
{
    links->valid = false;
    links->count = m->count;
    links->kept.nobody = (uint32_t)m->count;
    RH_TRY(make_firsts(links, m->count, status));
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < m->count; i++)
        links->kept.first[i] = (uint32_t)(near_links(m, i, NULL) + LANES - 1) / LANES;
    RH_TRY(make_room(links, status));
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < m->count; i++) {
        uint32_t *out = links->kept.near + LANES * (uint64_t)links->kept.first[i];
        write_links(links, i, out, near_links(m, i, out));
    }
    return RH_OK;
}

// --- finding again ---------------------------------------------------------------------------------------------------
typedef struct box {
    int64_t at[3];
    int64_t particle;
} box;

typedef struct boxes {
    const rh_ep_matter *m;
    const int32_t *slot;
    box *all;  // [m->count] in order of z, y, x
} boxes;

static int compare_boxes(const void *a, const void *b)
{
    const box *p = a, *q = b;
    for (int c = 2; c >= 0; c--)
        if (p->at[c] != q->at[c]) return p->at[c] < q->at[c] ? -1 : 1;
    return p->particle < q->particle ? -1 : p->particle > q->particle;
}

// The first one that is not before `of`.
static int64_t first_box(const boxes *b, box of)
{
    int64_t low = 0, high = b->m->count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (compare_boxes(&b->all[middle], &of) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

static int boxed_links(const boxes *b, int64_t n, uint32_t *out)
{
    const box *own = &b->all[n];
    int count = 0;
    for (int row = 0; row < 9; row++) {
        int64_t y = own->at[1] + row % 3 - 1, z = own->at[2] + row / 3 - 1;
        for (int64_t k = first_box(b, (box){{own->at[0] - 1, y, z}, -1}); k < b->m->count; k++) {
            const box *other = &b->all[k];
            if (other->at[2] != z || other->at[1] != y || other->at[0] > own->at[0] + 1) break;
            if (k == n || !is_linked(b->m, own->particle, other->particle)) continue;
            if (out) out[count] = (uint32_t)b->slot[other->particle] - 1;
            count++;
        }
    }
    return count;
}

rh_code rh_ep_links_find(rh_ep_links *links, const rh_ep_matter *m, const int32_t *slot, int64_t slots, rh_arena *arena,
                         rh_status *status)
{
    boxes b = {m, slot, rh_arena_take(arena, ((size_t)m->count + 1) * sizeof(box), status)};
    double side = 0;
    if (!b.all) return RH_MEMORY;
    links->valid = false;
    links->count = slots;
    links->kept.nobody = (uint32_t)slots;
    RH_TRY(make_firsts(links, slots, status));
    for (int64_t i = 0; i < m->count; i++) side = fmax(side, (double)m->reach[i]);
    for (int64_t i = 0; i < m->count; i++) {
        b.all[i].particle = i;
        for (int c = 0; c < 3; c++) b.all[i].at[c] = (int64_t)floor((double)m->origin[4 * i + c] / side);
    }
    qsort(b.all, (size_t)m->count, sizeof *b.all, compare_boxes);
    memset(links->kept.first, 0, ((size_t)slots + 1) * sizeof(uint32_t));
    for (int64_t n = 0; n < m->count; n++)
        links->kept.first[slot[b.all[n].particle] - 1] = (uint32_t)(boxed_links(&b, n, NULL) + LANES - 1) / LANES;
    RH_TRY(make_room(links, status));
    for (int64_t n = 0; n < m->count; n++) {
        int64_t at = slot[b.all[n].particle] - 1;
        uint32_t *out = links->kept.near + LANES * (uint64_t)links->kept.first[at];
        write_links(links, at, out, boxed_links(&b, n, out));
    }
    links->valid = true;
    return RH_OK;
}

// --- using -----------------------------------------------------------------------------------------------------------
static void map_one(const rh_ep_links *links, int32_t slot, const uint32_t *present, const rh_sph_list *out, int64_t i)
{
    uint32_t *to = out->near + LANES * (uint64_t)out->first[i], *end = out->near + LANES * (uint64_t)out->first[i + 1];
    if (slot > 0) RH_SPH_EACH(links->kept, slot - 1, near)
    for (int n = 0; n < LANES; n++) {
        uint32_t is = near[n] < links->kept.nobody ? present[near[n]] : out->nobody;
        if (is != out->nobody) *to++ = is;
    }
    while (to < end) *to++ = out->nobody;
}

rh_code rh_ep_links_map(const rh_ep_links *links, const rh_ep_matter *m, const int32_t *slot, rh_arena *arena,
                        rh_sph_list *out, rh_status *status)
{
    uint32_t *present = rh_arena_take(arena, ((size_t)links->count + 1) * sizeof *present, status), sum = 0;
    out->first = rh_arena_take(arena, ((size_t)m->count + 1) * sizeof *out->first, status);
    if (!present || !out->first) return RH_MEMORY;
    out->nobody = (uint32_t)m->count;
    for (int64_t n = 0; n < links->count; n++) present[n] = out->nobody;
    for (int64_t i = 0; i < m->count; i++) {
        const uint32_t *first = links->kept.first + slot[i];
        out->first[i] = sum;
        if (slot[i] == 0) continue;
        present[slot[i] - 1] = (uint32_t)i;
        sum += first[0] - first[-1];
    }
    out->first[m->count] = sum;
    out->near = rh_arena_take(arena, ((size_t)sum + 1) * LANES * sizeof *out->near, status);
    if (!out->near) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) map_one(links, slot[i], present, out, i);
    return RH_OK;
}

static bool misses_one(const rh_ep_matter *m, int64_t i)
{
    const float *own = m->place + 4 * i, *from = m->origin + 4 * i, a = m->kernel->spacing;
    rh_f8 near_by = rh_f8_all(RH_EP_TOUCH * RH_EP_TOUCH * a * a), far = rh_f8_all(APART * APART * a * a);
    RH_SPH_EACH(m->lists->fluid, i, near)
    {
        rh_f8 p[4], q[4], now = rh_f8_all(0), then = now;
        rh_sph_gather(m->place, near, p);
        rh_sph_gather(m->origin, near, q);
        for (int c = 0; c < 3; c++)
            now += (p[c] - own[c]) * (p[c] - own[c]), then += (q[c] - from[c]) * (q[c] - from[c]);
        rh_i8 missing = (now < near_by) & (then > far);
        if (!rh_i8_bits(missing)) continue;
        if (!m->piece || rh_i8_bits(missing & (rh_f8_gather(m->piece, near) == rh_f8_all(m->piece[i])))) return true;
    }
    return false;
}

bool rh_ep_links_missing(const rh_ep_matter *m)
{
    int64_t count = 0;
#pragma omp parallel for schedule(dynamic, 512) reduction(+ : count)
    for (int64_t i = 0; i < m->count; i++) count += misses_one(m, i);
    return count > 0;
}

// --- patterns --------------------------------------------------------------------------------------------------------
void rh_ep_metric_of(const float pattern[9], float metric[8])
{
    static const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
    float p[9], q[9];
    for (int n = 0; n < 9; n++) p[n] = pattern[n] + (n % 4 == 0);
    rh_matrix_invert(p, q);
    for (int n = 0; n < 6; n++)
        metric[n] = q[first[n]] * q[second[n]] + q[3 + first[n]] * q[3 + second[n]] +
                    q[6 + first[n]] * q[6 + second[n]];
    metric[6] = metric[7] = 0;
}

static bool is_none(const float pattern[9])
{
    for (int n = 0; n < 9; n++)
        if (pattern[n] != 0) return false;
    return true;
}

float rh_ep_reach_of(const rh_ep_matter *m, const float pattern[9])
{
    float p[9], support = m->kernel->support;
    if (is_none(pattern)) return support;
    for (int n = 0; n < 9; n++) p[n] = pattern[n] + (n % 4 == 0);
    float least, most;
    rh_matrix_bounds_of_square(p, &least, &most);
    return 1.001f * support * sqrtf(fmaxf(most, 1));
}

void rh_ep_limit(float pattern[9], float least, float most)
{
    float p[9], by[9] = {0}, out[9], low, high;
    for (int n = 0; n < 9; n++) p[n] = pattern[n] + (n % 4 == 0);
    rh_matrix_bounds_of_square(p, &low, &high);
    if (low > least * least && high < most * most) return;
    rh_matrix_axes a = rh_matrix_axes_of_square(p);
    for (int k = 0; k < 3; k++) {
        float s = sqrtf(fmaxf(a.value[k], 1e-6f)), wanted = fminf(fmaxf(s, least), most);
        for (int n = 0; n < 9; n++) by[n] += wanted / s * a.vector[k][n / 3] * a.vector[k][n % 3];
    }
    rh_matrix_times(by, p, out);
    for (int n = 0; n < 9; n++) pattern[n] = isfinite(out[n]) ? out[n] - (n % 4 == 0) : 0;
}
