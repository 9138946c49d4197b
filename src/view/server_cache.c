// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A list searched from end to end: a thousand keys are compared in less time than a system call takes.
#include "view/server_cache.h"

#include <string.h>
#include "base/memory.h"

void rh_response_cache_init(rh_response_cache *a, size_t most_bytes)
{
    memset(a, 0, sizeof *a);
    a->most_bytes = most_bytes;
    pthread_mutex_init(&a->lock, NULL);
}

static void release(rh_response *response)
{
    if (--response->holders > 0) return;
    rh_message_free(&response->message);
    rh_free(response);
}

static void forget(rh_response_cache *a, int index)
{
    rh_response *response = a->items[index];
    a->bytes -= response->message.room;
    a->items[index] = a->items[--a->count];
    release(response);
}

void rh_response_cache_free(rh_response_cache *a)
{
    while (a->count) forget(a, a->count - 1);
    pthread_mutex_destroy(&a->lock);
}

rh_response *rh_response_cache_find(rh_response_cache *a, const rh_response_key *key)
{
    rh_response *found = NULL;
    pthread_mutex_lock(&a->lock);
    for (int i = 0; i < a->count && !found; i++)
        if (memcmp(&a->items[i]->key, key, sizeof *key) == 0) found = a->items[i];
    if (found) {
        found->holders++;
        found->used = ++a->clock;
    }
    pthread_mutex_unlock(&a->lock);
    return found;
}

static void make_room(rh_response_cache *a, size_t bytes)
{
    while (a->count && (a->count == RH_RESPONSE_CACHE_MOST || a->bytes + bytes > a->most_bytes)) {
        int oldest = 0;
        for (int i = 1; i < a->count; i++)
            if (a->items[i]->used < a->items[oldest]->used) oldest = i;
        forget(a, oldest);
    }
}

rh_response *rh_response_cache_add(rh_response_cache *a, const rh_response_key *key, rh_message *message,
                                   rh_status *status)
{
    rh_response *response = rh_alloc_zero(sizeof *response, "view.response", status);
    if (!response) {
        rh_message_free(message);
        return NULL;
    }
    *response = (rh_response){.message = *message, .holders = 1, .home = a};
    memset(message, 0, sizeof *message);
    if (!key || response->message.room > a->most_bytes) return response;
    memcpy(&response->key, key, sizeof *key);
    pthread_mutex_lock(&a->lock);
    make_room(a, response->message.room);
    a->items[a->count++] = response;
    a->bytes += response->message.room;
    response->holders++;
    response->used = ++a->clock;
    pthread_mutex_unlock(&a->lock);
    return response;
}

void rh_response_release(rh_response *response)
{
    if (!response) return;
    pthread_mutex_t *lock = &response->home->lock;
    pthread_mutex_lock(lock);
    release(response);
    pthread_mutex_unlock(lock);
}
