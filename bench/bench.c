// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// bench: runs entries of the five tables (entries.c, surface_entries.c, expression_entries.c, neighbours.c,
// pressure_solves.c), prints
// tables, writes CSV. docs/performance.md says what every column means.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/param.h"
#include "base/parallel.h"
#include "io/file.h"
#include "bench.h"
#include "expression.h"
#include "neighbours.h"
#include "pressure_solves.h"
#include "surface.h"

enum { MOST_ONLY = 32, MOST_ENTRIES = 128 };

typedef struct options {
    const char *only[MOST_ONLY];
    int only_count, threads, repeats;  // 0 = as the table says
    bool list, help, longer, memory;
    char csv[RH_PATH_MAX], surface_csv[RH_PATH_MAX + 16], splash_csv[RH_PATH_MAX + 16], sand_csv[RH_PATH_MAX + 16],
        expression_csv[RH_PATH_MAX + 16], neighbours_csv[RH_PATH_MAX + 16], solve_csv[RH_PATH_MAX + 16];
} options;

// What an entry of any table is called.
typedef struct title {
    const char *name, *group, *whole;  // --only takes any
    bench_when when;
} title;

static title title_of(const bench_entry *e)
{
    return (title){e->name, e->group, bench_is_splash(e) ? "splash" : bench_is_sand(e) ? "sand" : e->group, e->when};
}
static title surface_title_of(const bench_surface_entry *e) { return (title){e->name, e->group, "surface", e->when}; }

static title expression_title_of(const bench_expression_entry *e)
{
    return (title){e->name, e->group, "expressions", e->when};
}

static title neighbours_title_of(const bench_neighbours_entry *e)
{
    return (title){e->name, e->group, "neighbours", e->when};
}

static title solve_title_of(const bench_solve_entry *e) { return (title){e->name, e->group, e->group, e->when}; }

static int all_titles(title *out)
{
    int count = 0;
    for (int i = 0; i < bench_entry_count; i++) out[count++] = title_of(&bench_entries[i]);
    for (int i = 0; i < bench_surface_entry_count; i++) out[count++] = surface_title_of(&bench_surface_entries[i]);
    for (int i = 0; i < bench_expression_entry_count; i++)
        out[count++] = expression_title_of(&bench_expression_entries[i]);
    for (int i = 0; i < bench_neighbours_entry_count; i++)
        out[count++] = neighbours_title_of(&bench_neighbours_entries[i]);
    for (int i = 0; i < bench_solve_entry_count; i++) out[count++] = solve_title_of(&bench_solve_entries[i]);
    return count;
}

static void print_help(void)
{
    printf("usage: bench [OPTION ...]\n\n"
           "Runs the benchmarks of the liquid solver, of the splash method, of sand, of surfacing, of expressions, "
           "of the search for neighbours and of single pressure solves, "
           "each in a process of its own, prints tables and\n"
           "writes CSV.\n\n"
           "  --list          names of all entries and what they are\n"
           "  --only NAME     this entry, or all of this group; splash, sand, surface, expressions, neighbours: all of "
           "that kind "
           "(may be repeated)\n"
           "  --long          the long entries, too\n"
           "  --repeats N     runs of each entry; the least time counts (without it as the table says)\n"
           "  --threads N     threads of entries that do not fix them (without it all cores)\n"
           "  --memory        also print peaks of memory by label\n"
           "  --csv FILE.csv  where to write the CSV (bench.csv beside the program); what splashes, sand, surfacing, "
           "expressions, neighbours and solves have more goes to\n"
           "                  FILE_splash.csv, FILE_sand.csv, FILE_surface.csv, FILE_expressions.csv, "
           "FILE_neighbours.csv and FILE_solves.csv\n"
           "  --help          this text\n\n"
           "docs/performance.md says what every column means.\n");
}

