// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A build, in reading order: which solids have moved; which tiles are known and still right; entries of vanished tiles
// are given back; missing tiles are made, in parallel, a few at a time so that pages can be provided beforehand; the
// view is filled. Which page or entry a tile gets may differ from run to run, its values do not.
#include "solid/cut_cells.h"

#include <string.h>
#include "base/memory.h"
#include "base/random.h"
#include "solid/thin_tile.h"

enum { ZERO, ONE, REACH, DEPTH, CONSTANTS };  // shared pages
enum { OPEN = 0, WALL = 3, DISTANCE = 6, SHARE = 7, VOLUME = 8, ROOM = 9, PASS = 10, OWNER = 13, PAGES = 16 };
enum { CHUNK = 32, BATCH = 16 };  // pages allocated together; tiles made between provisions

typedef struct rh_cut_entry {
    rh_tile at;
    bool used, free, movable;  // free: no solid in reach; movable: near a solid that can move
    int64_t seen, made;        // builds
    const float *pages[PAGES];
    rh_cut_faces faces[3];
    rh_cut_box touch;
    uint64_t releases[RH_TILE];
} entry;

static int cells_of(int dimension) { return dimension == 3 ? RH_CUT_CELLS : RH_TILE * RH_TILE; }

// --- pages -----------------------------------------------------------------------------------------------------------
static bool is_shared(const rh_cut_cache *cache, const float *page)
{
    return page >= cache->constants && page < cache->constants + CONSTANTS * cells_of(cache->dimension);
}

static const float *constant(const rh_cut_cache *cache, int which)
{
    return cache->constants + which * cells_of(cache->dimension);
}

static rh_code make_constants(rh_cut_cache *cache, rh_status *status)
{
    int cells = cells_of(cache->dimension);
    cache->constants = rh_alloc((size_t)(CONSTANTS * cells) * sizeof(float), "solids.cut", status);
    if (!cache->constants) return RH_MEMORY;
    float reach = RH_CUT_REACH * cache->h;
    const float values[CONSTANTS] = {[ZERO] = 0, [ONE] = 1, [REACH] = reach, [DEPTH] = -reach};
    for (int i = 0; i < CONSTANTS * cells; i++) cache->constants[i] = values[i / cells];
    return RH_OK;
}

// Grows an array kept in the cache to hold `need` items.
static rh_code grow(void *array, int64_t need, int64_t room, size_t size, rh_status *status)
{
    void *old;
    memcpy(&old, array, sizeof old);
    if (need <= room) return RH_OK;
    void *larger = rh_realloc(old, (size_t)need * size, "solids.cut", status);
    if (!larger) return RH_MEMORY;
    memcpy(array, &larger, sizeof larger);
    return RH_OK;
}

static rh_code provide_pages(rh_cut_cache *cache, int32_t need, rh_status *status)
{
    while (cache->spare_count < need) {
        if (cache->chunk_count == cache->chunk_room) {
            int32_t room = cache->chunk_room + cache->chunk_room / 4 + 8;
            RH_TRY(grow(&cache->chunks, room, cache->chunk_room, sizeof *cache->chunks, status));
            RH_TRY(grow(&cache->spare, (int64_t)room * CHUNK, (int64_t)cache->chunk_room * CHUNK, sizeof *cache->spare,
                        status));
            cache->chunk_room = room;
        }
        int cells = cells_of(cache->dimension);
        float *chunk = rh_alloc((size_t)(CHUNK * cells) * sizeof(float), "solids.cut", status);
        if (!chunk) return RH_MEMORY;
        cache->chunks[cache->chunk_count++] = chunk;
        for (int i = CHUNK - 1; i >= 0; i--) cache->spare[cache->spare_count++] = chunk + i * cells;
    }
    return RH_OK;
}

int64_t rh_cut_cache_pages(const rh_cut_cache *cache)
{
    return (int64_t)cache->chunk_count * CHUNK - cache->spare_count;
}

// The shared page with just these values, or NULL.
static const float *find_shared(const rh_cut_cache *cache, const float *values)
{
    int cells = cells_of(cache->dimension);
    for (int n = 0; n < CONSTANTS; n++)
        if (values[0] == *constant(cache, n) && memcmp(values, constant(cache, n), (size_t)cells * sizeof(float)) == 0)
            return constant(cache, n);
    return NULL;
}

