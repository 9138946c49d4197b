// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A hash grid over points that hold still. Cells have keys of 3 x 21 bits; points are sorted by key with a stable radix
// sort, so points of a cell keep their order, and what is found has the order z, y, x of cells, then the points' own.
#include "lang/neighbours.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/random.h"

enum { KEY_BITS = 21, KEY_HALF = 1 << 20, RADIX_BITS = 11, RADIX = 1 << RADIX_BITS, CHUNK = 1 << 15 };
#define NOWHERE (~(uint64_t)0)  // the key of a position that is not finite: sorted behind all others

static bool is_finite(rh_vec3 p) { return isfinite(p.x) && isfinite(p.y) && isfinite(p.z); }

// Cells far out share the outermost: it may be large, never wrong, because distances decide.
static int64_t cell_of(double x, double cell)
{
    double c = floor(x / cell);
    return (int64_t)(c < -KEY_HALF ? -KEY_HALF : c > KEY_HALF - 1 ? KEY_HALF - 1 : c);
}

static uint64_t key_of(int64_t x, int64_t y, int64_t z)
{
    return (uint64_t)(z + KEY_HALF) << 2 * KEY_BITS | (uint64_t)(y + KEY_HALF) << KEY_BITS | (uint64_t)(x + KEY_HALF);
}

// About four points to a cell of a filled box; flat and thin sets get more to a cell, which costs time only.
static double cell_from_count(const rh_vec3 *positions, int64_t count)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = 0,
           volume = 1;
    for (int64_t i = 0; i < count; i++) {
        if (!is_finite(positions[i])) continue;
        double p[3] = {positions[i].x, positions[i].y, positions[i].z};
        for (int a = 0; a < 3; a++) low[a] = fmin(low[a], p[a]), high[a] = fmax(high[a], p[a]);
    }
    for (int a = 0; a < 3; a++) longest = fmax(longest, high[a] - low[a]);
    if (!(longest > 0)) return 1;
    for (int a = 0; a < 3; a++) volume *= fmax(high[a] - low[a], 0.01 * longest);
    return cbrt(4 * volume / (double)count);
}

typedef struct entry {
    uint64_t key;
    int64_t index;
} entry;

// One pass of the sort, by RADIX_BITS bits from `shift` on. Chunks have a fixed size, and each writes where the chunks
// before it leave off.
static void radix_pass(const entry *from, entry *to, int64_t count, int shift, int64_t (*starts)[RADIX])
{
    int64_t chunks = (count + CHUNK - 1) / CHUNK, sum = 0;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < chunks; c++) {
        memset(starts[c], 0, sizeof starts[c]);
        for (int64_t i = c * CHUNK; i < count && i < (c + 1) * CHUNK; i++)
            starts[c][from[i].key >> shift & (RADIX - 1)]++;
    }
    for (int d = 0; d < RADIX; d++)
        for (int64_t c = 0; c < chunks; c++) {
            int64_t here = starts[c][d];
            starts[c][d] = sum, sum += here;
        }
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < chunks; c++)
        for (int64_t i = c * CHUNK; i < count && i < (c + 1) * CHUNK; i++)
            to[starts[c][from[i].key >> shift & (RADIX - 1)]++] = from[i];
}

// Passes over bits that all keys share are left out. Returns which of the two arrays is sorted.
static entry *radix_sort(entry *entries, entry *spare, int64_t count, int64_t (*starts)[RADIX])
{
    uint64_t differ = 0;
    for (int64_t i = 1; i < count; i++) differ |= entries[i].key ^ entries[0].key;
    for (int shift = 0; shift < 64; shift += RADIX_BITS) {
        if ((differ >> shift & (RADIX - 1)) == 0) continue;
        radix_pass(entries, spare, count, shift, starts);
        entry *swap = entries;
        entries = spare, spare = swap;
    }
    return entries;
}

static int64_t *slot_of(const rh_lang_snapshot *s, uint64_t key)
{
    uint64_t at = rh_mix64(key) & s->table_mask;
    while (s->table[at] >= 0 && s->keys[s->table[at]] != key) at = (at + 1) & s->table_mask;
    return &s->table[at];
}