static void print_list(void)
{
    static const char *const when[] = {"", "long", "only by name"};
    printf("%-13s %-17s %-31s %6s %7s %8s %8s  %-12s  %s\n", "entry", "group", "scene", "skip", "frames", "repeats",
           "threads", "", "settings");
    for (int i = 0; i < bench_entry_count; i++) {
        const bench_entry *e = &bench_entries[i];
        char threads[16] = "all";
        if (e->threads) snprintf(threads, sizeof threads, "%d", e->threads);
        printf("%-13s %-17s %-31s %6d %7d %8d %8s  %-12s ", e->name, e->group, e->scene, e->skip, e->frames, e->repeats,
               threads, when[e->when]);
        for (int k = 0; k < BENCH_SETTINGS && e->settings[k]; k++) printf(" %s", e->settings[k]);
        printf("\n");
    }
    printf("\n");
    bench_surface_list(stdout);
    printf("\n");
    bench_expression_list(stdout);
    printf("\n");
    bench_neighbours_list(stdout);
    printf("\n");
    bench_solve_list(stdout);
}

// --- options ---------------------------------------------------------------------------------------------------------
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

static bool is_named(const title *t, const char *name)
{
    return strcmp(t->name, name) == 0 || strcmp(t->group, name) == 0 || strcmp(t->whole, name) == 0;
}