// Safe from many threads: nothing is given back while tiles are made, and enough has been provided.
static float *take_page(rh_cut_cache *cache)
{
    int32_t last;
#pragma omp atomic capture
    last = --cache->spare_count;
    return cache->spare[last];
}

static void release_pages(rh_cut_cache *cache, entry *e, int first, int end)
{
    for (int n = first; n < end; n++) {
        float *page = (float *)(uintptr_t)e->pages[n];  // ours, and no longer read
        if (page && !is_shared(cache, page)) cache->spare[cache->spare_count++] = page;
        e->pages[n] = NULL;
    }
}

// --- entries ---------------------------------------------------------------------------------------------------------
static uint32_t slot_hash(rh_tile t)
{
    uint64_t x = (uint64_t)(uint32_t)t.x | (uint64_t)(uint32_t)t.y << 32;
    return (uint32_t)(rh_mix64(x ^ rh_mix64((uint64_t)(uint32_t)t.z)) >> 20);
}

static bool same_place(rh_tile a, rh_tile b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static int32_t find_entry(const rh_cut_cache *cache, rh_tile at)
{
    if (!cache->slots) return -1;
    for (uint32_t s = slot_hash(at) & cache->slot_mask; cache->slots[s] >= 0; s = (s + 1) & cache->slot_mask)
        if (same_place(cache->entries[cache->slots[s]].at, at)) return cache->slots[s];
    return -1;
}

// Made anew when tiles have come or gone: cheaper than taking single entries out of an open table.
static rh_code fill_slots(rh_cut_cache *cache, rh_status *status)
{
    int64_t used = cache->entry_count - cache->spare_entry_count;
    uint32_t capacity = cache->slots ? cache->slot_mask + 1 : 64;
    while (capacity < 2 * used) capacity *= 2;
    RH_TRY(grow(&cache->slots, capacity, cache->slots ? cache->slot_mask + 1 : 0, sizeof(int32_t), status));
    cache->slot_mask = capacity - 1;
    memset(cache->slots, 0xff, (size_t)capacity * sizeof(int32_t));
    for (int32_t e = 0; e < cache->entry_count; e++) {
        if (!cache->entries[e].used) continue;
        uint32_t s = slot_hash(cache->entries[e].at) & cache->slot_mask;
        while (cache->slots[s] >= 0) s = (s + 1) & cache->slot_mask;
        cache->slots[s] = e;
    }
    return RH_OK;
}

static rh_code take_entry(rh_cut_cache *cache, rh_tile at, int32_t *out, rh_status *status)
{
    if (cache->spare_entry_count == 0) {
        if (cache->entry_count == cache->entry_room) {
            int32_t room = cache->entry_room + cache->entry_room / 4 + 64;
            RH_TRY(grow(&cache->entries, room, cache->entry_room, sizeof *cache->entries, status));
            RH_TRY(grow(&cache->spare_entries, room, cache->entry_room, sizeof *cache->spare_entries, status));
            cache->entry_room = room;
        }
        cache->spare_entries[cache->spare_entry_count++] = cache->entry_count++;
    }
    *out = cache->spare_entries[--cache->spare_entry_count];
    cache->entries[*out] = (entry){.at = at, .used = true, .seen = cache->build};
    return RH_OK;
}

static void forget_all(rh_cut_cache *cache)
{
    cache->entry_count = cache->spare_entry_count = cache->spare_count = 0;
    if (cache->slots) memset(cache->slots, 0xff, ((size_t)cache->slot_mask + 1) * sizeof(int32_t));
    for (int32_t c = 0; c < cache->chunk_count; c++)
        for (int i = 0; i < CHUNK; i++)
            cache->spare[cache->spare_count++] = cache->chunks[c] + i * cells_of(cache->dimension);
}

void rh_cut_cache_free(rh_cut_cache *cache)
{
    for (int32_t c = 0; c < cache->chunk_count; c++) rh_free(cache->chunks[c]);
    rh_free(cache->constants);
    rh_free(cache->chunks);
    rh_free(cache->spare);
    rh_free(cache->entries);
    rh_free(cache->spare_entries);
    rh_free(cache->slots);
    rh_free(cache->solids);
    *cache = (rh_cut_cache){0};
}

bool rh_cut_cache_is_valid(const rh_cut_cache *cache)
{
    int64_t pages = cache->spare_count, used = 0;
    for (int32_t e = 0; e < cache->entry_count; e++) {
        const entry *one = &cache->entries[e];
        if (!one->used) continue;
        used++;
        if (find_entry(cache, one->at) != e) return false;
        for (int n = 0; n < PAGES; n++) pages += one->pages[n] && !is_shared(cache, one->pages[n]);
    }
    return pages == (int64_t)cache->chunk_count * CHUNK && used == cache->entry_count - cache->spare_entry_count;
}

// --- solids ----------------------------------------------------------------------------------------------------------
static bool can_move(const rh_obstacle *o) { return !o->rests; }

static bool same_solid(const rh_obstacle *a, const rh_obstacle *b)
{
    rh_shape one = a->shape, other = b->shape;
    if (a->sequence) one.mesh = other.mesh = NULL;  // another one at every time: same_place_of
    return memcmp(&one, &other, sizeof one) == 0 && a->sequence == b->sequence && a->inside_out == b->inside_out &&
           a->wall == b->wall && a->thin == b->thin && can_move(a) == can_move(b);
}

static bool same_place_of(const rh_obstacle *a, const rh_obstacle *b)
{
    return memcmp(&a->pose, &b->pose, sizeof a->pose) == 0 && a->ticks[0] == b->ticks[0];
}

static bool same_speed(const rh_obstacle *a, const rh_obstacle *b)
{
    return memcmp(&a->linear, &b->linear, sizeof a->linear) == 0 &&
           memcmp(&a->angular, &b->angular, sizeof a->angular) == 0 &&
           memcmp(&a->origin, &b->origin, sizeof a->origin) == 0 && memcmp(a->ticks, b->ticks, sizeof a->ticks) == 0;
}

// Compares the solids with those of the last build. Other solids, or one elsewhere that should not move: nothing known
// holds.
static rh_code note_solids(rh_cut_cache *cache, const rh_obstacles *obstacles, rh_status *status)
{
    bool others = cache->solid_count != obstacles->count;
    for (int i = 0; i < obstacles->count && !others; i++) {
        const rh_obstacle *now = &obstacles->items[i], *before = &cache->solids[i];
        bool moved = !same_place_of(now, before), faster = !same_speed(now, before);
        others = !same_solid(now, before) || ((moved || faster) && !can_move(now));
        if (moved) cache->moved = cache->build;
        if (faster) cache->changed_speed = cache->build;
    }
    if (others) forget_all(cache);
    if (cache->solid_count != obstacles->count) {
        cache->solid_count = 0;
        void *copy = rh_realloc(cache->solids, (size_t)obstacles->count * sizeof *cache->solids, "solids.cut", status);
        if (!copy) return RH_MEMORY;
        cache->solids = copy;
        cache->solid_count = obstacles->count;
    }
    if (obstacles->count > 0) memcpy(cache->solids, obstacles->items, (size_t)obstacles->count * sizeof *cache->solids);
    return RH_OK;
}

static bool near_movable(const rh_obstacles *obstacles, const rh_cut_near *near)
{
    if (near->count == RH_CUT_NEAR) return obstacles->any_moving;
    for (int i = 0; i < near->count; i++)
        if (can_move(&obstacles->items[near->items[i]])) return true;
    return false;
}

// --- a build ---------------------------------------------------------------------------------------------------------
enum { GOOD, ANOTHER_SPEED, ANOTHER_PLACE };  // staleness

typedef struct work {
    rh_cut_cache *cache;
    const rh_tiles *tiles;
    const rh_obstacles *obstacles;
    int32_t *entry_of;  // per tile: its entry, -1 = not known
    uint8_t *stale;     // per tile, a `staleness`: known, but to be made again
    int32_t *list;      // tiles to be made
} work;

// Only near solids that can move can anything have changed: where one was when the entry was made, and where one is
// now.
static int staleness(const work *w, int32_t t, const entry *e)
{
    bool moved = e->made < w->cache->moved, faster = e->made < w->cache->changed_speed;
    if (!moved) return faster && e->movable ? ANOTHER_SPEED : GOOD;
    if (e->movable) return ANOTHER_PLACE;
    if (!w->obstacles->any_moving) return GOOD;
    rh_cut_near near;
    rh_cut_tile_near(w->tiles, w->obstacles, t, &near);
    return near_movable(w->obstacles, &near) ? ANOTHER_PLACE : GOOD;
}

static void look_up(const work *w)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t t = 0; t < w->tiles->count; t++) {
        w->entry_of[t] = find_entry(w->cache, w->tiles->at[t]);
        w->stale[t] = GOOD;
        if (w->entry_of[t] < 0) continue;
        entry *e = &w->cache->entries[w->entry_of[t]];
        e->seen = w->cache->build;
        w->stale[t] = (uint8_t)staleness(w, t, e);
    }
}