static rh_code take_cells(rh_lang_snapshot *s, const entry *entries, const rh_vec3 *positions, rh_status *status)
{
    s->cells = 0;
    for (int64_t i = 0; i < s->count; i++) s->cells += i == 0 || entries[i].key != entries[i - 1].key;
    uint64_t size = 16;
    while (size < 2 * (uint64_t)s->cells) size *= 2;
    s->table_mask = size - 1;
    s->positions = rh_alloc((size_t)s->count * sizeof *s->positions, "lang.neighbours", status);
    s->index = rh_alloc((size_t)s->count * sizeof *s->index, "lang.neighbours", status);
    s->keys = rh_alloc((size_t)s->cells * sizeof *s->keys, "lang.neighbours", status);
    s->starts = rh_alloc((size_t)(s->cells + 1) * sizeof *s->starts, "lang.neighbours", status);
    s->table = rh_alloc((size_t)size * sizeof *s->table, "lang.neighbours", status);
    if (!s->positions || !s->index || !s->keys || !s->starts || !s->table) return RH_MEMORY;
    memset(s->table, 0xff, (size_t)size * sizeof *s->table);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->count; i++)
        s->positions[i] = positions[entries[i].index], s->index[i] = entries[i].index;
    int64_t cell = -1;
    for (int64_t i = 0; i < s->count; i++) {
        if (i > 0 && entries[i].key == entries[i - 1].key) continue;
        s->keys[++cell] = entries[i].key, s->starts[cell] = i;
        *slot_of(s, entries[i].key) = cell;
    }
    s->starts[s->cells] = s->count;
    return RH_OK;
}

static int64_t make_keys(const rh_vec3 *positions, int64_t count, double h, entry *entries)
{
    int64_t nowhere = 0;
#pragma omp parallel for schedule(static) reduction(+ : nowhere)
    for (int64_t i = 0; i < count; i++) {
        rh_vec3 p = positions[i];
        entries[i] = (entry){is_finite(p) ? key_of(cell_of(p.x, h), cell_of(p.y, h), cell_of(p.z, h)) : NOWHERE, i};
        nowhere += !is_finite(p);
    }
    return count - nowhere;
}

static rh_code take_points(rh_lang_snapshot *s, const rh_vec3 *positions, int64_t count, rh_status *status)
{
    entry *entries = rh_alloc((size_t)count * sizeof *entries, "lang.neighbours", status);
    entry *spare = rh_alloc((size_t)count * sizeof *spare, "lang.neighbours", status);
    int64_t(*starts)[RADIX] = rh_alloc((size_t)(count / CHUNK + 1) * sizeof *starts, "lang.neighbours", status);
    rh_code code = entries && spare && starts ? RH_OK : RH_MEMORY;
    if (code == RH_OK) {
        s->count = make_keys(positions, count, s->cell, entries);
        code = take_cells(s, radix_sort(entries, spare, count, starts), positions, status);
    }
    rh_free(entries);
    rh_free(spare);
    rh_free(starts);
    return code;
}

