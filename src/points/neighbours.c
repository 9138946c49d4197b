// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Cells, sorted; see the header. A key is the cell's place along z, y and x, counted from the lowest that occurs and
// packed into as few bits as the set needs: a block of ten million points takes two passes of a radix sort. The sort is
// stable, so points of a cell keep their order.
//
// Rows of cells instead of single ones are what is looked up: a question about a radius of one cell then takes 9
// look-ups instead of 27, in a table some hundred times smaller, and eight points at a time can be tested across the
// borders of cells.
#include "points/neighbours.h"
#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "points/near_parts.h"

enum { CELL_HALF = 1 << 20, RADIX_BITS = 12, RADIX = 1 << RADIX_BITS, CHUNK = 1 << 15, LANES = 8 };
static const int64_t MOST_POINTS = UINT32_MAX - 2 * LANES;
#define NOTHING UINT32_MAX  // an empty place of the table
static const char LABEL[] = "points.neighbours";

static bool is_finite(rh_vec3 p) { return isfinite(p.x) && isfinite(p.y) && isfinite(p.z); }

// Cells far out share the outermost: it may be large, never wrong, because distances decide. So a stray point does not
// spoil the search for the others.
static int64_t cell_of(double x, double cell)
{
    double c = floor(x / cell);
    return (int64_t)(c < -CELL_HALF ? -CELL_HALF : c > CELL_HALF - 1 ? CELL_HALF - 1 : c);
}

// --- memory ----------------------------------------------------------------------------------------------------------
// Room for `wanted` elements in all of the arrays; what they held is lost. A little more, for sets that grow.
typedef struct piece {
    void **array;
    size_t size;
} piece;

static rh_code make_room(int64_t *room, int64_t wanted, const piece *pieces, int count, rh_status *status)
{
    if (wanted <= *room) return RH_OK;
    int64_t more = wanted + wanted / 16;
    *room = 0;
    for (int i = 0; i < count; i++) {
        rh_free(*pieces[i].array);
        *pieces[i].array = NULL;
    }
    for (int i = 0; i < count; i++)
        if (!(*pieces[i].array = rh_alloc((size_t)more * pieces[i].size, LABEL, status))) return RH_MEMORY;
    *room = more;
    return RH_OK;
}

void rh_neighbours_free(rh_neighbours *n)
{
    void *const all[] = {n->x,         n->y,          n->z,        n->radius,    n->index,
                         n->cell_keys, n->cell_first, n->row_keys, n->row_first, n->table};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) rh_free(all[i]);
    *n = (rh_neighbours){0};
}

// --- the size of cells, and what there is ----------------------------------------------------------------------------
typedef struct extent {
    double low[3], high[3];  // m, of all that is good
    float largest;           // m, of the radii
    int64_t good, first_bad;
} extent;

static bool is_good(const rh_neighbours_input *in, int64_t i)
{
    rh_vec3 p = in->positions[i];
    if (in->dimension == 2) p.z = 0;
    return is_finite(p) && (!in->radii || (in->radii[i] >= 0 && isfinite(in->radii[i])));
}

static extent find_extent_of_good(const rh_neighbours_input *in)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    float largest = 0;
    int64_t good = 0, first_bad = in->count;
#pragma omp parallel for schedule(static) reduction(min : low[:3], first_bad) reduction(max : high[:3], largest) \
    reduction(+ : good)
    for (int64_t i = 0; i < in->count; i++) {
        if (!is_good(in, i)) {
            first_bad = i < first_bad ? i : first_bad;
            continue;
        }
        const double p[3] = {in->positions[i].x, in->positions[i].y, in->dimension == 2 ? 0 : in->positions[i].z};
        for (int a = 0; a < 3; a++) {
            low[a] = p[a] < low[a] ? p[a] : low[a];
            high[a] = p[a] > high[a] ? p[a] : high[a];
        }
        if (in->radii && in->radii[i] > largest) largest = in->radii[i];
        good++;
    }
    return (extent){{low[0], low[1], low[2]}, {high[0], high[1], high[2]}, largest, good, first_bad};
}

