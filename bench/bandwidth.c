// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The memory's bandwidth, after STREAM (J. D. McCalpin, IEEE TCCA Newsletter, 1995): copy a = b and triad a = b + s c
// over arrays far larger than any cache, best of several. As there, a store counts once: what the processor reads
// before it writes a line is not counted, neither here nor in the model of traffic.c. Loops are plain C, so they get
// what the solver's loops can get; the C library's memcpy with its non-temporal stores is faster and nothing the solver
// does is like it.
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "bench.h"

enum { VALUES = 48 << 20, TIMES = 8 };  // 192 MB an array

typedef struct arrays {
    float *a, *b, *c;
} arrays;

// The compiler must not make it a call of memcpy (see above), hence the product.
static void copy(const arrays *x, float scale)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < VALUES; i++) x->a[i] = scale * x->b[i];
}

static void triad(const arrays *x, float scale)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < VALUES; i++) x->a[i] = x->b[i] + scale * x->c[i];
}

static void fill(const arrays *x)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < VALUES; i++) x->a[i] = 0, x->b[i] = 1, x->c[i] = 2;
}

static double best_rate(void (*loop)(const arrays *, float), const arrays *x, int streams)
{
    double least = 1e30;
    for (int n = 0; n < TIMES; n++) {
        double start = rh_seconds();
        loop(x, 1 + (float)n);
        double seconds = rh_seconds() - start;
        if (seconds < least) least = seconds;
    }
    return (double)streams * sizeof(float) * VALUES / least;
}

static void measure(const void *argument, void *out)
{
    bench_bandwidth *found = out;
    arrays x;
    size_t bytes = (size_t)VALUES * sizeof(float);
    rh_threads_set(*(const int *)argument);
    x.a = rh_alloc(bytes, "bench", NULL);
    x.b = rh_alloc(bytes, "bench", NULL);
    x.c = rh_alloc(bytes, "bench", NULL);
    if (x.a && x.b && x.c) {
        fill(&x);
        *found = (bench_bandwidth){best_rate(copy, &x, 2), best_rate(triad, &x, 3)};
    }
    rh_free(x.a);
    rh_free(x.b);
    rh_free(x.c);
}

bool bench_bandwidth_measure(int threads, bench_bandwidth *out)
{
    *out = (bench_bandwidth){0};
    return bench_in_child(measure, &threads, out, sizeof *out) && out->triad > 0;
}
