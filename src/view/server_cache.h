// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Responses that were made, kept for the next who asks the same: bounded in bytes, the longest unused goes first.
// Thread-safe.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "view/wire.h"

enum { RH_RESPONSE_CACHE_MOST = 1024 };

typedef struct rh_response_key {  // compared by its bytes: clear it before filling it in
    int32_t kind, zipped;
    int64_t frame, limit;
    uint64_t version;
    char attribute[RH_WIRE_NAME];
} rh_response_key;

typedef struct rh_response {  // shared and counted: whoever gets one releases it
    rh_response_key key;
    rh_message message;
    uint64_t used;
    int holders;
    struct rh_response_cache *home;
} rh_response;

typedef struct rh_response_cache {
    pthread_mutex_t lock;
    rh_response *items[RH_RESPONSE_CACHE_MOST];
    int count;
    size_t bytes, most_bytes;
    uint64_t clock;
} rh_response_cache;

void rh_response_cache_init(rh_response_cache *cache, size_t most_bytes);
void rh_response_cache_free(rh_response_cache *cache);  // every response must have been released
rh_response *rh_response_cache_find(rh_response_cache *cache, const rh_response_key *key);  // NULL when there is none
// Takes over the message (also on failure). NULL key: not kept for others.
rh_response *rh_response_cache_add(rh_response_cache *cache, const rh_response_key *key, rh_message *message,
                                   rh_status *status);
void rh_response_release(rh_response *response);