// Of some points, eight at a time; false: some are not good. The last eight may overlap those before.
static bool extent_of_block(const rh_neighbours_input *in, int64_t begin, int64_t end, float low[3], float high[3],
                            float *largest)
{
    rh_f8 least[3], most[3], largest_8 = rh_f8_all(0), sum = rh_f8_all(0);
    for (int a = 0; a < 3; a++) least[a] = rh_f8_all(INFINITY), most[a] = rh_f8_all(-INFINITY);
    for (int64_t i = begin; i < end; i += LANES) {
        int64_t at = i + LANES <= end ? i : end - LANES;
        rh_f8 p[3];
        rh_f8_load3(&in->positions[at].x, &p[0], &p[1], &p[2]);
        for (int a = 0; a < 3; a++) {
            least[a] = rh_f8_min(p[a], least[a]);
            most[a] = rh_f8_max(p[a], most[a]);
            sum += p[a] - p[a];  // no number, once a position is none or not finite
        }
        if (!in->radii) continue;
        rh_f8 r = rh_f8_load(in->radii + at);
        sum += r - r;
        least[0] = rh_f8_select(r < 0.0f, rh_f8_all(NAN), least[0]);
        largest_8 = rh_f8_max(r, largest_8);
    }
    bool good = true;
    for (int i = 0; i < LANES; i++) {
        good = good && sum[i] == 0 && !isnan(least[0][i]);
        for (int a = 0; a < 3; a++) low[a] = fminf(low[a], least[a][i]), high[a] = fmaxf(high[a], most[a][i]);
        *largest = fmaxf(*largest, largest_8[i]);
    }
    return good;
}

static extent find_extent(const rh_neighbours_input *in)
{
    if (in->count < LANES || in->dimension == 2) return find_extent_of_good(in);
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, largest = 0;
    bool good = true;
    int64_t blocks = rh_blocks(in->count);
#pragma omp parallel for schedule(static) reduction(min : low[:3]) reduction(max : high[:3], largest) \
    reduction(&& : good)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t end = rh_block_end(b, in->count), begin = end - b * RH_BLOCK < LANES ? end - LANES : b * RH_BLOCK;
        good = extent_of_block(in, begin, end, low, high, &largest) && good;
    }
    if (!good) return find_extent_of_good(in);
    return (extent){{(double)low[0], (double)low[1], (double)low[2]},
                    {(double)high[0], (double)high[1], (double)high[2]},
                    largest,
                    in->count,
                    in->count};
}

// About four points to a cell of a filled box; flat and thin sets get more to a cell, which costs time only.
static double cell_from_count(const extent *e, int dimension, int64_t count)
{
    double longest = 0, volume = 1;
    for (int a = 0; a < dimension; a++) longest = fmax(longest, e->high[a] - e->low[a]);
    if (!(longest > 0)) return 1;
    for (int a = 0; a < dimension; a++) volume *= fmax(e->high[a] - e->low[a], 0.01 * longest);
    return dimension == 2 ? sqrt(4 * volume / (double)count) : cbrt(4 * volume / (double)count);
}

static double choose_cell(const rh_neighbours_input *in, const extent *e)
{
    if (in->cell > 0 && isfinite(in->cell)) return in->cell;
    return e->largest > 0 ? rh_neighbours_cell((double)e->largest) : cell_from_count(e, in->dimension, in->count);
}

static int bits_for(int64_t most) { return most > 0 ? 64 - __builtin_clzll((uint64_t)most) : 0; }

static rh_code check(const rh_neighbours_input *in, const extent *e, rh_status *status)
{
    if (in->count > MOST_POINTS)
        return rh_fail(status, RH_USER, "neighbours: found %lld points, expected at most %lld", (long long)in->count,
                       (long long)MOST_POINTS);
    if (in->leave_out || e->good == in->count) return RH_OK;
    rh_vec3 p = in->positions[e->first_bad];
    if (!is_finite(p))
        return rh_fail(status, RH_NUMERIC, "neighbours: the position of point %lld is not finite (%g, %g, %g)",
                       (long long)e->first_bad, (double)p.x, (double)p.y, (double)p.z);
    return rh_fail(status, RH_NUMERIC, "neighbours: found the radius %g of point %lld, expected a length",
                   (double)in->radii[e->first_bad], (long long)e->first_bad);
}

