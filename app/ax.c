// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo ax: expressions on the points and volumes of .vdb files. A program is compiled once for points and once for
// volumes, when a file has them, however many files there are.
#include <stdio.h>
#include <string.h>
#include "app.h"
#include "ax_options.h"
#include "ax_values.h"
#include "ax_watch.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "format.h"
#include "io/provenance.h"
#include "io/expression.h"
#include "lang/lang.h"
#include "scene/words.h"

enum { LONGEST_SOURCE = 16 << 20 };

typedef struct kind {
    const char *name;  // "points", "volumes"
    rh_lang_flags domain;
    bool wanted;
    rh_lang_program *program;  // NULL until it is needed
} kind;

typedef struct job {
    const app_arguments *arguments;
    const char *name;  // of the program, for messages
    const char *source;
    size_t length;
    char *file;  // the source when it was read (owned)
    const char *const *inputs;
    int input_count;
    kind points, volumes;
    ax_options options;
    ax_values values;  // for the file at hand
    ax_watch watch;
    double compiling, reading, running, writing;  // s
    atomic_int *stop;
} job;

// --- messages --------------------------------------------------------------------------------------------------------

// The compiler's messages with their places, warnings too; no more errors than asked for.
static void print_messages(const job *j, rh_lang_messages *messages)
{
    int64_t most = j->arguments->max_errors, errors = 0;
    int kept = messages->count, total = messages->count;
    for (int i = 0; most && i < total; i++) {
        errors += !messages->items[i].warning;
        if (errors <= most) continue;
        kept = i;
        break;
    }
    messages->count = kept;
    char *text = rh_lang_messages_print(messages, j->name, j->source, j->length, !j->arguments->quiet, NULL);
    messages->count = total;
    if (text) fputs(text, stderr);
    rh_free(text);
    if (kept < total) fprintf(stderr, "%d more message%s\n", total - kept, total - kept == 1 ? "" : "s");
}

// What is told at the end: the messages have said what is wrong where, so the status need not say it again.
static rh_code tell(const job *j, rh_code code, rh_lang_messages *messages, rh_status *status)
{
    bool said = messages->errors > 0 || (messages->count > 0 && j->arguments->werror);
    print_messages(j, messages);
    if (code == RH_USER && said) {
        int count = messages->errors ? messages->errors : messages->count;
        rh_status_clear(status);
        rh_fail(status, RH_USER, "%s: found %d mistake%s, nothing was written", j->name, count, count == 1 ? "" : "s");
    } else if (code == RH_USER) {
        rh_status_prefix(status, "%s", j->name);
    }
    rh_lang_messages_free(messages);
    return code;
}

// --- the program -----------------------------------------------------------------------------------------------------

static rh_code compile(job *j, kind *k, rh_status *status)
{
    if (k->program) return RH_OK;
    rh_lang_options options = {.domain = k->domain, .warnings_are_errors = j->arguments->werror};
    rh_lang_messages messages = {0};
    double start = rh_seconds();
    rh_code code = rh_lang_compile(j->source, j->length, &options, &k->program, &messages, status);
    j->compiling += rh_seconds() - start;
    return tell(j, code, &messages, status);
}

// Values for a program that is about to run; without data those that are set, for what is wrong with them.
static rh_code give_values(job *j, const kind *k, const rh_vdb_data *data, rh_status *status)
{
    rh_frame_info frame;
    bool known = data && rh_vdb_data_frame(data, &frame);
    RH_TRY(ax_values_read(&j->values, &j->arguments->sets, known ? &frame : NULL, j->source, j->length,
                          rh_lang_program_listing(k->program), status));
    j->options.host.externals = j->values.externals, j->options.host.external_count = j->values.count;
    return RH_OK;
}

static const char *access_word(const rh_lang_attribute_use *use)
{
    return !use->writes ? "reads" : use->reads ? "reads and writes" : "writes";
}

// "reads and writes vec3f@v, from v radius"
static void print_attribute(const rh_lang_program *program, const rh_lang_listing *l, int index)
{
    const rh_lang_attribute_use *use = &l->attributes[index];
    printf("  %-16s %s@%s", access_word(use), rh_lang_type_name(use->type), use->name);
    const char *before = ", from";
    for (int i = 0; use->writes && i < l->attribute_count; i++) {
        if (!l->attributes[i].reads || !rh_lang_program_depends(program, index, i)) continue;
        printf("%s %s", before, l->attributes[i].name);
        before = "";
    }
    puts("");
}