static bool give_back_unseen(rh_cut_cache *cache)
{
    bool any = false;
    for (int32_t n = 0; n < cache->entry_count; n++) {
        entry *e = &cache->entries[n];
        if (!e->used || e->seen == cache->build) continue;
        release_pages(cache, e, 0, PAGES);
        e->used = false;
        cache->spare_entries[cache->spare_entry_count++] = n;
        any = true;
    }
    return any;
}

// Entries for tiles to be made; returns their number through `count`.
static rh_code list_missing(work *w, int32_t *count, rh_status *status)
{
    bool changed = give_back_unseen(w->cache);
    *count = 0;
    for (int32_t t = 0; t < w->tiles->count; t++) {
        if (w->entry_of[t] < 0) {
            RH_TRY(take_entry(w->cache, w->tiles->at[t], &w->entry_of[t], status));
            changed = true;
        } else if (w->stale[t] == GOOD) {
            continue;
        }
        bool all = w->stale[t] != ANOTHER_SPEED;
        release_pages(w->cache, &w->cache->entries[w->entry_of[t]], all ? 0 : WALL,
                      all ? PAGES : WALL + w->tiles->dimension);
        w->list[(*count)++] = t;
    }
    return changed || !w->cache->slots ? fill_slots(w->cache, status) : RH_OK;
}

