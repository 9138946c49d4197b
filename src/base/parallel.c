// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sums by halves (pairwise summation): the error grows with the logarithm of the count, and the order depends on
// nothing but the count.
#include "base/parallel.h"

#include <omp.h>
#include "base/assert.h"
#include "base/context_parts.h"

double rh_sum(const double *values, int64_t count)
{
    RH_ASSERT(count >= 0 && (values || count == 0));
    if (count <= 8) {
        double sum = 0;
        for (int64_t i = 0; i < count; i++) sum += values[i];
        return sum;
    }
    int64_t half = count / 2;
    return rh_sum(values, half) + rh_sum(values + half, count - half);
}

double rh_max(const double *values, int64_t count)
{
    RH_ASSERT(count >= 0 && (values || count == 0));
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        if (values[i] > most || i == 0) most = values[i];
    return most;
}

void rh_threads_set(int count)
{
    if (count <= 0) count = omp_get_num_procs();
    atomic_store(&rh_context_current()->threads, count);
    omp_set_num_threads(count);
}

int rh_threads(void) { return omp_get_max_threads(); }
int rh_thread(void) { return omp_get_thread_num(); }