static rh_code take_fields(rh_lang_snapshot *s, const rh_lang_array *arrays, int count, rh_status *status)
{
    static const struct {
        const char *type;
        size_t size;
    } kinds[] = {
        [RH_LANG_FLOATS] = {"float", 4},  [RH_LANG_DOUBLES] = {"double", 8}, [RH_LANG_INTS] = {"int32", 4},
        [RH_LANG_LONGS] = {"int64", 8},   [RH_LANG_VECTORS] = {"vec3f", 12}, [RH_LANG_MATRICES] = {"mat3f", 36},
        [RH_LANG_MEMBERS] = {"group", 1},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    s->fields = rh_alloc((size_t)count * sizeof *s->fields, "lang.neighbours", status);
    if (!s->fields) return RH_MEMORY;
    for (int i = 0; i < count; i++) {
        int kind = 0;
        while (kind < KINDS && strcmp(kinds[kind].type, arrays[i].type) != 0) kind++;
        if (kind == KINDS)
            return rh_fail(status, RH_USER,
                           "found \"%s\" of type %s, expected a type that neighbours can be asked for: float, double, "
                           "int32, int64, vec3f, mat3f or group",
                           arrays[i].name, arrays[i].type);
        size_t step = arrays[i].uniform ? 0 : kinds[kind].size;
        s->fields[s->field_count++] = (rh_lang_field){&arrays[i], (rh_lang_array_kind)kind, strlen(arrays[i].name),
                                                      step};
    }
    return RH_OK;
}

rh_code rh_lang_snapshot_init(rh_lang_snapshot *snapshot, const rh_vec3 *positions, int64_t count, double cell,
                              const rh_lang_array *arrays, int array_count, rh_status *status)
{
    RH_ASSERT(count >= 0 && array_count >= 0);
    *snapshot = (rh_lang_snapshot){.cell = cell > 0 && isfinite(cell) ? cell : cell_from_count(positions, count)};
    rh_code code = take_fields(snapshot, arrays, array_count, status);
    if (code == RH_OK) code = take_points(snapshot, positions, count, status);
    if (code != RH_OK) rh_lang_snapshot_free(snapshot);
    return code;
}

void rh_lang_snapshot_free(rh_lang_snapshot *snapshot)
{
    rh_free(snapshot->fields);
    rh_free(snapshot->positions);
    rh_free(snapshot->index);
    rh_free(snapshot->keys);
    rh_free(snapshot->starts);
    rh_free(snapshot->table);
    *snapshot = (rh_lang_snapshot){0};
}

// --- questions -------------------------------------------------------------------------------------------------------

static rh_code grow(rh_lang_found *found, rh_status *status)
{
    int64_t capacity = 2 * found->capacity + 64;
    int64_t *index = rh_realloc(found->index, (size_t)capacity * sizeof *index, "lang.neighbours", status);
    if (index) found->index = index;
    rh_vec3 *offset = index ? rh_realloc(found->offset, (size_t)capacity * sizeof *offset, "lang.neighbours", status)
                            : NULL;
    if (offset) found->offset = offset;
    float *distance = offset
                          ? rh_realloc(found->distance, (size_t)capacity * sizeof *distance, "lang.neighbours", status)
                          : NULL;
    if (!distance) return RH_MEMORY;
    found->distance = distance, found->capacity = capacity;
    return RH_OK;
}

static rh_code take_run(const rh_lang_snapshot *s, int64_t first, int64_t end, rh_vec3 place, float radius,
                        rh_lang_found *found, rh_status *status)
{
    float square = radius * radius;
    for (int64_t i = first; i < end; i++) {
        rh_vec3 d = rh_v3_sub(s->positions[i], place);
        float far = rh_v3_dot(d, d);
        if (!(far <= square)) continue;
        if (found->count == found->capacity) RH_TRY(grow(found, status));
        found->index[found->count] = s->index[i];
        found->offset[found->count] = d;
        found->distance[found->count++] = sqrtf(far);
    }
    return RH_OK;
}

rh_code rh_lang_find_within(const rh_lang_snapshot *s, rh_vec3 place, float radius, rh_lang_found *found,
                            rh_status *status)
{
    found->count = 0;
    if (!(radius >= 0) || !is_finite(place) || s->count == 0) return RH_OK;
    int64_t low[3], high[3];
    double p[3] = {place.x, place.y, place.z}, reach = (double)radius * (1 + 1e-6),
           cells = 1;  // float distances round: look a little further
    for (int a = 0; a < 3; a++) {
        low[a] = cell_of(p[a] - reach, s->cell), high[a] = cell_of(p[a] + reach, s->cell);
        cells *= (double)(high[a] - low[a] + 1);
    }
    if (cells > (double)s->cells) return take_run(s, 0, s->count, place, radius, found, status);
    for (int64_t z = low[2]; z <= high[2]; z++)
        for (int64_t y = low[1]; y <= high[1]; y++)
            for (int64_t x = low[0]; x <= high[0]; x++) {
                int64_t cell = *slot_of(s, key_of(x, y, z));
                if (cell >= 0) RH_TRY(take_run(s, s->starts[cell], s->starts[cell + 1], place, radius, found, status));
            }
    return RH_OK;
}

static bool before(const rh_lang_found *f, int64_t a, int64_t b)
{
    return f->distance[a] < f->distance[b] || (f->distance[a] == f->distance[b] && f->index[a] < f->index[b]);
}

static void exchange(rh_lang_found *f, int64_t a, int64_t b)
{
    int64_t index = f->index[a];
    rh_vec3 offset = f->offset[a];
    float distance = f->distance[a];
    f->index[a] = f->index[b], f->offset[a] = f->offset[b], f->distance[a] = f->distance[b];
    f->index[b] = index, f->offset[b] = offset, f->distance[b] = distance;
}

// The farthest on top.
static void sift_down(rh_lang_found *f, int64_t at, int64_t count)
{
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && before(f, child, child + 1)) child++;
        if (!before(f, at, child)) return;
        exchange(f, at, child);
        at = child;
    }
}

rh_code rh_lang_find_nearest(const rh_lang_snapshot *s, rh_vec3 place, float radius, int64_t most, rh_lang_found *found,
                             rh_status *status)
{
    RH_ASSERT(most >= 0);
    RH_TRY(rh_lang_find_within(s, place, radius, found, status));
    int64_t kept = most < 0 ? 0 : most < found->count ? most : found->count;
    for (int64_t i = kept / 2 - 1; i >= 0; i--) sift_down(found, i, kept);
    for (int64_t i = kept; kept > 0 && i < found->count; i++)
        if (before(found, i, 0)) exchange(found, i, 0), sift_down(found, 0, kept);
    for (int64_t end = kept - 1; end > 0; end--) exchange(found, 0, end), sift_down(found, 0, end);
    found->count = kept;
    return RH_OK;
}

void rh_lang_found_free(rh_lang_found *found)
{
    rh_free(found->index);
    rh_free(found->offset);
    rh_free(found->distance);
    *found = (rh_lang_found){0};
}
