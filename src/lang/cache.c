// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A list under one lock: there are few programs, and compiling one takes so long that looking through the list is
// nothing. Compiling happens under the lock too, so that two threads that want the same program compile it once.
#include "lang/cache.h"
#include <pthread.h>
#include <string.h>
#include "base/memory.h"

typedef struct entry {
    char *source;
    size_t length;
    rh_lang_options options;
    rh_lang_program *program;
    rh_lang_messages warnings;
    int users;
    struct entry *next;  // used before this one
} entry;

struct rh_lang_cache {
    pthread_mutex_t lock;
    entry *newest;
    int capacity, count;
    int64_t hits;
    double seconds;
};

rh_code rh_lang_cache_create(int capacity, rh_lang_cache **out, rh_status *status)
{
    *out = rh_alloc_zero(sizeof **out, "lang.cache", status);
    if (!*out) return RH_MEMORY;
    pthread_mutex_init(&(*out)->lock, NULL);
    (*out)->capacity = capacity;
    return RH_OK;
}

static void free_entry(entry *e)
{
    rh_lang_program_free(e->program);
    rh_lang_messages_free(&e->warnings);
    rh_free(e->source);
    rh_free(e);
}

void rh_lang_cache_free(rh_lang_cache *cache)
{
    if (!cache) return;
    for (entry *e = cache->newest, *next; e; e = next) {
        RH_ASSERT(e->users == 0);
        next = e->next;
        free_entry(e);
    }
    pthread_mutex_destroy(&cache->lock);
    rh_free(cache);
}

static bool same_options(const rh_lang_options *a, const rh_lang_options *b)
{
    return a->domain == b->domain && a->warnings_are_errors == b->warnings_are_errors &&
           a->keep_listing == b->keep_listing && a->unoptimised == b->unoptimised && a->check_only == b->check_only &&
           a->functions == b->functions && a->function_count == b->function_count;
}

// Takes the entry out of the list; NULL when there is none.
static entry *take_out(rh_lang_cache *cache, const char *source, size_t length, const rh_lang_options *options)
{
    for (entry **at = &cache->newest; *at; at = &(*at)->next) {
        entry *e = *at;
        if (e->length != length || memcmp(e->source, source, length) != 0 || !same_options(&e->options, options))
            continue;
        *at = e->next;
        return e;
    }
    return NULL;
}

static void drop_oldest(rh_lang_cache *cache)
{
    while (cache->count > cache->capacity) {
        entry **oldest = NULL;
        for (entry **at = &cache->newest; *at; at = &(*at)->next)
            if ((*at)->users == 0) oldest = at;
        if (!oldest) return;
        entry *e = *oldest;
        *oldest = e->next;
        cache->count--;
        free_entry(e);
    }
}

static rh_code make_entry(const char *source, size_t length, const rh_lang_options *options, rh_lang_messages *messages,
                          entry **out, rh_status *status)
{
    *out = NULL;
    entry *e = rh_alloc_zero(sizeof *e, "lang.cache", status);
    if (!e) return RH_MEMORY;
    e->options = *options;
    e->length = length;
    e->source = rh_alloc(length + 1, "lang.cache", status);
    rh_code code = e->source ? rh_lang_compile(source, length, options, &e->program, &e->warnings, status) : RH_MEMORY;
    if (code == RH_OK) {
        memcpy(e->source, source, length);
        *out = e;
        return RH_OK;
    }
    // What is wrong goes to the caller, who asked.
    rh_lang_messages_free(messages);
    *messages = e->warnings;
    e->warnings = (rh_lang_messages){0};
    free_entry(e);
    return code;
}

static rh_code repeat_warnings(const entry *e, rh_lang_messages *messages, rh_status *status)
{
    for (int i = 0; i < e->warnings.count; i++) {
        const rh_lang_message *m = &e->warnings.items[i];
        RH_TRY(rh_lang_messages_add(messages, true, m->at, m->text, m->suggestion, status));
    }
    return RH_OK;
}

rh_code rh_lang_cache_get(rh_lang_cache *cache, const char *source, size_t length, const rh_lang_options *options,
                          const rh_lang_program **out, rh_lang_messages *messages, rh_status *status)
{
    *out = NULL;
    pthread_mutex_lock(&cache->lock);
    entry *e = take_out(cache, source, length, options);
    rh_code code = RH_OK;
    if (e) {
        cache->hits++;
    } else {
        code = make_entry(source, length, options, messages, &e, status);
        cache->count += code == RH_OK;
        if (e) cache->seconds += rh_lang_program_seconds(e->program);
    }
    if (e) {
        e->next = cache->newest;
        cache->newest = e;
        code = repeat_warnings(e, messages, status);
        if (code == RH_OK) {
            e->users++;
            *out = e->program;
        }
        drop_oldest(cache);
    }
    pthread_mutex_unlock(&cache->lock);
    return code;
}

void rh_lang_cache_release(rh_lang_cache *cache, const rh_lang_program *program)
{
    pthread_mutex_lock(&cache->lock);
    for (entry *e = cache->newest; e; e = e->next)
        if (e->program == program) {
            RH_ASSERT(e->users > 0);
            e->users--;
        }
    drop_oldest(cache);
    pthread_mutex_unlock(&cache->lock);
}

int64_t rh_lang_cache_hits(rh_lang_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    int64_t hits = cache->hits;
    pthread_mutex_unlock(&cache->lock);
    return hits;
}

double rh_lang_cache_seconds(rh_lang_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    double seconds = cache->seconds;
    pthread_mutex_unlock(&cache->lock);
    return seconds;
}