static rh_code read_only(options *o, const char *name, rh_status *status)
{
    title titles[5 * MOST_ENTRIES];
    const char *known[12 * MOST_ENTRIES];
    int count = 0;
    for (int i = 0, all = all_titles(titles); i < all; i++) {
        if (is_named(&titles[i], name)) {
            if (o->only_count == MOST_ONLY) return rh_fail(status, RH_USER, "--only: more than %d names", MOST_ONLY);
            o->only[o->only_count++] = name;
            return RH_OK;
        }
        known[count++] = titles[i].name;
        known[count++] = titles[i].group;
        known[count++] = titles[i].whole;
    }
    const char *nearest = rh_nearest_name(name, known, count);
    return rh_fail(status, RH_USER, "--only: found '%s', expected an entry or a group of --list%s%s%s", name,
                   nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
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
    static const char *const names[] = {"--list", "--help",    "--long",    "--memory",
                                        "--only", "--repeats", "--threads", "--csv"};
    for (int i = 1; i < count; i++) {
        int n = 0;
        while (n < 8 && strcmp(words[i], names[n]) != 0) n++;
        if (n == 8) {
            const char *nearest = rh_nearest_name(words[i], names, 8);
            return rh_fail(status, RH_USER, "found '%s', expected an option%s%s%s", words[i],
                           nearest ? " (did you mean '" : " of --help", nearest ? nearest : "", nearest ? "'?)" : "");
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
    ssize_t length = readlink("/proc/self/exe", o->csv, sizeof o->csv - 16);
    o->csv[length > 0 ? length : 0] = 0;
    char *slash = strrchr(o->csv, '/');
    strcpy(slash ? slash + 1 : o->csv, "bench.csv");
}

// bench.csv -> bench_<kind>.csv
static void name_csv(const options *o, const char *kind, char *out, size_t bytes)
{
    const char *dot = strrchr(o->csv, '.'), *slash = strrchr(o->csv, '/');
    int stem = dot && (!slash || dot > slash) ? (int)(dot - o->csv) : (int)strlen(o->csv);
    snprintf(out, bytes, "%.*s_%s%s", stem, o->csv, kind, o->csv + stem);
}

static bool is_chosen(const options *o, const title *t)
{
    bool now = t->when == BENCH_ALWAYS || (t->when == BENCH_LONG && o->longer);
    for (int i = 0; i < o->only_count; i++) {
        if (strcmp(t->name, o->only[i]) == 0) return true;
        if (strcmp(t->group, o->only[i]) == 0 && (now || t->when == BENCH_NAMED)) return true;
        if (strcmp(t->whole, o->only[i]) == 0 && now) return true;
    }
    return o->only_count == 0 && now;
}

// --- running ---------------------------------------------------------------------------------------------------------
static int threads_of(const options *o, int fixed) { return fixed ? fixed : o->threads ? o->threads : rh_threads(); }

// Measured once for every number of threads that occurs, right before the first entry that needs it.
static bench_bandwidth bandwidth_for(int threads, const bench_row *rows, int count)
{
    bench_bandwidth found;
    for (int i = 0; i < count; i++)
        if (rows[i].result.threads == threads) return rows[i].bandwidth;
    if (!bench_bandwidth_measure(threads, &found)) fprintf(stderr, "bench: the bandwidth could not be measured\n");
    else
        fprintf(stderr, "bandwidth, %d threads: copy %.1f GB/s, triad %.1f GB/s\n", threads, 1e-9 * found.copy,
                1e-9 * found.triad);
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
        title called = title_of(e);
        if (!is_chosen(o, &called)) continue;
        int threads = threads_of(o, e->threads);
        double start = rh_seconds();
        bench_row *row = &rows[*count];
        *row = (bench_row){.entry = e, .bandwidth = bandwidth_for(threads, rows, *count)};
        bench_measure(e, threads, o->repeats ? o->repeats : e->repeats, &row->result);
        row->result.threads = threads;
        ++*count;
        fprintf(stderr, "%-13s %d runs, %.1f s\n", e->name, row->result.repeats, rh_seconds() - start);
        // Written anew after each, so that a bench that is stopped leaves what it has.
        RH_TRY(bench_write_csv(o->csv, rows, *count, status));
        RH_TRY(bench_splash_write_csv(o->splash_csv, rows, *count, status));
        RH_TRY(bench_sand_write_csv(o->sand_csv, rows, *count, status));
    }
    return RH_OK;
}

static rh_code run_liquid(const options *o, bool *good, rh_status *status)
{
    int count = 0;
    bench_row rows[MOST_ENTRIES] = {{.entry = NULL}};  // not from rh_alloc: children would inherit it in their counters
    rh_code code = run_entries(o, rows, &count, status);
    if (count == 0) return code;
    bench_print_tables(stdout, rows, count);
    if (o->memory) bench_print_memory(stdout, rows, count);
    bool splashes = false, sand = false;
    for (int i = 0; i < count; i++)
        splashes = splashes || bench_is_splash(rows[i].entry), sand = sand || bench_is_sand(rows[i].entry);
    if (code == RH_OK)
        printf("\nCSV: %s%s%s%s%s\n", o->csv, splashes ? " " : "", splashes ? o->splash_csv : "", sand ? " " : "",
               sand ? o->sand_csv : "");
    *good = *good && all_fine(rows, count);
    return code;
}

// --- surfacing -------------------------------------------------------------------------------------------------------
static rh_code run_surface_entries(const options *o, bench_splash *splash, bench_surface_row *rows, int *count,
                                   rh_status *status)
{
    for (int i = 0; i < bench_surface_entry_count; i++) {
        const bench_surface_entry *e = &bench_surface_entries[i];
        title called = surface_title_of(e);
        if (!is_chosen(o, &called)) continue;
        bench_surface_row *row = &rows[(*count)++];
        row->entry = e;
        if (e->points == BENCH_SPLASH) bench_splash_prepare(splash, e->size, threads_of(o, 0));
        double start = rh_seconds();
        bench_surface_measure(e, splash, threads_of(o, e->threads), o->repeats ? o->repeats : e->repeats, &row->result);
        fprintf(stderr, "%-20s %d runs, %.1f s\n", e->name, row->result.repeats, rh_seconds() - start);
        RH_TRY(bench_surface_write_csv(o->surface_csv, rows, *count, status));
    }
    return RH_OK;
}

static bool all_surfaces_fine(const bench_surface_row *rows, int count)
{
    for (int i = 0; i < count; i++) {
        if (!bench_surface_fine(&rows[i])) return false;
        for (int k = 0; k < i; k++)
            if (bench_surface_differ(&rows[i], &rows[k])) return false;
    }
    return true;
}

static rh_code run_surface(const options *o, bool *good, rh_status *status)
{
    int count = 0;
    bench_surface_row rows[MOST_ENTRIES] = {{.entry = NULL}};
    // Too large for the stack, and again not from rh_alloc.
    bench_splash *splash = mmap(NULL, sizeof *splash, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (splash == MAP_FAILED)
        return rh_fail(status, RH_MEMORY, "no memory for the points of the splash: %s", strerror(errno));
    rh_code code = run_surface_entries(o, splash, rows, &count, status);
    munmap(splash, sizeof *splash);
    if (count == 0) return code;
    bench_surface_print(stdout, rows, count);
    for (int i = 0; i < count && o->memory; i++)
        if (bench_surface_fine(&rows[i]))
            bench_print_labels(stdout, rows[i].entry->name, rows[i].result.points, &rows[i].result.memory);
    if (code == RH_OK) printf("\nCSV: %s\n", o->surface_csv);
    *good = *good && all_surfaces_fine(rows, count);
    return code;
}

// --- expressions -----------------------------------------------------------------------------------------------------
static rh_code run_expressions(const options *o, bool *good, rh_status *status)
{
    int count = 0;
    bench_expression_row rows[MOST_ENTRIES] = {{.entry = NULL}};
    for (int i = 0; i < bench_expression_entry_count; i++) {
        const bench_expression_entry *e = &bench_expression_entries[i];
        title called = expression_title_of(e);
        if (!is_chosen(o, &called)) continue;
        bench_expression_row *row = &rows[count++];
        row->entry = e;
        double start = rh_seconds();
        bench_expression_measure(e, threads_of(o, e->threads), o->repeats ? o->repeats : e->repeats, &row->result);
        fprintf(stderr, "%-20s %d runs, %.1f s\n", e->name, row->result.repeats, rh_seconds() - start);
        *good = *good && bench_expression_fine(row);
        RH_TRY(bench_expression_write_csv(o->expression_csv, rows, count, status));
    }
    if (count == 0) return RH_OK;
    bench_expression_print(stdout, rows, count);
    printf("\nCSV: %s\n", o->expression_csv);
    return RH_OK;
}

// --- neighbours ------------------------------------------------------------------------------------------------------
static rh_code run_neighbours_entries(const options *o, bench_neighbours_row *rows, int *count, rh_status *status)
{
    for (int i = 0; i < bench_neighbours_entry_count; i++) {
        const bench_neighbours_entry *e = &bench_neighbours_entries[i];
        title called = neighbours_title_of(e);
        if (!is_chosen(o, &called)) continue;
        bench_neighbours_row *row = &rows[*count];
        *row = (bench_neighbours_row){.entry = e};
        int threads = threads_of(o, e->threads);
        for (int k = 0; k < *count; k++)
            if (rows[k].result.threads == threads) row->bandwidth = rows[k].bandwidth;
        if (!(row->bandwidth.copy > 0) && !bench_bandwidth_measure(threads, &row->bandwidth))
            fprintf(stderr, "bench: the bandwidth could not be measured\n");
        double start = rh_seconds();
        bench_neighbours_measure(e, threads, o->repeats ? o->repeats : e->repeats, &row->result);
        ++*count;
        fprintf(stderr, "%-20s %d runs, %.1f s\n", e->name, row->result.repeats, rh_seconds() - start);
        RH_TRY(bench_neighbours_write_csv(o->neighbours_csv, rows, *count, status));
    }
    return RH_OK;
}

static rh_code run_neighbours(const options *o, bool *good, rh_status *status)
{
    int count = 0;
    bench_neighbours_row rows[MOST_ENTRIES] = {{.entry = NULL}};
    RH_TRY(run_neighbours_entries(o, rows, &count, status));
    for (int i = 0; i < count; i++) {
        *good = *good && bench_neighbours_fine(&rows[i]);
        for (int k = 0; k < i; k++)  // the same points with other threads
            if (strcmp(rows[i].entry->group, "neighbours-threads") == 0 &&
                strcmp(rows[k].entry->group, "neighbours-threads") == 0)
                *good = *good && rows[i].result.hash == rows[k].result.hash;
    }
    if (count == 0) return RH_OK;
    bench_neighbours_print(stdout, rows, count);
    printf("\nCSV: %s\n", o->neighbours_csv);
    return RH_OK;
}

// --- pressure solves -------------------------------------------------------------------------------------------------
static rh_code run_solves(const options *o, bool *good, rh_status *status)
{
    int count = 0;
    bench_solve_row rows[MOST_ENTRIES] = {{.entry = NULL}};
    for (int i = 0; i < bench_solve_entry_count; i++) {
        const bench_solve_entry *e = &bench_solve_entries[i];
        title called = solve_title_of(e);
        if (!is_chosen(o, &called)) continue;
        double start = rh_seconds();
        rows[count] = (bench_solve_row){.entry = e};
        bench_solve_measure(e, threads_of(o, 0), &rows[count].result);
        *good = *good && bench_solve_fine(&rows[count++]);
        fprintf(stderr, "%-20s 1 runs, %.1f s\n", e->name, rh_seconds() - start);
        RH_TRY(bench_solve_write_csv(o->solve_csv, rows, count, status));
    }
    if (count == 0) return RH_OK;
    bench_solve_print(stdout, rows, count);
    printf("\nCSV: %s\n", o->solve_csv);
    return RH_OK;
}

static rh_code run(const options *o, rh_status *status)
{
    bool good = true;
    RH_TRY(run_liquid(o, &good, status));
    RH_TRY(run_surface(o, &good, status));
    RH_TRY(run_expressions(o, &good, status));
    RH_TRY(run_neighbours(o, &good, status));
    RH_TRY(run_solves(o, &good, status));
    return good ? RH_OK
                : rh_fail(status, RH_NUMERIC,
                          "an entry failed, or a result depends on the number of threads; see above");
}

// As the program itself does (app/main.c): threads wait for each other politely. The runtime reads this before main
// begins.
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
    RH_ASSERT(bench_entry_count <= MOST_ENTRIES && bench_surface_entry_count <= MOST_ENTRIES &&
              bench_expression_entry_count <= MOST_ENTRIES && bench_neighbours_entry_count <= MOST_ENTRIES &&
              bench_solve_entry_count <= MOST_ENTRIES);
    start_again_waiting_politely(argv);
    if (rh_assert_is_on()) fprintf(stderr, "bench: built with assertions; `make bench` measures without\n");
    rh_code code = read_options(&o, argc, argv, &status);
    if (code == RH_OK && o.help) print_help();
    else if (code == RH_OK && o.list) print_list();
    else if (code == RH_OK) {
        if (!o.csv[0]) default_csv(&o);
        name_csv(&o, "splash", o.splash_csv, sizeof o.splash_csv);
        name_csv(&o, "sand", o.sand_csv, sizeof o.sand_csv);
        name_csv(&o, "surface", o.surface_csv, sizeof o.surface_csv);
        name_csv(&o, "expressions", o.expression_csv, sizeof o.expression_csv);
        name_csv(&o, "neighbours", o.neighbours_csv, sizeof o.neighbours_csv);
        name_csv(&o, "solves", o.solve_csv, sizeof o.solve_csv);
        code = run(&o, &status);
    }
    if (code != RH_OK) fprintf(stderr, "bench: error: %s\n", status.message);
    return code == RH_OK ? 0 : code == RH_USER ? 2 : 1;
}