// --- the sort --------------------------------------------------------------------------------------------------------
typedef struct sorter {
    uint64_t *keys, *other_keys;
    uint32_t *index, *other_index;  // NULL: the number stands in the low bits of the key
    int64_t count;
    int bits, shift;            // of a key without the number; of the number: 0 if it stands by itself
    uint32_t (*starts)[RADIX];  // per chunk
} sorter;

static rh_code take_sorter(sorter *s, int64_t count, int bits, rh_arena *arena, rh_status *status)
{
    size_t points = (size_t)count + 1, chunks = (size_t)(count / CHUNK) + 1;
    int shift = bits_for(count);
    *s = (sorter){.keys = rh_arena_take(arena, points * sizeof *s->keys, status),
                  .other_keys = rh_arena_take(arena, points * sizeof *s->keys, status),
                  .starts = rh_arena_take(arena, chunks * sizeof *s->starts, status),
                  .count = count,
                  .bits = bits,
                  .shift = shift + bits <= 64 ? shift : 0};
    if (!s->keys || !s->other_keys || !s->starts) return RH_MEMORY;
    if (s->shift || count == 0) return RH_OK;
    s->index = rh_arena_take(arena, points * sizeof *s->index, status);
    s->other_index = rh_arena_take(arena, points * sizeof *s->index, status);
    return s->index && s->other_index ? RH_OK : RH_MEMORY;
}

static inline uint32_t index_of(const sorter *s, int64_t i)
{
    return s->index ? s->index[i] : (uint32_t)(s->keys[i] & ((1ull << s->shift) - 1));
}

// Cells of eight points along each axis, as cell_of says.
static void cells_of_eight(const rh_vec3 *p, double cell, int32_t out[3][LANES])
{
    rh_f8 x[3];
    float at[LANES];
    rh_f8_load3(&p->x, &x[0], &x[1], &x[2]);
    for (int a = 0; a < 3; a++) {
        rh_f8_store(at, x[a]);
        for (int i = 0; i < LANES; i++) {
            double c = floor((double)at[i] / cell);
            c = c < -CELL_HALF ? -CELL_HALF : c;
            out[a][i] = (int32_t)(c > CELL_HALF - 1 ? CELL_HALF - 1 : c);
        }
    }
}

static inline void set_key(const rh_neighbours *n, const sorter *s, int64_t i, int64_t x, int64_t y, int64_t z)
{
    uint64_t key = ((uint64_t)(z - n->low[2]) << n->bits[1] | (uint64_t)(y - n->low[1])) << n->bits[0];
    key |= (uint64_t)(x - n->low[0]);
    s->keys[i] = s->shift ? key << s->shift | (uint64_t)i : key;
    if (s->index) s->index[i] = (uint32_t)i;
}

// What is left out gets a key behind all others.
static void make_key(const rh_neighbours *n, const rh_neighbours_input *in, const sorter *s, int64_t i)
{
    rh_vec3 p = in->positions[i];
    if (is_good(in, i))
        return set_key(n, s, i, cell_of(p.x, n->cell), cell_of(p.y, n->cell),
                       in->dimension == 2 ? n->low[2] : cell_of(p.z, n->cell));
    set_key(n, s, i, n->low[0], n->low[1], n->low[2] + (1ll << (s->bits - 1 - n->bits[0] - n->bits[1])));
}

static void make_keys(const rh_neighbours *n, const rh_neighbours_input *in, const sorter *s)
{
    int64_t eights = in->dimension == 3 && n->count == s->count ? s->count / LANES : 0;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < eights; e++) {
        int32_t c[3][LANES];
        cells_of_eight(in->positions + e * LANES, n->cell, c);
        for (int i = 0; i < LANES; i++) set_key(n, s, e * LANES + i, c[0][i], c[1][i], c[2][i]);
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = eights * LANES; i < s->count; i++) make_key(n, in, s, i);
}