static rh_code print_tree(const kind *k, rh_status *status)
{
    if (!k->program) return RH_OK;
    char *text = rh_lang_program_tree(k->program, status);
    if (!text) return RH_MEMORY;
    printf("%s\n", text);
    rh_free(text);
    return RH_OK;
}

static void print_listing(const kind *k)
{
    if (!k->program) return;
    const rh_lang_listing *l = rh_lang_program_listing(k->program);
    printf("on %s\n", k->name);
    for (int i = 0; i < l->attribute_count; i++) print_attribute(k->program, l, i);
    for (int i = 0; i < l->external_count; i++)
        printf("  %-16s %s$%s\n", "takes", rh_lang_type_name(l->externals[i].type), l->externals[i].name);
    for (int i = 0; i < l->group_count; i++) {
        const rh_lang_group_use *g = &l->groups[i];
        printf("  %-16s group \"%s\"\n",
               g->adds && g->removes ? "adds and removes"
               : g->adds             ? "adds to"
               : g->removes          ? "removes from"
                                     : "looks into",
               g->name);
    }
    if (l->unnamed_groups) puts("  names groups while it runs");
    if (l->moves) puts("  moves points");
    if (l->deletes) puts("  deletes points");
    if (l->neighbours) puts("  looks at neighbours");
    if (l->random) puts("  draws random numbers");
    if (l->coordinates) puts("  asks where the voxel is");
}

// --- one set of files ------------------------------------------------------------------------------------------------

static rh_code run_points(job *j, rh_vdb_data *data, int grid, rh_expression_report *report, rh_status *status)
{
    rh_lang_messages messages = {0};
    RH_TRY(compile(j, &j->points, status));
    RH_TRY(give_values(j, &j->points, data, status));
    double start = rh_seconds();
    rh_code code = rh_expression_points(data, grid, j->points.program, &j->options.host, report, &messages, status);
    j->running += rh_seconds() - start;
    return tell(j, code, &messages, status);
}

static rh_code run_volumes(job *j, rh_vdb_data *data, rh_expression_report *report, rh_status *status)
{
    rh_lang_messages messages = {0};
    RH_TRY(compile(j, &j->volumes, status));
    RH_TRY(give_values(j, &j->volumes, data, status));
    double start = rh_seconds();
    rh_code code = rh_expression_volumes(data, j->volumes.program, &j->options.host, report, &messages, status);
    j->running += rh_seconds() - start;
    return tell(j, code, &messages, status);
}

// Whether a grid is of the material that was asked for.
static bool is_asked(const job *j, const rh_vdb_grid *grid)
{
    const char *material = j->arguments->material;
    return !material || (grid->kind == RH_VDB_POINTS && strcmp(grid->name, material) == 0);
}

static rh_code refuse_material(const job *j, const char *path, const rh_vdb_data *data, rh_status *status)
{
    enum { MOST = 32 };
    const char *names[MOST];
    char hint[320];
    int count = 0;
    for (int i = 0; i < rh_vdb_data_count(data) && count < MOST; i++) {
        rh_vdb_grid grid = rh_vdb_data_grid(data, i);
        if (grid.kind == RH_VDB_POINTS) names[count++] = grid.name;
    }
    if (count == 0) return rh_fail(status, RH_USER, "--material: %s holds no points", path);
    return rh_fail(status, RH_USER, "--material: %s has no points grid '%.60s'; %s", path, j->arguments->material,
                   rh_words_suggest(j->arguments->material, names, count, hint, sizeof hint));
}

static rh_code apply(job *j, const char *path, rh_vdb_data *data, rh_expression_report *report, rh_status *status)
{
    bool volumes = false, points = false;
    int count = rh_vdb_data_count(data);  // a program may add grids
    for (int i = 0; i < count; i++) {
        rh_vdb_grid grid = rh_vdb_data_grid(data, i);
        if (!is_asked(j, &grid)) continue;
        volumes |= grid.kind == RH_VDB_VOLUME;
        if (grid.kind != RH_VDB_POINTS || !j->points.wanted) continue;
        points = true;
        RH_TRY(run_points(j, data, i, report, status));
    }
    if (j->arguments->material && !points) return refuse_material(j, path, data, status);
    if (j->options.host.group && !points) return rh_fail(status, RH_USER, "--group: %s holds no points", path);
    if (volumes && j->volumes.wanted) return run_volumes(j, data, report, status);
    if (!points)
        return rh_fail(status, RH_USER, "%s: found %s, expected %s", path,
                       count == 0 ? "no grids" : "grids of other kinds",
                       !j->volumes.wanted  ? "points"
                       : !j->points.wanted ? "volumes"
                                           : "points or volumes");
    return RH_OK;
}