static void keep_page(rh_cut_cache *cache, entry *e, int which, const float *values)
{
    e->pages[which] = find_shared(cache, values);
    if (e->pages[which]) return;
    float *page = take_page(cache);
    memcpy(page, values, (size_t)cells_of(cache->dimension) * sizeof(float));
    e->pages[which] = page;
}

static void make_free(const rh_cut_cache *cache, entry *e)
{
    for (int n = 0; n < PAGES; n++)
        e->pages[n] = constant(cache, n == DISTANCE ? REACH : (n >= WALL && n < DISTANCE) || n >= OWNER ? ZERO : ONE);
    for (int a = 0; a < 3; a++) e->faces[a] = (rh_cut_faces){.which = -1};
    memset(e->releases, 0, sizeof e->releases);
    e->touch = (rh_cut_box){{RH_TILE, RH_TILE, RH_TILE}, {-1, -1, -1}};
    e->free = true;
}

static void keep_walls(rh_cut_cache *cache, entry *e, float wall[3][RH_CUT_CELLS])
{
    for (int a = 0; a < cache->dimension; a++) keep_page(cache, e, WALL + a, wall[a]);
}

// The solids are where they were, but at another speed.
static void renew_velocities(const work *w, entry *e, const rh_cut_near *near, int32_t t)
{
    float wall[3][RH_CUT_CELLS];
    rh_cut_tile_velocities(w->tiles, w->obstacles, near, t, e->pages + OPEN,
                           (float *const[3]){wall[0], wall[1], wall[2]}, NULL);
    keep_walls(w->cache, e, wall);
}

static void make_values(const work *w, const rh_cut_near *near, int32_t t, rh_cut_values *values,
                        rh_blur_values *blurred)
{
    const rh_cut_cache *cache = w->cache;
    rh_cut_tile_make(w->tiles, w->obstacles, near, t, values);
    rh_thin_list thin;
    rh_thin_tile_near(w->tiles, w->obstacles, near, t, &thin);
    rh_cut_near others = rh_thin_tile_others(w->obstacles, near);
    if (cache->blur) rh_blur_tile_make(w->tiles, w->obstacles, &others, cache->form, cache->blur, t, blurred);
    if (thin.count > 0)
        rh_thin_tile_cut(w->tiles, w->obstacles, near, &thin, cache->form, t, values, cache->blur ? blurred : NULL);
    const float *const open[3] = {values->open[0], values->open[1], values->open[2]};
    rh_cut_tile_velocities(w->tiles, w->obstacles, near, t, open,
                           (float *const[3]){values->wall[0], values->wall[1], values->wall[2]},
                           w->obstacles->any_dynamic ? values->owner : NULL);
    rh_cut_tile_faces(w->tiles, w->obstacles, near, t, open, values->distance, values->faces);
}

