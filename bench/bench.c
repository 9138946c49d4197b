// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// bench: runs entries of the table (entries.c), prints tables, writes CSV. docs/performance.md says what every column means.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/param.h"
#include "base/parallel.h"
#include "io/file.h"
#include "bench.h"

enum { MOST_ONLY = 32, MOST_ENTRIES = 64 };

typedef struct options {
    const char *only[MOST_ONLY];
    int only_count, threads, repeats;  // 0 = as the table says
    bool list, help, longer, memory;
    char csv[RH_PATH_MAX];
} options;

static void print_help(void)
{
    printf("usage: bench [OPTION ...]\n\n"
           "Runs the benchmarks of the liquid solver, each in a process of its own, prints tables and writes CSV.\n\n"
           "  --list          names of all entries and what they are\n"
           "  --only NAME     this entry, or all of this group (may be repeated)\n"
           "  --long          the long entries, too\n"
           "  --repeats N     runs of each entry; the least time counts (without it as the table says)\n"
           "  --threads N     threads of entries that do not fix them (without it all cores)\n"
           "  --memory        also print peaks of memory by label\n"
           "  --csv FILE      where to write the CSV (bench.csv beside the program)\n"
           "  --help          this text\n\n"
           "docs/performance.md says what every column means.\n");
}

static void print_list(void)
{
    static const char *const when[] = {"", "long", "only by name"};
    printf("%-13s %-11s %-9s %-28s %6s %7s %8s %8s  %s\n", "entry", "group", "scene", "setting", "skip", "frames", "repeats", "threads", "");
    for (int i = 0; i < bench_entry_count; i++) {
        const bench_entry *e = &bench_entries[i];
        char threads[16] = "all";
        if (e->threads) snprintf(threads, sizeof threads, "%d", e->threads);
        printf("%-13s %-11s %-9s %-28s %6d %7d %8d %8s  %s\n", e->name, e->group, e->scene, e->settings[0] ? e->settings[0] : "", e->skip, e->frames, e->repeats,
               threads, when[e->when]);
    }
}

// --- options ------------------------------------------------------------------------------------------------------
static rh_code read_count(const char *option, const char *text, int *out, rh_status *status)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (*text == 0 || *end || errno || value < 1 || value > 1024)
        return rh_fail(status, RH_USER, "%s: found '%s', expected a number from 1 to 1024", option, text);
    *out = (int)value;
    return RH_OK;
}

static bool is_named(const bench_entry *e, const char *name) { return strcmp(e->name, name) == 0 || strcmp(e->group, name) == 0; }

static rh_code read_only(options *o, const char *name, rh_status *status)
{
    const char *known[2 * MOST_ENTRIES];
    int count = 0;
    for (int i = 0; i < bench_entry_count; i++) {
        if (is_named(&bench_entries[i], name)) {
            if (o->only_count == MOST_ONLY) return rh_fail(status, RH_USER, "--only: more than %d names", MOST_ONLY);
            o->only[o->only_count++] = name;
            return RH_OK;
        }
        known[count++] = bench_entries[i].name;
        known[count++] = bench_entries[i].group;
    }
    const char *nearest = rh_nearest_name(name, known, count);
    return rh_fail(status, RH_USER, "--only: found '%s', expected an entry or a group of --list%s%s%s", name, nearest ? " (did you mean '" : "",
                   nearest ? nearest : "", nearest ? "'?)" : "");
}

static rh_code read_value(options *o, const char *name, const char *value, rh_status *status)
{
    if (!value) return rh_fail(status, RH_USER, "%s: found nothing after it, expected a value", name);
    if (strcmp(name, "--only") == 0) return read_only(o, value, status);
    if (strcmp(name, "--repeats") == 0) return read_count(name, value, &o->repeats, status);
    if (strcmp(name, "--threads") == 0) return read_count(name, value, &o->threads, status);
    if (strlen(value) >= sizeof o->csv) return rh_fail(status, RH_USER, "--csv: path too long");
    strcpy(o->csv, value);
    return RH_OK;
}

static rh_code read_options(options *o, int count, char **words, rh_status *status)
{
    static const char *const names[] = {"--list", "--help", "--long", "--memory", "--only", "--repeats", "--threads", "--csv"};
    for (int i = 1; i < count; i++) {
        int n = 0;
        while (n < 8 && strcmp(words[i], names[n]) != 0) n++;
        if (n == 8) {
            const char *nearest = rh_nearest_name(words[i], names, 8);
            return rh_fail(status, RH_USER, "found '%s', expected an option%s%s%s", words[i], nearest ? " (did you mean '" : " of --help", nearest ? nearest : "", nearest ? "'?)" : "");
        }
        if (n < 4) *(bool *[]){&o->list, &o->help, &o->longer, &o->memory}[n] = true;
        else {
            RH_TRY(read_value(o, names[n], i + 1 < count ? words[i + 1] : NULL, status));
            i++;
        }
    }
    return RH_OK;
}