static void print_line(const job *j, const char *path, const rh_expression_report *r)
{
    app_text points, deleted, voxels;
    if (j->arguments->quiet) return;
    fprintf(stderr, "%s", path);
    if (r->points) fprintf(stderr, "  points %s", app_format_count(r->points, &points));
    if (r->deleted) fprintf(stderr, "  deleted %s", app_format_count(r->deleted, &deleted));
    if (r->voxels) fprintf(stderr, "  voxels %s", app_format_count(r->voxels, &voxels));
    if (!r->points && !r->voxels) fprintf(stderr, "  nothing to visit");
    fputs("\n", stderr);
    if (r->printed_lost)
        fprintf(stderr, "rheo: warning: %lld bytes of printed text were dropped\n", (long long)r->printed_lost);
}

// Reads, runs, writes: nothing of it when anything goes wrong.
static rh_code do_files(job *j, const char *const *inputs, int count, const char *out, rh_status *status)
{
    rh_vdb_data *data = NULL;
    rh_expression_report report = {0};
    // One file may be changed in place; nothing else that is not ours is replaced.
    if (out && !(count == 1 && rh_provenance_same_file(out, inputs[0]))) RH_TRY(rh_provenance_may_replace(out, status));
    double start = rh_seconds();
    ax_watch_begin(&j->watch, j->stop, inputs[0], j->arguments->quiet);
    rh_code code = rh_vdb_data_read(inputs, count, &j->watch.watch, &data, status);
    j->reading += rh_seconds() - start;
    if (code == RH_OK) code = apply(j, inputs[0], data, &report, status);
    if (code == RH_OK && report.printed) fwrite(report.printed, 1, (size_t)report.printed_length, stdout);
    start = rh_seconds();
    if (code == RH_OK && out) code = rh_vdb_data_write(out, data, status);
    j->writing += rh_seconds() - start;
    ax_watch_clear(&j->watch);
    if (code == RH_OK) print_line(j, out ? out : inputs[0], &report);
    rh_free(report.printed);
    rh_vdb_data_free(data);
    return code;
}

// --- the command -----------------------------------------------------------------------------------------------------

static bool wants_folder(const char *out) { return out && (app_is_folder(out) || out[strlen(out) - 1] == '/'); }

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static rh_code refuse_clashes(const job *j, rh_status *status)
{
    for (int i = 0; i < j->input_count; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(last_part(j->inputs[i]), last_part(j->inputs[k])) == 0)
                return rh_fail(status, RH_USER, "found %s and %s, which would both become %s in %s", j->inputs[k],
                               j->inputs[i], last_part(j->inputs[i]), j->arguments->out);
    return RH_OK;
}

static rh_code do_each(job *j, rh_status *status)
{
    char folder[RH_PATH_MAX], path[RH_PATH_MAX];
    size_t length = strlen(j->arguments->out);
    while (length > 1 && j->arguments->out[length - 1] == '/') length--;
    if (length >= sizeof folder) return rh_fail(status, RH_USER, "--out: the name is too long");
    snprintf(folder, sizeof folder, "%.*s", (int)length, j->arguments->out);
    RH_TRY(refuse_clashes(j, status));
    RH_TRY(rh_folder_make(folder, status));
    for (int i = 0; i < j->input_count; i++) {
        RH_TRY(app_path(path, folder, last_part(j->inputs[i]), status));
        if (rh_provenance_same_file(path, j->inputs[i]))
            return rh_fail(status, RH_USER,
                           "--out: %s is the folder of %s, which would be replaced; take another folder, or name one "
                           "file to change in place",
                           folder, j->inputs[i]);
    }
    for (int i = 0; i < j->input_count; i++) {
        if (atomic_load(j->stop)) return rh_fail(status, RH_STOPPED, "stopped on request");
        RH_TRY(app_path(path, folder, last_part(j->inputs[i]), status));
        RH_TRY(do_files(j, &j->inputs[i], 1, path, status));
    }
    return RH_OK;
}