// From how many points of a chunk have each digit to where the first of them goes: by digit, then by chunk.
static void make_starts(uint32_t (*starts)[RADIX], int64_t chunks, int64_t digits)
{
    uint32_t next[RADIX] = {0}, sum = 0;
    for (int64_t c = 0; c < chunks; c++)
        for (int64_t d = 0; d < digits; d++) next[d] += starts[c][d];
    for (int64_t d = 0; d < digits; d++) {
        uint32_t here = next[d];
        next[d] = sum, sum += here;
    }
    for (int64_t c = 0; c < chunks; c++)
        for (int64_t d = 0; d < digits; d++) {
            uint32_t here = starts[c][d];
            starts[c][d] = next[d], next[d] += here;
        }
}

// One pass, by `bits` bits from `shift` on. Chunks have a fixed size, and each writes where the chunks before it
// leave off.
static void radix_pass(sorter *s, int shift, int bits)
{
    int64_t chunks = (s->count + CHUNK - 1) / CHUNK;
    uint64_t mask = (1ull << bits) - 1;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < chunks; c++) {
        memset(s->starts[c], 0, ((size_t)mask + 1) * sizeof *s->starts[c]);
        for (int64_t i = c * CHUNK; i < s->count && i < (c + 1) * CHUNK; i++)
            s->starts[c][s->keys[i] >> shift & mask]++;
    }
    make_starts(s->starts, chunks, (int64_t)mask + 1);
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t c = 0; c < chunks; c++)
        for (int64_t i = c * CHUNK; i < s->count && i < (c + 1) * CHUNK; i++) {
            uint32_t to = s->starts[c][s->keys[i] >> shift & mask]++;
            s->other_keys[to] = s->keys[i];
            if (s->index) s->other_index[to] = s->index[i];
        }
    uint64_t *keys = s->keys;
    uint32_t *index = s->index;
    s->keys = s->other_keys, s->index = s->other_index;
    s->other_keys = keys, s->other_index = index;
}

// In as few passes as will do, of equally many bits.
static void sort(sorter *s)
{
    uint64_t sorted = 1;
#pragma omp parallel for schedule(static) reduction(& : sorted)
    for (int64_t i = 1; i < s->count; i++) sorted &= s->keys[i - 1] <= s->keys[i];
    if (sorted) return;  // particles that stay sorted from step to step hardly move
    int passes = (s->bits + RADIX_BITS - 1) / RADIX_BITS, each = (s->bits + passes - 1) / passes;
    for (int p = 0; p < passes; p++) radix_pass(s, s->shift + p * each, each);
}

// --- cells and rows --------------------------------------------------------------------------------------------------
// Where keys[i] >> shift changes: the new value and i go to `keys_out` and `first`, and `count` to the end of `first`.
// With keys_out NULL they are only counted. `sums`: one for each block.
static int64_t list_runs(const uint64_t *keys, int64_t count, int shift, int64_t *sums, uint64_t *keys_out,
                         uint32_t *first)
{
    int64_t blocks = rh_blocks(count), total = 0;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t at = keys_out ? sums[b] : 0;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, count); i++) {
            if (i > 0 && keys[i] >> shift == keys[i - 1] >> shift) continue;
            if (keys_out) keys_out[at] = keys[i] >> shift, first[at] = (uint32_t)i;
            at++;
        }
        if (!keys_out) sums[b] = at;
    }
    if (keys_out) return 0;
    for (int64_t b = 0; b < blocks; b++) {
        int64_t here = sums[b];
        sums[b] = total, total += here;
    }
    return total;
}

// Rows alone, by their first points.
static rh_code take_rows(rh_neighbours *n, const sorter *s, int64_t *sums, rh_status *status)
{
    n->rows = list_runs(s->keys, n->count, s->shift + n->bits[0], sums, NULL, NULL);
    const piece rows[] = {{(void **)&n->row_keys, sizeof *n->row_keys}, {(void **)&n->row_first, sizeof *n->row_first}};
    RH_TRY(make_room(&n->room.rows, n->rows + 1, rows, 2, status));
    list_runs(s->keys, n->count, s->shift + n->bits[0], sums, n->row_keys, n->row_first);
    n->row_first[n->rows] = (uint32_t)n->count;
    return RH_OK;
}