// bench.csv beside the program: build folders are not in the repository.
static void default_csv(options *o)
{
    if (o->csv[0]) return;
    ssize_t length = readlink("/proc/self/exe", o->csv, sizeof o->csv - 16);
    o->csv[length > 0 ? length : 0] = 0;
    char *slash = strrchr(o->csv, '/');
    strcpy(slash ? slash + 1 : o->csv, "bench.csv");
}

static bool is_chosen(const options *o, const bench_entry *e)
{
    for (int i = 0; i < o->only_count; i++) {
        if (strcmp(e->name, o->only[i]) == 0) return true;
        if (strcmp(e->group, o->only[i]) == 0 && (e->when == BENCH_ALWAYS || o->longer)) return true;
    }
    return o->only_count == 0 && (e->when == BENCH_ALWAYS || (e->when == BENCH_LONG && o->longer));
}

// --- running ------------------------------------------------------------------------------------------------------
// Measured once for every number of threads that occurs, right before the first entry that needs it.
static bench_bandwidth bandwidth_for(int threads, const bench_row *rows, int count)
{
    bench_bandwidth found;
    for (int i = 0; i < count; i++)
        if (rows[i].result.threads == threads) return rows[i].bandwidth;
    if (!bench_bandwidth_measure(threads, &found)) fprintf(stderr, "bench: the bandwidth could not be measured\n");
    else fprintf(stderr, "bandwidth, %d threads: copy %.1f GB/s, triad %.1f GB/s\n", threads, 1e-9 * found.copy, 1e-9 * found.triad);
    return found;
}

static bool same_scene(const bench_row *a, const bench_row *b)
{
    return strcmp(a->entry->group, "threads") == 0 && strcmp(b->entry->group, "threads") == 0;
}

// Times are never a failure, but a run that failed or a result that depends on the threads is.
static bool all_fine(const bench_row *rows, int count)
{
    bool good = true;
    for (int i = 0; i < count; i++) {
        if (rows[i].result.code != RH_OK || rows[i].result.steps == 0) good = false;
        for (int k = 0; k < i; k++)
            if (same_scene(&rows[i], &rows[k]) && rows[i].result.hash != rows[k].result.hash) good = false;
    }
    return good;
}

static rh_code run_entries(const options *o, bench_row *rows, int *count, rh_status *status)
{
    for (int i = 0; i < bench_entry_count; i++) {
        const bench_entry *e = &bench_entries[i];
        if (!is_chosen(o, e)) continue;
        int threads = e->threads ? e->threads : o->threads ? o->threads : rh_threads();
        double start = rh_seconds();
        bench_row *row = &rows[*count];
        *row = (bench_row){.entry = e, .bandwidth = bandwidth_for(threads, rows, *count)};
        bench_measure(e, threads, o->repeats ? o->repeats : e->repeats, &row->result);
        row->result.threads = threads;
        ++*count;
        fprintf(stderr, "%-13s %d runs, %.1f s\n", e->name, row->result.repeats, rh_seconds() - start);
        // Written anew after each, so that a bench that is stopped leaves what it has.
        RH_TRY(bench_write_csv(o->csv, rows, *count, status));
    }
    return RH_OK;
}

static rh_code run(const options *o, rh_status *status)
{
    int count = 0;
    bench_row rows[MOST_ENTRIES] = {{.entry = NULL}};  // not from rh_alloc: children would inherit it in their counters
    rh_code code = run_entries(o, rows, &count, status);
    bench_print_tables(stdout, rows, count);
    if (o->memory) bench_print_memory(stdout, rows, count);
    if (code == RH_OK) printf("\nCSV: %s\n", o->csv);
    if (code == RH_OK && !all_fine(rows, count)) code = rh_fail(status, RH_NUMERIC, "an entry failed, or a result depends on the number of threads; see above");
    return code;
}

// As the program itself does (app/main.c): threads wait for each other politely. The runtime reads this before main begins.
static void start_again_waiting_politely(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
    if (setenv("OMP_WAIT_POLICY", "passive", 1) || setenv("GOMP_SPINCOUNT", "4000", 1)) return;
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    options o = {.only_count = 0};
    rh_status status = {0};
    RH_ASSERT(bench_entry_count <= MOST_ENTRIES);
    start_again_waiting_politely(argv);
    rh_code code = read_options(&o, argc, argv, &status);
    if (code == RH_OK && o.help) print_help();
    else if (code == RH_OK && o.list) print_list();
    else if (code == RH_OK) {
        default_csv(&o);
        code = run(&o, &status);
    }
    if (code != RH_OK) fprintf(stderr, "bench: error: %s\n", status.message);
    return code == RH_OK ? 0 : code == RH_USER ? 2 : 1;
}
