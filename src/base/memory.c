// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Each block is preceded by a 64-byte header holding its size, its label and its context. Counters are integer atomics:
// their final values do not depend on the order of threads, so they do not break determinism. A block counts in its own
// context and in that of the process, which so has the sum of all.
//
// Large blocks come from the system and go back to it: the C library's heap keeps freed blocks of up to 32 MB, and a
// process with a million particles had half as much again as it had in use (172 MB resident for 116 MB, now 119). They
// also ask for pages of 2 MB, which the system gives only to who asks: a twentieth of the page faults, some percent of
// the time.
#include "base/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/context_parts.h"

enum { HEADER = 64, MAX_LABELS = RH_MEMORY_LABELS };

typedef struct header {
    size_t bytes;
    rh_context *context;
    int slot;
    uint32_t magic;
} header;
#define MAGIC 0x52484541u

static _Atomic(const char *) g_labels[MAX_LABELS];  // in the order in which they were first met
static atomic_llong g_fail_after = -1;

static int slot_of(const char *label)
{
    for (int i = 0; i < MAX_LABELS - 1; i++) {
        const char *seen = atomic_load(&g_labels[i]);
        if (!seen) {
            const char *expected = NULL;
            if (atomic_compare_exchange_strong(&g_labels[i], &expected, label)) return i;
            seen = expected;
        }
        if (seen == label || strcmp(seen, label) == 0) return i;
    }
    return MAX_LABELS - 1;  // everything beyond shares the last slot
}

static void raise_to(atomic_llong *peak, long long value)
{
    long long old = atomic_load(peak);
    while (old < value && !atomic_compare_exchange_weak(peak, &old, value)) {
    }
}

static void count_one(rh_memory_count *c, long long bytes, long long blocks)
{
    raise_to(&c->peak, atomic_fetch_add(&c->bytes, bytes) + bytes);
    atomic_fetch_add(&c->blocks, blocks);
}

static void count(rh_context *context, int slot, long long bytes, long long blocks)
{
    count_one(&rh_process_context.labels[slot], bytes, blocks);
    count_one(&rh_process_context.total, bytes, blocks);
    if (context == &rh_process_context) return;
    count_one(&context->labels[slot], bytes, blocks);
    count_one(&context->total, bytes, blocks);
}

static bool failure_is_due(void)
{
    long long left = atomic_load(&g_fail_after);
    if (left < 0) return false;
    return atomic_fetch_sub(&g_fail_after, 1) <= 0 ? (atomic_store(&g_fail_after, 0), true) : false;
}

// A test counts allocations: then all of them are.
static bool failure_is_near(void) { return atomic_load(&g_fail_after) >= 0; }

static bool exceeds(rh_context *context, size_t bytes)
{
    long long limit = atomic_load(&context->limit);
    return limit > 0 && (long long)bytes > limit - atomic_load(&context->total.bytes);
}

static bool is_over_limit(size_t bytes)
{
    return exceeds(&rh_process_context, bytes) || exceeds(rh_context_current(), bytes);
}

// Under the address sanitizer all blocks stay in the heap: it guards their ends there.
#if defined(__SANITIZE_ADDRESS__)
#define MAP_LARGE 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MAP_LARGE 0
#endif
#endif
#ifndef MAP_LARGE
#define MAP_LARGE 1
#endif
enum { PAGE = 4096, LARGE_PAGE = 2 << 20, LARGE_BLOCK = 2 * LARGE_PAGE };

static bool is_large(size_t whole) { return MAP_LARGE && whole >= LARGE_BLOCK; }
static size_t whole_pages(size_t whole) { return (whole + PAGE - 1) & ~(size_t)(PAGE - 1); }

// Aligned to large pages: one more than needed is mapped, and what stands over on both sides given back.
static void *map_block(size_t whole)
{
    size_t size = whole_pages(whole);
    char *raw = mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return NULL;
    size_t before = (size_t)(-(uintptr_t)raw & (LARGE_PAGE - 1));
    if (before) munmap(raw, before);
    if (before < LARGE_PAGE) munmap(raw + before + size, LARGE_PAGE - before);
    madvise(raw + before, size, MADV_HUGEPAGE);  // a wish: where it is refused all works the same
    return raw + before;
}

static void *take(size_t whole) { return is_large(whole) ? map_block(whole) : aligned_alloc(64, whole); }

static void give_back(void *raw, size_t whole)
{
    if (is_large(whole)) munmap(raw, whole_pages(whole));
    else free(raw);
}

static size_t with_header(size_t bytes) { return (bytes + HEADER + 63) & ~(size_t)63; }

void *rh_alloc(size_t bytes, const char *label, rh_status *status)
{
    RH_ASSERT(label && label[0]);
    if (bytes > SIZE_MAX / 2 || failure_is_due() || is_over_limit(bytes)) goto failed;
    char *raw = take(with_header(bytes));
    if (!raw) goto failed;
    header *h = (header *)raw;
    h->bytes = bytes;
    h->slot = slot_of(label);
    h->context = rh_context_current();
    h->magic = MAGIC;
    if (h->context != &rh_process_context) atomic_fetch_add(&h->context->references, 1);
    count(h->context, h->slot, (long long)bytes, 1);
    return raw + HEADER;
failed:
    rh_fail(status, RH_MEMORY, "out of memory: %zu bytes for '%s' (%lld bytes are in use%s)", bytes, label,
            (long long)rh_memory_bytes(),
            bytes <= SIZE_MAX / 2 && is_over_limit(bytes) ? ", more than the limit allows" : "");
    return NULL;
}

void *rh_alloc_zero(size_t bytes, const char *label, rh_status *status)
{
    void *block = rh_alloc(bytes, label, status);
    if (block) memset(block, 0, bytes);
    return block;
}

