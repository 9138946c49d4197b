// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo info FILE.vdb --histogram NAME: how the values of an attribute are spread over the particles, in bins of equal
// width, or of equal ratio where values are positive and span more than a decade. Of radii also the share of volume,
// and Sauter's mean: the radius of the ball with the volume and surface that all have together.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "base/param.h"
#include "base/regular.h"
#include "format.h"
#include "info.h"
#include "io/vdb_sets.h"

enum { BINS = 20, BAR = 40 };

typedef struct histogram {
    double low, high;  // of all values
    bool even_ratio;   // bins of equal ratio
    int64_t count[BINS], all;
    double volume[BINS];  // sums of cubes
    double sum, squares, cubes;
} histogram;

static double value_of(const rh_attribute *a, int64_t i)
{
    i = a->uniform ? 0 : i;
    if (a->type == RH_POINT_F32) return (double)((const float *)a->data)[i];
    if (a->type == RH_POINT_I32) return ((const int32_t *)a->data)[i];
    return rh_d3_length(rh_d3_from(((const rh_vec3 *)a->data)[i]));
}

static int bin_of(const histogram *h, double value)
{
    double along = h->even_ratio ? log(value / h->low) / log(h->high / h->low) : (value - h->low) / (h->high - h->low);
    int bin = h->high > h->low ? (int)(BINS * along) : 0;
    return bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
}

static double edge_of(const histogram *h, int bin)
{
    double along = bin / (double)BINS;
    return h->even_ratio ? h->low * pow(h->high / h->low, along) : h->low + (h->high - h->low) * along;
}

static void fill(const rh_attribute *a, int64_t count, histogram *h)
{
    *h = (histogram){.low = INFINITY, .high = -INFINITY};
    for (int64_t i = 0; i < count; i++) {
        double v = value_of(a, i);
        if (!isfinite(v)) continue;
        h->low = fmin(h->low, v), h->high = fmax(h->high, v);
        h->all++;
    }
    h->even_ratio = h->low > 0 && h->high > 10 * h->low;
    for (int64_t i = 0; i < count; i++) {
        double v = value_of(a, i);
        if (!isfinite(v)) continue;
        int bin = bin_of(h, v);
        h->count[bin]++;
        h->volume[bin] += v * v * v;
        h->sum += v, h->squares += v * v, h->cubes += v * v * v;
    }
}

static void print_bins(const histogram *h, bool radii)
{
    int64_t most = 1;
    for (int b = 0; b < BINS; b++) most = h->count[b] > most ? h->count[b] : most;
    printf("  %11s %11s %12s %8s%s\n", "from", "to", "particles", "share", radii ? "  of volume" : "");
    for (int b = 0; b < BINS; b++) {
        app_text number;
        char bar[BAR + 1];
        int length = (int)(BAR * (double)h->count[b] / (double)most + 0.5);
        memset(bar, '#', (size_t)length);
        bar[length] = 0;
        printf("  %11.5g %11.5g %12s %7.2f%%", edge_of(h, b), edge_of(h, b + 1), app_format_count(h->count[b], &number),
               100 * (double)h->count[b] / (double)h->all);
        if (radii) printf("    %6.2f%%", 100 * h->volume[b] / h->cubes);
        printf("  %s\n", bar);
        if (h->high == h->low) break;
    }
}

static rh_code find(const rh_points *points, const char *path, const char *name, const rh_attribute **out,
                    rh_status *status)
{
    const char *names[RH_POINTS_MAX_ATTRIBUTES];
    int count = 0;
    for (int i = 0; i < points->attribute_count; i++) {
        const rh_attribute *a = &points->attributes[i];
        if (a->type != RH_POINT_F32 && a->type != RH_POINT_I32 && a->type != RH_POINT_VEC3F) continue;
        names[count++] = a->name;
        if (strcmp(a->name, name) == 0) return *out = a, RH_OK;
    }
    const char *near = rh_nearest_name(name, names, count);
    return rh_fail(status, RH_USER, "%s: its particles have no numbers or vectors called '%s'%s%s%s", path, name,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

rh_code app_info_histogram(const char *path, const char *material, const char *name, rh_status *status)
{
    rh_points points;
    const rh_attribute *a = NULL;
    histogram h;
    app_text number;
    if (!rh_path_has_ending(path, ".vdb"))
        return rh_fail(status, RH_USER, "%s: --histogram takes a points file (.vdb)", path);
    rh_points_init(&points);
    rh_code code = rh_vdb_read_set(path, material, &points, NULL, status);
    if (code == RH_OK) code = find(&points, path, name, &a, status);
    if (code == RH_OK) {
        fill(a, points.count, &h);
        bool radii = strcmp(name, "radius") == 0 && h.low > 0;
        printf("%s: %s%s of %s particles\n", path, a->type == RH_POINT_VEC3F ? "length of " : "", name,
               app_format_count(h.all, &number));
        if (h.all) printf("  least %.6g, mean %.6g, most %.6g\n", h.low, h.sum / (double)h.all, h.high);
        if (h.all && radii) printf("  Sauter's mean %.6g\n", h.cubes / h.squares);
        if (h.all) print_bins(&h, radii);
    }
    rh_points_free(&points);
    return code;
}
