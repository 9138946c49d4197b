// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The program: finds the command, reads its arguments, runs it. Each command has a file of its own.
#include <hdf5.h>
#include <link.h>
#include <omp.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>
#include "app.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/param.h"
#include "io/vdb_helper.h"
#include "uncaught.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const app_command *const app_commands[] = {&app_run, &app_check, &app_info,       &app_surface, &app_render, &app_view,
                                           &app_ax,  &app_wedge, &app_collisions, &app_doc,     NULL};

bool app_color(int descriptor)
{
    const char *none = getenv("NO_COLOR"), *kind = getenv("TERM");
    return isatty(descriptor) && !(none && *none) && !(kind && !strcmp(kind, "dumb"));
}

int app_exit_code(rh_code code)
{
    switch (code) {
    case RH_OK: return APP_DONE;
    case RH_USER: return APP_WRONG;
    case RH_STOPPED: return APP_STOPPED;
    default: return APP_FAILED;
    }
}

int app_report(const rh_status *status)
{
    if (status->code == RH_OK || status->code == RH_STOPPED) return app_exit_code(status->code);
    bool color = app_color(STDERR_FILENO);
    fprintf(stderr, "%srheo: error:%s %s\n", color ? "\033[1;31m" : "", color ? "\033[0m" : "", status->message);
    return app_exit_code(status->code);
}

int app_finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return APP_DONE;
    fputs("rheo: error: standard output cannot be written\n", stderr);
    return APP_FAILED;
}

void app_log_plain(rh_log_level level, const char *message, void *user)
{
    (void)user;
    if (level == RH_LOG_DEBUG) return;
    bool color = level == RH_LOG_WARNING && app_color(STDERR_FILENO);
    fprintf(stderr, "%srheo:%s%s %s\n", color ? "\033[33m" : "", level == RH_LOG_WARNING ? " warning:" : "",
            color ? "\033[0m" : "", message);
}

rh_code app_scene_load(const app_arguments *arguments, const char *path, bool sets, rh_scene *scene, rh_status *status)
{
    const rh_scene_options options = {.sandbox = arguments->sandbox};
    if (app_is_folder(path))
        return rh_fail(status, RH_USER, "%s: found a folder, expected a scene, a file such as scene.yaml", path);
    rh_code code = rh_scene_load_options(path, arguments->sets.items, sets ? arguments->sets.count : 0, &options, scene,
                                         status);
    // A name that leads nowhere is a mistake of who typed it, as a wrong option is.
    if (code == RH_IO && !rh_file_exists(path)) code = status ? (status->code = RH_USER) : RH_USER;
    return code;
}

static const app_command *find_command(const char *name)
{
    for (int i = 0; app_commands[i]; i++)
        if (!strcmp(app_commands[i]->name, name)) return app_commands[i];
    return NULL;
}

static void print_overview(FILE *to)
{
    fputs("rheo animates liquids: from a scene file to frames on disk.\n\n", to);
    for (int i = 0; app_commands[i]; i++) {
        const app_command *command = app_commands[i];
        char left[32];
        snprintf(left, sizeof left, "%s %s", command->name, command->operand);
        fprintf(to, "  rheo %-20s %s\n", left, command->summary);
    }
    fputs("\n  rheo help COMMAND         options of a command\n"
          "  rheo version              version of the program and of its libraries\n\n"
          "Exit codes: 0 done, 1 failed, 2 wrong usage or scene, 3 stopped on request.\n",
          to);
}

// libopenvdb's own version call is C++; the name of the file that was loaded carries the same number.
static int find_openvdb(struct dl_phdr_info *object, size_t size, void *user)
{
    (void)size;
    const char *name = object->dlpi_name ? strstr(object->dlpi_name, "libopenvdb.so.") : NULL;
    if (name) snprintf(user, 32, "%s", name + strlen("libopenvdb.so."));
    return name != NULL;
}