static void make_tile(const work *w, int32_t t)
{
    rh_cut_cache *cache = w->cache;
    entry *e = &cache->entries[w->entry_of[t]];
    rh_cut_near near;
    rh_cut_tile_near(w->tiles, w->obstacles, t, &near);
    e->made = cache->build;
    if (w->stale[t] == ANOTHER_SPEED) {
        renew_velocities(w, e, &near, t);
        return;
    }
    e->movable = near_movable(w->obstacles, &near);
    make_free(cache, e);
    if (near.count == 0) return;
    rh_cut_values values;
    rh_blur_values blurred;
    make_values(w, &near, t, &values, &blurred);
    for (int a = 0; a < w->tiles->dimension; a++) {
        keep_page(cache, e, OPEN + a, values.open[a]);
        e->faces[a] = values.faces[a];
    }
    keep_walls(cache, e, values.wall);
    for (int a = 0; a < w->tiles->dimension && w->obstacles->any_dynamic; a++)
        keep_page(cache, e, OWNER + a, values.owner[a]);
    keep_page(cache, e, DISTANCE, values.distance);
    keep_page(cache, e, SHARE, values.share);
    keep_page(cache, e, VOLUME, values.volume);
    if (cache->blur) keep_page(cache, e, ROOM, blurred.room);
    for (int a = 0; a < w->tiles->dimension && cache->blur; a++) keep_page(cache, e, PASS + a, blurred.pass[a]);
    memcpy(e->releases, values.releases, sizeof e->releases);
    e->touch = values.touch;
    e->free = e->pages[DISTANCE] == constant(cache, REACH);
}

static rh_code make_missing(const work *w, int32_t count, rh_status *status)
{
    for (int32_t begin = 0; begin < count; begin += BATCH) {
        int32_t end = begin + BATCH < count ? begin + BATCH : count;
        RH_TRY(provide_pages(w->cache, (end - begin) * (w->obstacles->any_dynamic ? PAGES : OWNER), status));
#pragma omp parallel for schedule(dynamic, 1) if (end - begin > 1)
        for (int32_t n = begin; n < end; n++) make_tile(w, w->list[n]);
    }
    return RH_OK;
}

static rh_code new_table(const float ***table, const rh_tiles *tiles, rh_arena *arena, rh_status *status)
{
    *table = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof **table, status);
    return *table ? RH_OK : RH_MEMORY;
}

static rh_code new_view(rh_cut_cells *cut, const rh_tiles *tiles, bool blur, bool releases, rh_arena *arena,
                        rh_status *status)
{
    size_t count = (size_t)tiles->count + 1;
    *cut = (rh_cut_cells){0};
    for (int a = 0; a < tiles->dimension; a++) {
        RH_TRY(new_table(&cut->open[a], tiles, arena, status));
        RH_TRY(new_table(&cut->wall[a], tiles, arena, status));
        RH_TRY(new_table(&cut->owner[a], tiles, arena, status));
        if (blur) RH_TRY(new_table(&cut->pass[a], tiles, arena, status));
    }
    if (blur) RH_TRY(new_table(&cut->room, tiles, arena, status));
    RH_TRY(new_table(&cut->distance, tiles, arena, status));
    RH_TRY(new_table(&cut->share, tiles, arena, status));
    RH_TRY(new_table(&cut->volume, tiles, arena, status));
    cut->faces = rh_arena_take(arena, count * sizeof *cut->faces, status);
    cut->touch = rh_arena_take(arena, count * sizeof *cut->touch, status);
    cut->kind = rh_arena_take(arena, count, status);
    if (!cut->faces || !cut->touch || !cut->kind) return RH_MEMORY;
    if (!releases) return RH_OK;
    cut->releases = rh_arena_take(arena, count * sizeof *cut->releases, status);
    return cut->releases ? RH_OK : RH_MEMORY;
}

