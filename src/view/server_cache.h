// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Answers that were made, for the next who asks: bounded in bytes, the longest unused goes first. Thread-safe.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "view/wire.h"

enum { RH_ANSWERS_MOST = 1024 };

typedef struct rh_answer_key {  // compared by its bytes: clear it before filling it in
    int32_t kind, zipped;
    int64_t frame, limit;
    uint64_t version;
    char attribute[RH_WIRE_NAME];
} rh_answer_key;

typedef struct rh_answer {  // shared and counted: whoever gets one gives it back
    rh_answer_key key;
    rh_message message;
    uint64_t used;
    int holders;
    struct rh_answers *home;
} rh_answer;

typedef struct rh_answers {
    pthread_mutex_t lock;
    rh_answer *items[RH_ANSWERS_MOST];
    int count;
    size_t bytes, most_bytes;
    uint64_t clock;
} rh_answers;

void rh_answers_init(rh_answers *answers, size_t most_bytes);
void rh_answers_free(rh_answers *answers);                                  // every answer must have come back
rh_answer *rh_answers_find(rh_answers *answers, const rh_answer_key *key);  // NULL when there is none
// Takes over the message (also on failure). NULL key: not kept for others.
rh_answer *rh_answers_add(rh_answers *answers, const rh_answer_key *key, rh_message *message, rh_status *status);
void rh_answer_give_back(rh_answer *answer);