static rh_code take_cells(rh_neighbours *n, const sorter *s, int64_t *sums, rh_status *status)
{
    n->cells = list_runs(s->keys, n->count, s->shift, sums, NULL, NULL);
    const piece cells[] = {{(void **)&n->cell_keys, sizeof *n->cell_keys},
                           {(void **)&n->cell_first, sizeof *n->cell_first}};
    RH_TRY(make_room(&n->room.cells, n->cells + 1, cells, 2, status));
    list_runs(s->keys, n->count, s->shift, sums, n->cell_keys, n->cell_first);
    n->cell_first[n->cells] = (uint32_t)n->count;
    n->rows = list_runs(n->cell_keys, n->cells, n->bits[0], sums, NULL, NULL);
    const piece rows[] = {{(void **)&n->row_keys, sizeof *n->row_keys}, {(void **)&n->row_first, sizeof *n->row_first}};
    RH_TRY(make_room(&n->room.rows, n->rows + 1, rows, 2, status));
    list_runs(n->cell_keys, n->cells, n->bits[0], sums, n->row_keys, n->row_first);
    n->row_first[n->rows] = (uint32_t)n->cells;
    return RH_OK;
}

static rh_code fill_table(rh_neighbours *n, rh_status *status)
{
    int64_t size = 16;
    while (size < 2 * n->rows) size *= 2;
    const piece table[] = {{(void **)&n->table, sizeof *n->table}};
    RH_TRY(make_room(&n->room.table, size, table, 1, status));
    n->table_mask = (uint32_t)(size - 1);
    memset(n->table, 0xff, (size_t)size * sizeof *n->table);
    for (int64_t r = 0; r < n->rows; r++) {
        uint64_t at = rh_mix64(n->row_keys[r]) & n->table_mask;
        while (n->table[at] != NOTHING) at = (at + 1) & n->table_mask;
        n->table[at] = (uint32_t)r;
    }
    return RH_OK;
}

static rh_code take_points(rh_neighbours *n, const rh_neighbours_input *in, const sorter *s, rh_status *status)
{
    if (in->radii && !n->radius) n->room.points = 0;  // the first time with radii
    const piece points[] = {{(void **)&n->x, sizeof *n->x},
                            {(void **)&n->y, sizeof *n->y},
                            {(void **)&n->z, sizeof *n->z},
                            {(void **)&n->index, sizeof *n->index},
                            {(void **)&n->radius, sizeof *n->radius}};
    RH_TRY(make_room(&n->room.points, n->count + LANES, points, in->radii || n->radius ? 5 : 4, status));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n->count; i++) {
        uint32_t from = index_of(s, i);
        rh_vec3 p = in->positions[from];
        n->index[i] = from;
        n->x[i] = p.x, n->y[i] = p.y, n->z[i] = n->dimension == 2 ? 0 : p.z;
        if (in->radii) n->radius[i] = in->radii[from];
    }
    for (int64_t i = n->count; i < n->count + LANES; i++) {
        n->x[i] = n->y[i] = n->z[i] = 0;
        if (n->radius) n->radius[i] = 0;
    }
    return RH_OK;
}

static rh_code build(rh_neighbours *n, const rh_neighbours_input *in, const extent *e, rh_arena *arena,
                     rh_status *status)
{
    sorter s;
    int64_t *sums = rh_arena_take(arena, (size_t)(rh_blocks(in->count) + 1) * sizeof *sums, status);
    if (!sums) return RH_MEMORY;
    for (int a = 0; a < 3; a++) {
        n->low[a] = e->good ? cell_of(e->low[a], n->cell) : 0;
        n->high[a] = e->good ? cell_of(e->high[a], n->cell) : -1;
    }
    for (int a = 0; a < 2; a++) n->bits[a] = bits_for(n->high[a] - n->low[a]);
    int bits = n->bits[0] + n->bits[1] + bits_for(n->high[2] - n->low[2]) + (n->count < in->count);
    RH_TRY(take_sorter(&s, in->count, bits, arena, status));
    make_keys(n, in, &s);
    sort(&s);
    RH_TRY(take_points(n, in, &s, status));
    if (in->rows_only) return take_rows(n, &s, sums, status);
    RH_TRY(take_cells(n, &s, sums, status));
    return fill_table(n, status);
}