static void fill_view(const work *w, rh_cut_cells *cut)
{
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < w->tiles->count; t++) {
        const entry *e = &w->cache->entries[w->entry_of[t]];
        for (int a = 0; a < w->tiles->dimension; a++)
            cut->open[a][t] = e->pages[OPEN + a], cut->wall[a][t] = e->pages[WALL + a],
            cut->owner[a][t] = e->pages[OWNER + a];
        cut->distance[t] = e->pages[DISTANCE];
        cut->share[t] = e->pages[SHARE];
        cut->volume[t] = e->pages[VOLUME];
        if (cut->room) cut->room[t] = e->pages[ROOM];
        for (int a = 0; a < w->tiles->dimension && cut->room; a++) cut->pass[a][t] = e->pages[PASS + a];
        cut->faces[t] = e->faces;
        cut->touch[t] = e->touch;
        cut->kind[t] = e->free ? RH_TILE_FREE : e->movable ? RH_TILE_MOVING : RH_TILE_CUT;
        if (cut->releases) cut->releases[t] = e->releases;
    }
}

static rh_code update(rh_cut_cells *cut, rh_cut_cache *cache, const rh_tiles *tiles, const rh_obstacles *obstacles,
                      rh_arena *arena, rh_status *status)
{
    work w = {.cache = cache, .tiles = tiles, .obstacles = obstacles};
    size_t count = (size_t)tiles->count + 1;
    RH_TRY(new_view(cut, tiles, cache->blur > 0, obstacles->any_separating, arena, status));
    rh_arena_mark mark = rh_arena_save(arena);
    w.entry_of = rh_arena_take(arena, count * sizeof *w.entry_of, status);
    w.list = rh_arena_take(arena, count * sizeof *w.list, status);
    w.stale = rh_arena_take(arena, count, status);
    if (!w.entry_of || !w.list || !w.stale) return RH_MEMORY;
    int32_t missing;
    RH_TRY(note_solids(cache, obstacles, status));
    look_up(&w);
    RH_TRY(list_missing(&w, &missing, status));
    RH_TRY(make_missing(&w, missing, status));
    cache->made = missing;
    cut->any_thin = obstacles->any_thin;
    fill_view(&w, cut);
    rh_arena_restore(arena, mark);
    return RH_OK;
}

rh_code rh_cut_cells_build(rh_cut_cells *cut, rh_cut_cache *cache, const rh_tiles *tiles, const rh_obstacles *obstacles,
                           rh_arena *arena, rh_status *status)
{
    if (cache->dimension != tiles->dimension || cache->h != tiles->h) {
        int blur = cache->blur;
        rh_blur_form form = cache->form;
        rh_cut_cache_free(cache);
        cache->blur = blur;
        cache->form = form;
        cache->dimension = tiles->dimension;
        cache->h = tiles->h;
    }
    cache->build++;
    rh_code code = cache->constants ? RH_OK : make_constants(cache, status);
    if (code == RH_OK) code = update(cut, cache, tiles, obstacles, arena, status);
    if (code != RH_OK) forget_all(cache);  // entries may be half made
    return code;
}

// --- own copies ------------------------------------------------------------------------------------------------------
static rh_code own_page(const float **page, int cells, rh_arena *arena, float **own, rh_status *status)
{
    size_t bytes = (size_t)cells * sizeof(float);
    *own = rh_arena_take(arena, bytes, status);
    if (!*own) return RH_MEMORY;
    memcpy(*own, *page, bytes);
    *page = *own;
    return RH_OK;
}

rh_code rh_cut_cells_own(rh_cut_cells *cut, const rh_tiles *tiles, int32_t t, rh_arena *arena, rh_cut_own *own,
                         rh_status *status)
{
    RH_ASSERT(t >= 0 && t < tiles->count);
    *own = (rh_cut_own){0};
    if (!cut->inflow) {
        cut->inflow = rh_arena_take_zero(arena, ((size_t)tiles->count + 1) * sizeof *cut->inflow, status);
        if (!cut->inflow) return RH_MEMORY;
    }
    for (int a = 0; a < tiles->dimension; a++) {
        RH_TRY(own_page(&cut->open[a][t], tiles->cells, arena, &own->open[a], status));
        RH_TRY(own_page(&cut->wall[a][t], tiles->cells, arena, &own->wall[a], status));
        if (cut->room) RH_TRY(own_page(&cut->pass[a][t], tiles->cells, arena, &own->pass[a], status));
    }
    own->inflow = rh_arena_take_zero(arena, (size_t)tiles->cells, status);
    own->faces = rh_arena_take(arena, 3 * sizeof *own->faces, status);
    if (!own->inflow || !own->faces) return RH_MEMORY;
    memcpy(own->faces, cut->faces[t], 3 * sizeof *own->faces);
    cut->faces[t] = own->faces;
    cut->inflow[t] = own->inflow;
    return RH_OK;
}