// Pages change their place, not their contents. NULL: the system would not.
static void *move_pages(void *raw, size_t from, size_t to)
{
    size_t old = whole_pages(from), size = whole_pages(to);
    if (mremap(raw, old, size, 0) != MAP_FAILED) return raw;
    char *place = map_block(to);  // for its address, which suits large pages
    if (!place) return NULL;
    if (mremap(raw, old, size, MREMAP_MAYMOVE | MREMAP_FIXED, place) != MAP_FAILED) return place;
    munmap(place, size);
    return NULL;
}

// NULL: this block has to be copied.
static void *move_block(void *block, size_t bytes, const char *label)
{
    header *h = (header *)((char *)block - HEADER);
    size_t before = h->bytes;
    bool large = bytes <= SIZE_MAX / 2 && is_large(with_header(before)) && is_large(with_header(bytes));
    if (!large || h->slot != slot_of(label) || h->context != rh_context_current()) return NULL;
    if (bytes > before && is_over_limit(bytes - before)) return NULL;
    header *moved = move_pages(h, with_header(before), with_header(bytes));
    if (!moved) return NULL;
    moved->bytes = bytes;
    count(moved->context, moved->slot, (long long)bytes - (long long)before, 0);
    return (char *)moved + HEADER;
}

// (With a million particles of whitewater a step in which all grew by half took 72 ms more than others, most of it for
// clean pages; now 35, of blocks that become large only then.)
void *rh_realloc(void *block, size_t bytes, const char *label, rh_status *status)
{
    void *there = block && !failure_is_near() ? move_block(block, bytes, label) : NULL;
    if (there) return there;
    void *fresh = rh_alloc(bytes, label, status);
    if (!fresh) return NULL;
    if (block) {
        const header *h = (const header *)((char *)block - HEADER);
        memcpy(fresh, block, h->bytes < bytes ? h->bytes : bytes);
        rh_free(block);
    }
    return fresh;
}

void rh_free(void *block)
{
    if (!block) return;
    header *h = (header *)((char *)block - HEADER);
    RH_ASSERT(h->magic == MAGIC);
    h->magic = 0;
    rh_context *context = h->context;
    count(context, h->slot, -(long long)h->bytes, -1);
    give_back(h, with_header(h->bytes));
    rh_context_drop(context);
}

char *rh_strdup(const char *text, const char *label, rh_status *status)
{
    size_t bytes = strlen(text) + 1;
    char *copy = rh_alloc(bytes, label, status);
    if (copy) memcpy(copy, text, bytes);
    return copy;
}

int64_t rh_memory_bytes(void) { return atomic_load(&rh_context_current()->total.bytes); }
int64_t rh_memory_blocks(void) { return atomic_load(&rh_context_current()->total.blocks); }
int64_t rh_memory_peak(void) { return atomic_load(&rh_context_current()->total.peak); }
int64_t rh_memory_of_process(void) { return atomic_load(&rh_process_context.total.bytes); }

int64_t rh_memory_resident_peak(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;  // Linux counts in kilobytes
}

void rh_memory_set_limit(int64_t bytes) { atomic_store(&rh_context_current()->limit, bytes); }

int64_t rh_memory_limit(void)
{
    int64_t own = atomic_load(&rh_context_current()->limit), all = atomic_load(&rh_process_context.limit);
    return own == 0 || (all > 0 && all < own) ? all : own;
}

// A file with one number in it, such as those of cgroups; "max" or no such file: `otherwise`.
static int64_t number_in(const char *path, int64_t otherwise)
{
    long long value;
    FILE *file = fopen(path, "re");
    if (!file) return otherwise;
    bool good = fscanf(file, "%lld", &value) == 1 && value > 0;
    fclose(file);
    return good ? value : otherwise;
}

// The least memory.max from the process' own cgroup (version 2) up to the root.
static int64_t allowed_by_groups(void)
{
    char group[1024] = "", path[1200];
    int64_t least = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                              INT64_MAX);  // version 1, as containers see it
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(group, sizeof group, file) && strncmp(group, "0::", 3) != 0) group[0] = 0;
    if (file) fclose(file);
    group[strcspn(group, "\n")] = 0;
    for (char *name = group + (group[0] ? 3 : 0), *end;; *end = 0) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", name);
        int64_t allowed = number_in(path, INT64_MAX);
        if (allowed < least) least = allowed;
        end = strrchr(name, '/');
        if (!end) return least;
    }
}

int64_t rh_memory_of_machine(void)
{
    int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE),
            bytes = pages > 0 && size > 0 ? pages * size : INT64_MAX;
    int64_t allowed = allowed_by_groups();
    return allowed < bytes ? allowed : bytes;
}

void rh_memory_fail_after(int64_t n) { atomic_store(&g_fail_after, n); }

static int by_peak(const void *a, const void *b)
{
    const rh_memory_label *x = a, *y = b;
    if (x->peak != y->peak) return x->peak < y->peak ? 1 : -1;
    return strcmp(x->label, y->label);
}

int rh_memory_labels(rh_memory_label *out, int max)
{
    rh_memory_label all[MAX_LABELS];
    rh_memory_count *counts = rh_context_current()->labels;
    int n = 0;
    for (int i = 0; i < MAX_LABELS; i++) {
        const char *label = atomic_load(&g_labels[i]);
        long long peak = atomic_load(&counts[i].peak);
        if (!label || (counts != rh_process_context.labels && peak == 0)) continue;  // others met it, this one did not
        all[n++] = (rh_memory_label){label, atomic_load(&counts[i].bytes), peak, atomic_load(&counts[i].blocks)};
    }
    qsort(all, (size_t)n, sizeof *all, by_peak);
    if (n > max) n = max;
    memcpy(out, all, (size_t)n * sizeof *all);
    return n;
}