static int print_version(void)
{
    unsigned major = 0, minor = 0, release = 0;
    int yaml_major, yaml_minor, yaml_patch;
    char openvdb[32] = "linked in";
    H5get_libversion(&major, &minor, &release);
    yaml_get_version(&yaml_major, &yaml_minor, &yaml_patch);
    dl_iterate_phdr(find_openvdb, openvdb);
    printf("rheo %s (%s build%s, %s)\n", RHEO_VERSION, RHEO_BUILD_TYPE, rh_assert_is_on() ? " with assertions" : "",
           COMPILER);
    printf("  OpenVDB %s\n  HDF5    %u.%u.%u\n", openvdb, major, minor, release);
    printf("  libyaml %d.%d.%d\n  libpng  %s\n", yaml_major, yaml_minor, yaml_patch, png_get_libpng_ver(NULL));
    printf("  OpenMP  %d, %d threads\n", _OPENMP, omp_get_max_threads());
    return app_finish_output();
}

static int unknown_command(const char *word)
{
    enum { MOST = 16 };
    const char *names[MOST + 1];
    int count = 0;
    while (count < MOST && app_commands[count]) {
        names[count] = app_commands[count]->name;
        count++;
    }
    names[count++] = "help";
    const char *near = rh_nearest_name(word, names, count);
    fprintf(stderr, "rheo: error: unknown command \"%.80s\"", word);
    if (near) fprintf(stderr, "; did you mean \"%s\"?\n", near);
    else fputs("; \"rheo help\" lists the commands\n", stderr);
    return APP_WRONG;
}

static int help(const char *name)
{
    if (!name) {
        print_overview(stdout);
        return app_finish_output();
    }
    const app_command *command = find_command(name);
    if (!command) return unknown_command(name);
    app_command_help(stdout, command, false);
    return app_finish_output();
}

static int run_command(const app_command *command, int count, char **words)
{
    rh_status status = {0};
    app_arguments arguments;
    int result;
    if (app_arguments_parse(command, count, words, &arguments, &status) != RH_OK) {
        rh_status_prefix(&status, "%s", command->name);
        result = app_report(&status);
        fprintf(stderr, "\"rheo help %s\" lists its options\n", command->name);
    } else if (arguments.help) {
        result = help(command->name);
    } else {
        result = command->run(&arguments);
    }
    app_arguments_free(&arguments);
    RH_ASSERT(rh_memory_bytes() == 0);
    return result;
}

// OpenMP's threads wait for each other busily by default, which is ruinous when other programs want the cores too: a
// small scene took 20 times as long on a loaded machine. Sleeping at once costs an eighth of the time on an idle one.
// So: spin for some ten microseconds, then sleep (gcc's runtime), or just sleep (others). The runtime reads this before
// main begins, hence the second start.
static void start_again_waiting_politely(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
    if (setenv("OMP_WAIT_POLICY", "passive", 1) || setenv("GOMP_SPINCOUNT", "4000", 1)) return;
    execv("/proc/self/exe", argv);  // where this fails we go on as we are
}

int main(int argc, char **argv)
{
    if (rh_cpu_lacks()) {
        fprintf(stderr, "rheo: this processor lacks %s\n", rh_cpu_lacks());
        return APP_WRONG;
    }
    app_tell_uncaught();
    rh_log_set_sink(app_log_plain, NULL);
    if (argc < 2) {
        print_overview(stderr);
        return APP_WRONG;
    }
    const char *word = argv[1];
    if (!strcmp(word, "__vdb")) return rh_vdb_helper(argc - 2, argv + 2);
    rh_vdb_helper_use("/proc/self/exe");
    if (!strcmp(word, "--version") || !strcmp(word, "version")) return print_version();
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) return help(argc > 2 ? argv[2] : NULL);
    const app_command *command = find_command(word);
    if (!command) return unknown_command(word);
    if (command == &app_run || command == &app_surface || command == &app_render || command == &app_ax)
        start_again_waiting_politely(argv);
    return run_command(command, argc - 2, argv + 2);
}