rh_code rh_neighbours_build(rh_neighbours *n, const rh_neighbours_input *input, rh_arena *arena, rh_status *status)
{
    n->count = n->cells = n->rows = 0;
    n->dimension = input->dimension;
    extent e = find_extent(input);
    RH_TRY(check(input, &e, status));
    n->cell = choose_cell(input, &e);
    n->largest = e.largest;
    n->has_radii = input->radii != NULL;
    n->rows_only = input->rows_only;
    n->count = e.good;
    rh_arena_mark mark = rh_arena_save(arena);
    rh_code code = build(n, input, &e, arena, status);
    rh_arena_restore(arena, mark);
    if (code != RH_OK) n->count = n->cells = n->rows = 0;
    return code;
}

// --- questions -------------------------------------------------------------------------------------------------------
int64_t rh_neighbours_row(const rh_neighbours *n, uint64_t key)
{
    uint64_t at = rh_mix64(key) & n->table_mask;
    while (n->table[at] != NOTHING && n->row_keys[n->table[at]] != key) at = (at + 1) & n->table_mask;
    return n->table[at] == NOTHING ? -1 : (int64_t)n->table[at];
}

// In a row without gaps it is where it would be if all cells were there: the first guess, and never too low.
int64_t rh_neighbours_cell_from(const rh_neighbours *n, int64_t row, int64_t x)
{
    int64_t begin = n->row_first[row], end = n->row_first[row + 1];
    uint64_t wanted = n->row_keys[row] << n->bits[0], first = n->cell_keys[begin];
    if (x <= 0 || wanted + (uint64_t)x <= first) return begin;
    wanted += (uint64_t)x;
    uint64_t ahead = wanted - first;
    if (ahead < (uint64_t)(end - begin)) {
        end = begin + (int64_t)ahead;
        if (n->cell_keys[end] == wanted) return end;
    }
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (n->cell_keys[middle] < wanted) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

bool rh_neighbours_clips(const rh_neighbours *n) { return n->low[0] <= -CELL_HALF || n->high[0] >= CELL_HALF - 1; }

// --- lists of one place ----------------------------------------------------------------------------------------------
static rh_code grow(rh_neighbour_list *found, rh_status *status)
{
    int64_t capacity = 2 * found->capacity + 64;
    uint32_t *index = rh_realloc(found->index, (size_t)capacity * sizeof *index, LABEL, status);
    if (index) found->index = index;
    rh_vec3 *offset = index ? rh_realloc(found->offset, (size_t)capacity * sizeof *offset, LABEL, status) : NULL;
    if (offset) found->offset = offset;
    float *distance = offset ? rh_realloc(found->distance, (size_t)capacity * sizeof *distance, LABEL, status) : NULL;
    if (!distance) return RH_MEMORY;
    found->distance = distance, found->capacity = capacity;
    return RH_OK;
}

static rh_code take_run(const rh_neighbours *n, rh_neighbours_run run, rh_vec3 place, float radius,
                        rh_neighbour_list *found, rh_status *status)
{
    rh_f8 square = rh_f8_all(radius * radius), way[3];
    for (int64_t p = run.begin; p < run.end; p += LANES) {
        rh_f8 far = rh_near_eight(n, p, place, way);
        int bits = rh_near_bits(far <= square, p, run.end);
        if (!bits) continue;
        if (found->count + LANES > found->capacity) RH_TRY(grow(found, status));
        rh_f8 distance = rh_f8_sqrt(far);
        for (; bits; bits &= bits - 1, found->count++) {
            int i = __builtin_ctz((unsigned)bits);
            found->index[found->count] = n->index[p + i];
            found->offset[found->count] = rh_v3(way[0][i], way[1][i], way[2][i]);
            found->distance[found->count] = distance[i];
        }
    }
    return RH_OK;
}

typedef struct box {
    int64_t low[3], high[3];  // cells, counted from the set's lowest
} box;

// False when it holds nothing.
static bool box_around(const rh_neighbours *n, rh_vec3 place, float radius, box *b)
{
    const double p[3] = {place.x, place.y, place.z}, reach = (double)radius * (1 + 1e-6);  // float distances round
    for (int a = 0; a < 3; a++) {
        int64_t low = cell_of(p[a] - reach, n->cell), high = cell_of(p[a] + reach, n->cell);
        b->low[a] = (low > n->low[a] ? low : n->low[a]) - n->low[a];
        b->high[a] = (high < n->high[a] ? high : n->high[a]) - n->low[a];
        if (b->low[a] > b->high[a]) return false;
    }
    return true;
}

static rh_neighbours_run run_of(const rh_neighbours *n, int64_t row, const box *b)
{
    int64_t begin = rh_neighbours_cell_from(n, row, b->low[0]), end = rh_neighbours_cell_from(n, row, b->high[0] + 1);
    return (rh_neighbours_run){n->cell_first[begin], n->cell_first[end]};
}

int64_t rh_neighbours_box(const rh_neighbours *n, rh_vec3 place, float radius, rh_neighbours_run *runs)
{
    box b;
    int64_t count = 0;
    RH_ASSERT(!n->rows_only);
    if (n->dimension == 2) place.z = 0;
    if (!(radius >= 0) || !is_finite(place) || n->count == 0 || !box_around(n, place, radius, &b)) return 0;
    for (int64_t z = b.low[2]; z <= b.high[2]; z++)
        for (int64_t y = b.low[1]; y <= b.high[1]; y++) {
            int64_t row = rh_neighbours_row(n, (uint64_t)z << n->bits[1] | (uint64_t)y);
            rh_neighbours_run run = row >= 0 ? run_of(n, row, &b) : (rh_neighbours_run){0, 0};
            if (run.begin == run.end) continue;
            if (runs) runs[count] = run;
            count++;
        }
    return count;
}

rh_code rh_neighbours_within(const rh_neighbours *n, rh_vec3 place, float radius, rh_neighbour_list *found,
                             rh_status *status)
{
    box b;
    RH_ASSERT(!n->rows_only);
    found->count = 0;
    if (n->dimension == 2) place.z = 0;
    if (!(radius >= 0) || !is_finite(place) || n->count == 0 || !box_around(n, place, radius, &b)) return RH_OK;
    double rows = (double)(b.high[1] - b.low[1] + 1) * (double)(b.high[2] - b.low[2] + 1);
    if (rows > (double)n->rows) {  // fewer than one would ask for: look at each
        for (int64_t r = 0; r < n->rows; r++) {
            int64_t z = (int64_t)(n->row_keys[r] >> n->bits[1]),
                    y = (int64_t)(n->row_keys[r] & ((1ull << n->bits[1]) - 1));
            if (z < b.low[2] || z > b.high[2] || y < b.low[1] || y > b.high[1]) continue;
            RH_TRY(take_run(n, run_of(n, r, &b), place, radius, found, status));
        }
        return RH_OK;
    }
    for (int64_t z = b.low[2]; z <= b.high[2]; z++)
        for (int64_t y = b.low[1]; y <= b.high[1]; y++) {
            int64_t row = rh_neighbours_row(n, (uint64_t)z << n->bits[1] | (uint64_t)y);
            if (row >= 0) RH_TRY(take_run(n, run_of(n, row, &b), place, radius, found, status));
        }
    return RH_OK;
}

void rh_neighbour_list_free(rh_neighbour_list *found)
{
    rh_free(found->index);
    rh_free(found->offset);
    rh_free(found->distance);
    *found = (rh_neighbour_list){0};
}