static void choose_kinds(job *j)
{
    const app_arguments *a = j->arguments;
    bool both = a->points == a->volumes;
    j->points = (kind){.name = "points", .domain = RH_LANG_POINTS, .wanted = both || a->points};
    j->volumes = (kind){.name = "volumes", .domain = RH_LANG_VOLUMES, .wanted = both || a->volumes};
}

static rh_code find_source(job *j, rh_status *status)
{
    const app_arguments *a = j->arguments;
    j->inputs = (const char *const *)a->operands.items;
    j->input_count = a->operands.count;
    if (a->file) {
        RH_TRY(rh_file_read(a->file, LONGEST_SOURCE, &j->file, &j->length, status));
        j->source = j->file;
        j->name = a->file;
        return RH_OK;
    }
    if (j->input_count == 0) return rh_fail(status, RH_USER, "found no program, expected 'CODE' or --file FILE");
    j->source = a->operands.items[0];
    j->length = strlen(j->source);
    j->name = "code";
    j->inputs++;
    j->input_count--;
    return RH_OK;
}

static rh_code check_inputs(const job *j, rh_status *status)
{
    const app_arguments *a = j->arguments;
    if (a->material && !j->points.wanted)
        return rh_fail(status, RH_USER, "--material: found --volumes too, expected points: volumes are of no material");
    bool looks_like_file = !a->file && strlen(j->source) > 4 && strcmp(j->source + strlen(j->source) - 4, ".vdb") == 0;
    if (looks_like_file)
        return rh_fail(status, RH_USER, "found \"%.200s\", expected a program before the files, or --file FILE",
                       j->source);
    if (a->check) return RH_OK;
    if (j->input_count == 0)
        return rh_fail(status, RH_USER,
                       "found no file, expected a .vdb file to work on (--check compiles without one)");
    if (!a->out && !a->dry)
        return rh_fail(status, RH_USER, "found no --out, expected the name of the file to write (--dry writes none)");
    for (int i = 0; i < j->input_count; i++)
        if (!rh_file_exists(j->inputs[i]) || app_is_folder(j->inputs[i]))
            return rh_fail(status, RH_IO, "%s: no such file", j->inputs[i]);
    return RH_OK;
}

static void print_times(const job *j, double started)
{
    if (!j->arguments->verbose) return;
    fprintf(stderr, "  compile %.3f s  read %.3f s  execute %.3f s  write %.3f s  in all %.3f s\n", j->compiling,
            j->reading, j->running, j->writing, rh_seconds() - started);
}

// Without files: a program that fits neither points nor volumes fails for the first of them.
static rh_code check_only(job *j, rh_status *status)
{
    bool both = j->arguments->points && j->arguments->volumes;
    kind *const kinds[] = {&j->points, &j->volumes};
    for (int i = 0; i < 2; i++) {
        if (i == 0 ? j->arguments->volumes && !both : !j->arguments->volumes) continue;
        RH_TRY(compile(j, kinds[i], status));
        RH_TRY(give_values(j, kinds[i], NULL, status));
        RH_TRY(rh_expression_bindings_check(&j->options.host, rh_lang_program_listing(kinds[i]->program), status));
    }
    return RH_OK;
}

static rh_code work(job *j, rh_status *status)
{
    double started = rh_seconds();
    choose_kinds(j);
    RH_TRY(ax_options_read(&j->options, j->arguments, status));
    RH_TRY(find_source(j, status));
    RH_TRY(check_inputs(j, status));
    rh_threads_set((int)j->arguments->threads);
    j->stop = app_stop_on_signals("this block");
    j->options.host.stop = j->stop;
    rh_code code;
    if (j->arguments->check) code = check_only(j, status);
    else if (wants_folder(j->arguments->out)) code = do_each(j, status);
    else code = do_files(j, j->inputs, j->input_count, j->arguments->out, status);
    if (code == RH_OK && j->arguments->tree) code = print_tree(j->points.program ? &j->points : &j->volumes, status);
    if (code == RH_OK && j->arguments->print) {
        print_listing(&j->points);
        print_listing(&j->volumes);
    }
    if (code == RH_OK) print_times(j, started);
    return code;
}

