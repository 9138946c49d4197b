// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Who may talk to the server and for how long: the connections, since when each waits or is served, and a bucket of
// requests.
//
// A client that sends its request letter by letter keeps a connection in use without ever being idle, so a limit on
// silence does not help. Here a request has to be there whole some seconds after the connection was ready for it, and
// when connections run short the one that has waited longest goes at once: whoever comes with a whole request is
// served.
#pragma once
#include <pthread.h>
#include <stdbool.h>

enum { RH_GUARD_MOST = 160, RH_GUARD_FULL = 96 };  // connections in all; from here on the longest waiting is cut off

typedef struct rh_guard_slot {
    bool used, busy;  // busy: a request is being answered
    int socket;
    double since;  // s, of the waiting or of the answer
} rh_guard_slot;

typedef struct rh_guard {
    pthread_mutex_t lock;
    rh_guard_slot slots[RH_GUARD_MOST];
    int count;
    double wait, answer;                 // s, most
    double rate, burst, tokens, filled;  // requests a second, most at once, left, when last filled
} rh_guard;

void rh_guard_init(rh_guard *guard);
void rh_guard_free(rh_guard *guard);
// NULL when there is no room. The socket must stay open until rh_guard_leave.
rh_guard_slot *rh_guard_enter(rh_guard *guard, int socket, double now);
void rh_guard_leave(rh_guard *guard, rh_guard_slot *slot);
void rh_guard_mark(rh_guard *guard, rh_guard_slot *slot, bool busy, double now);
bool rh_guard_allows(rh_guard *guard, double now);   // takes one request from the bucket
void rh_guard_cut_off(rh_guard *guard, double now);  // cuts off those over their time
