// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Programs compiled before. The key is the source and the options; types of attributes are part of the source,
// values from outside and data are not baked in, and a process has one LLVM and one processor. So a program serves any
// number of inputs, frames and passes.
#pragma once
#include "lang/lang.h"

typedef struct rh_lang_cache rh_lang_cache;

// Keeps the `capacity` programs used last, and those in use.
rh_code rh_lang_cache_create(int capacity, rh_lang_cache **out, rh_status *status);
void rh_lang_cache_free(rh_lang_cache *cache);  // nobody may hold a program any more; NULL is fine
// As rh_lang_compile (warnings come again each time); the program is the cache's and is given back by
// rh_lang_cache_release. From any thread.
rh_code rh_lang_cache_get(rh_lang_cache *cache, const char *source, size_t length, const rh_lang_options *options,
                          const rh_lang_program **out, rh_lang_messages *messages, rh_status *status);
void rh_lang_cache_release(rh_lang_cache *cache, const rh_lang_program *program);
int64_t rh_lang_cache_hits(rh_lang_cache *cache);
double rh_lang_cache_seconds(rh_lang_cache *cache);  // spent compiling so far