// Rows of the table that have one of the words in their name or help; all without words.
static int list_functions(const app_texts *words)
{
    const char *last = "";
    for (int i = 0; i < rh_lang_function_count; i++) {
        const rh_lang_function *row = &rh_lang_functions[i];
        bool wanted = words->count == 0;
        for (int k = 0; k < words->count; k++)
            wanted |= strstr(row->name, words->items[k]) != NULL || strstr(row->help, words->items[k]) != NULL;
        if (!wanted) continue;
        if (strcmp(last, row->name) != 0)
            printf("%s: %s%s\n", row->name, row->help,
                   row->flags & RH_LANG_POINTS    ? " (points only)"
                   : row->flags & RH_LANG_VOLUMES ? " (volumes only)"
                                                  : "");
        last = row->name;
        printf("    %s\n", row->signature);
    }
    return app_finish_output();
}

static int ax(const app_arguments *arguments)
{
    if (arguments->list) return list_functions(&arguments->operands);
    rh_status status = {0};
    job j = {.arguments = arguments};
    work(&j, &status);
    rh_lang_program_free(j.points.program);
    rh_lang_program_free(j.volumes.program);
    ax_values_free(&j.values);
    ax_options_free(&j.options);
    rh_free(j.file);
    int written = app_finish_output();
    return status.code == RH_OK ? written : app_report(&status);
}

#define AT(field) offsetof(app_arguments, field)
static const app_option options[] = {
    {"file", APP_TEXT, AT(file), "FILE", "read the program from a file instead of the first argument"},
    {"out", APP_TEXT, AT(out), "FILE", "file to write; a folder: each input alone, under its own name"},
    {"dry", APP_FLAG, AT(dry), NULL, "run, print, but write nothing"},
    {"set", APP_TEXTS, AT(sets), "NAME=VALUE", "value of $NAME: a number, [x, y, z], true, a text (may be repeated)"},
    {"bind", APP_TEXTS, AT(binds), "NAME=DATA",
     "the program's @NAME is the attribute or volume DATA of the file (may be repeated)"},
    {"points", APP_FLAG, AT(points), NULL, "run on points only"},
    {"volumes", APP_FLAG, AT(volumes), NULL, "run on volumes only"},
    {"material", APP_TEXT, AT(material), "NAME",
     "run only on the points of this material: the points grid of that name"},
    {"group", APP_TEXT, AT(group), "NAME", "run only on the points of a group"},
    {"create-missing", APP_TEXT, AT(create_missing), "on|off",
     "make attributes and volumes that are not there (on), or refuse (off)"},
    {"iterate", APP_TEXT, AT(iterate), "on|off|all", "voxels to visit: active ones (on), the others, or all"},
    {"levels", APP_TEXT, AT(levels), "A-B",
     "levels of volumes to visit: 0 voxels of leaves, 1 to 3 tiles of 8, 128, 4096 voxels a side; A alone is A and up"},
    {"tiles", APP_TEXT, AT(tiles), "auto|on|off",
     "visit active tiles voxel by voxel: where voxels could become different (auto), always, or never"},
    {"budget", APP_COUNT, AT(budget), "N", "loop steps an element may take; without it 16777216"},
    {"threads", APP_COUNT, AT(threads), "N", "threads to use; without it all cores. The result does not depend on it"},
    {"werror", APP_FLAG, AT(werror), NULL, "take warnings for errors"},
    {"max-errors", APP_COUNT, AT(max_errors), "N", "print no more than so many errors"},
    {"check", APP_FLAG, AT(check), NULL, "compile only, for points, or for volumes with --volumes"},
    {"print", APP_FLAG, AT(print), NULL, "print what the program reads and writes, and what that depends on"},
    {"tree", APP_FLAG, AT(tree), NULL, "print how the program was understood, as nested lists"},
    {"list", APP_FLAG, AT(list), NULL, "list the functions, or those that tell of the words given"},
    {"verbose", APP_FLAG, AT(verbose), NULL, "tell the time of compiling, reading, executing and writing"},
    {"quiet", APP_FLAG, AT(quiet), NULL, "no progress and no warnings of the compiler, only errors"},
};

const app_command app_ax = {
    "ax",
    "'CODE' FILE...",
    false,
    true,
    "expressions on points and volumes of .vdb files",
    "Runs a program (docs/expressions.md) on every point and every active voxel of .vdb files and\n"
    "writes the result, with all that was not touched. Several files become one, unless --out is a\n"
    "folder. What print() says goes to standard output. Files appear whole or not at all.",
    options,
    APP_OPTION_COUNT(options),
    ax};
