// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// See the header. Cutting off is a shutdown of the socket: the thread that reads from it or writes to it wakes up and
// closes it.
#include "view/server_guard.h"

#include <string.h>
#include <sys/socket.h>

void rh_guard_init(rh_guard *g)
{
    memset(g, 0, sizeof *g);
    g->wait = 15;
    g->answer = 300;
    g->rate = 200;
    g->burst = g->tokens = 400;
    pthread_mutex_init(&g->lock, NULL);
}

void rh_guard_free(rh_guard *g) { pthread_mutex_destroy(&g->lock); }

static void cut(rh_guard_slot *slot)
{
    shutdown(slot->socket, SHUT_RDWR);
    slot->busy = true;  // not to be cut again while it goes down
}

static void cut_longest_waiting(rh_guard *g)
{
    rh_guard_slot *oldest = NULL;
    for (int i = 0; i < RH_GUARD_MOST; i++) {
        rh_guard_slot *s = &g->slots[i];
        if (s->used && !s->busy && (!oldest || s->since < oldest->since)) oldest = s;
    }
    if (oldest) cut(oldest);
}

rh_guard_slot *rh_guard_enter(rh_guard *g, int socket, double now)
{
    rh_guard_slot *slot = NULL;
    pthread_mutex_lock(&g->lock);
    if (g->count >= RH_GUARD_FULL) cut_longest_waiting(g);
    for (int i = 0; i < RH_GUARD_MOST && !slot; i++)
        if (!g->slots[i].used) slot = &g->slots[i];
    if (slot) {
        *slot = (rh_guard_slot){.used = true, .socket = socket, .since = now};
        g->count++;
    }
    pthread_mutex_unlock(&g->lock);
    return slot;
}

void rh_guard_leave(rh_guard *g, rh_guard_slot *slot)
{
    pthread_mutex_lock(&g->lock);
    slot->used = false;
    g->count--;
    pthread_mutex_unlock(&g->lock);
}

void rh_guard_mark(rh_guard *g, rh_guard_slot *slot, bool busy, double now)
{
    pthread_mutex_lock(&g->lock);
    slot->busy = busy;
    slot->since = now;
    pthread_mutex_unlock(&g->lock);
}

bool rh_guard_allows(rh_guard *g, double now)
{
    pthread_mutex_lock(&g->lock);
    if (g->filled > 0) g->tokens += g->rate * (now - g->filled);
    if (g->tokens > g->burst) g->tokens = g->burst;
    g->filled = now;
    bool allowed = g->tokens >= 1;
    if (allowed) g->tokens -= 1;
    pthread_mutex_unlock(&g->lock);
    return allowed;
}

void rh_guard_cut_off(rh_guard *g, double now)
{
    pthread_mutex_lock(&g->lock);
    for (int i = 0; i < RH_GUARD_MOST; i++) {
        rh_guard_slot *s = &g->slots[i];
        if (s->used && now - s->since > (s->busy ? g->answer : g->wait)) {
            cut(s);
            s->since = now;
        }
    }
    pthread_mutex_unlock(&g->lock);
}
