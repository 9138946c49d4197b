// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo run: simulates a scene into a run folder, shows progress, stops cleanly when asked.
#include <string.h>
#include "app.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "format.h"
#include "io/lock.h"
#include "progress.h"
#include "scene/scene.h"
#include "world/output.h"
#include "world/world.h"

// run/<name of the scene file without its ending>, unless --out says otherwise.
static rh_code choose_folder(const app_arguments *arguments, char out[RH_PATH_MAX], rh_status *status)
{
    if (arguments->out) {
        if (strlen(arguments->out) >= RH_PATH_MAX) return rh_fail(status, RH_USER, "--out: path too long");
        strcpy(out, arguments->out);
        return RH_OK;
    }
    const char *name = strrchr(arguments->operand, '/');
    name = name ? name + 1 : arguments->operand;
    RH_TRY(app_path(out, "run", name, status));
    char *ending = strrchr(out, '.');
    if (ending && ending > out + strlen("run/") && !strchr(ending, '/')) *ending = 0;
    return RH_OK;
}

static rh_code refuse_used_folder(const char *folder, rh_status *status)
{
    char points[RH_PATH_MAX];
    app_frames frames;
    RH_TRY(app_path(points, folder, "points", status));
    RH_TRY(app_frames_list(points, "points", NULL, &frames, status));
    rh_code code = RH_OK;
    if (frames.count > 0)
        code = rh_fail(status, RH_USER,
                       "%s already holds %d frames (%lld to %lld)\n"
                       "  --resume goes on after its newest checkpoint, --force removes them and starts over, "
                       "--out DIR takes another folder",
                       folder, frames.count, (long long)frames.numbers[0], (long long)frames.numbers[frames.count - 1]);
    app_frames_free(&frames);
    return code;
}

static rh_code check_folder(const app_arguments *arguments, const rh_scene *scene, const char *folder,
                            rh_status *status)
{
    if (rh_file_exists(folder) && !app_is_folder(folder))
        return rh_fail(status, RH_USER, "%s: found a file, expected a folder or nothing", folder);
    if (!arguments->resume && !arguments->force) RH_TRY(refuse_used_folder(folder, status));
    return rh_output_check(folder, scene, status);
}

// Only the scene that a folder was made with goes on in it, unless told otherwise. A scene.yaml that is missing or
// cannot be read is no reason to stop: checkpoints know their scene too.
static rh_code require_same_scene(const app_arguments *arguments, const rh_scene *scene, const char *folder,
                                  rh_status *status)
{
    char path[RH_PATH_MAX], difference[512];
    rh_scene old;
    RH_TRY(app_path(path, folder, "scene.yaml", status));
    if (!rh_file_exists(path) || app_scene_load(arguments, path, false, &old, NULL) != RH_OK) return RH_OK;
    bool same = old.hash == scene->hash;
    rh_code code = same ? RH_OK : rh_scene_difference(&old, scene, difference, sizeof difference, status);
    rh_scene_free(&old);
    if (same || code != RH_OK) return code;
    return rh_fail(status, RH_USER,
                   "%s: the scene differs from the one this folder was made with (%s)\n  %s\n"
                   "  --changed goes on with the changed scene, --force starts over, --out DIR takes another folder",
                   folder, path, difference);
}

static rh_code resume(const app_arguments *arguments, rh_world *world, const rh_scene *scene,
                      const rh_run_options *options, rh_status *status)
{
    const char *folder = options->folder;
    char newest[RH_PATH_MAX];
    if (!arguments->changed) RH_TRY(require_same_scene(arguments, scene, folder, status));
    // What a changed scene would make is not what is missing.
    if (!arguments->changed) RH_TRY(rh_world_mend(world, options, status));
    if (rh_output_newest(folder, newest)) return rh_world_resume(world, folder, arguments->changed, status);
    if (arguments->changed)
        return rh_fail(status, RH_USER,
                       "%s holds no checkpoint that a changed scene could go on from\n  --force starts over, --out DIR "
                       "takes another folder",
                       folder);
    rh_log(RH_LOG_INFO, "%s holds no checkpoint: starting at the first frame", folder);
    return RH_OK;
}

// As a shell takes it for one word.
static void put_quoted(const char *text)
{
    fputc('\'', stderr);
    for (; *text; text++)
        if (*text == '\'') fputs("'\\''", stderr);
        else fputc(*text, stderr);
    fputc('\'', stderr);
}

// With the values that were set: without them it would be another scene, which --resume refuses.
static void tell_how_to_go_on(const app_arguments *arguments, const char *folder)
{
    fprintf(stderr, "  go on       rheo run %s --out %s", arguments->operand, folder);
    for (int i = 0; i < arguments->sets.count; i++) {
        fputs(" --set ", stderr);
        put_quoted(arguments->sets.items[i]);
    }
    fputs(" --resume\n", stderr);
}

static void print_summary(const app_arguments *arguments, const app_progress *progress, const rh_world *world,
                          const char *folder, const rh_scene *scene, rh_code code)
{
    app_text wall, each, count;
    rh_progress last;
    rh_world_progress(world, &last);
    double seconds = rh_seconds() - progress->started;
    int64_t frames = progress->frames_done, particles = 0;
    for (int i = 0; i < rh_world_material_count(world); i++)
        particles += rh_world_material_sets(world, i)->items[0].points.count;
    if (frames == 0 && code == RH_OK) fputs("done: nothing was left to do, all frames are there\n", stderr);
    else
        fprintf(stderr, "%s: %lld frames in %s (%s a frame), %s particles\n", code == RH_STOPPED ? "stopped" : "done",
                (long long)frames, app_format_duration(seconds, &wall),
                app_format_duration(frames ? seconds / (double)frames : -1, &each),
                app_format_count(particles, &count));
    bool drawn = app_has_particles(scene, -1);
    fprintf(stderr, "  frames      %s/%s\n", folder, drawn ? "points" : "fields");
    if (rh_scene_surfaces_while_running(scene)) fprintf(stderr, "  surfaces    %s/surface\n", folder);
    fprintf(stderr, "  statistics  rheo info %s\n", folder);
    if (code == RH_STOPPED) tell_how_to_go_on(arguments, folder);
    else if (last.frame > 0 && drawn)
        fprintf(stderr, "  picture     rheo render %s --frames %lld\n  look around rheo view %s\n", folder,
                (long long)last.frame, folder);
}

// What was asked for is not all there, so the run has failed, though its points are complete.
static rh_code check_surfaces(const rh_world *world, const char *folder, rh_status *status)
{
    rh_progress last;
    rh_world_progress(world, &last);
    if (last.surface_failures == 0) return RH_OK;
    return rh_fail(status, RH_IO,
                   "%lld frames have no surface, the warnings say why; their points are complete\n"
                   "  rheo surface %s --frames A-B makes them",
                   (long long)last.surface_failures, folder);
}

static rh_code simulate(const app_arguments *arguments, const rh_scene *scene, rh_world *world, const char *folder,
                        double started, rh_status *status)
{
    app_progress progress;
    app_progress_begin(&progress, arguments->quiet);
    rh_log_set_sink(app_progress_log, &progress);
    const app_range *frames = &arguments->frames;
    rh_run_options options = {.folder = folder,
                              .first = frames->first,
                              .last = frames->last,
                              .ranges = frames->parts,
                              .range_count = frames->count,
                              .resumed = arguments->resume,
                              .deadline = arguments->max_time > 0 ? started + arguments->max_time : 0,
                              .stop = app_stop_on_signals("this step"),
                              .stop_now = app_stop_due(),
                              .progress = app_progress_update,
                              .user = &progress};
    rh_code code = arguments->resume ? resume(arguments, world, scene, &options, status) : RH_OK;
    if (code == RH_OK && arguments->force) code = app_clear_run(folder, status);
    if (code == RH_OK) code = rh_world_run(world, &options, status);
    app_progress_end(&progress);
    rh_log_set_sink(app_log_plain, NULL);
    if (code == RH_STOPPED && !arguments->quiet) rh_log(RH_LOG_INFO, "%s", status->message);
    if ((code == RH_OK || code == RH_STOPPED) && !arguments->quiet)
        print_summary(arguments, &progress, world, folder, scene, code);
    return code == RH_OK ? check_surfaces(world, folder, status) : code;
}

static rh_code check_arguments(const app_arguments *arguments, rh_status *status)
{
    if (arguments->resume && arguments->force)
        return rh_fail(status, RH_USER, "run: found --resume and --force, expected only one of them");
    if (arguments->changed && !arguments->resume)
        return rh_fail(status, RH_USER, "run: found --changed without --resume, expected both");
    if (arguments->frames.given && arguments->frames.first < 1)
        return rh_fail(status, RH_USER, "run: --frames: found frame 0, expected frames from 1");
    return RH_OK;
}

// What the program and its libraries take beside what is counted: 101 MB were seen in a run without programs, 113 MB in
// one with them.
enum { LIBRARIES = 104 << 20, COMPILER_AND_LIBRARIES = 120 << 20 };

static rh_code limit_memory(const app_arguments *arguments, const rh_scene *scene, rh_status *status)
{
    int64_t libraries = scene->expressions.count ? COMPILER_AND_LIBRARIES : LIBRARIES,
            all = arguments->memory ? arguments->memory : rh_memory_of_machine();
    if (all <= libraries)
        return rh_fail(status, RH_USER,
                       "--memory: found %lld MB, expected more than %lld MB, which the program itself needs",
                       (long long)(all >> 20), (long long)(libraries >> 20));
    rh_memory_set_limit(all - libraries);
    return RH_OK;
}

// The folder is ours alone from here on; whatever another run has put there since we looked is seen now.
static rh_code simulate_locked(const app_arguments *arguments, const rh_scene *scene, rh_world *world,
                               const char *folder, double started, rh_status *status)
{
    rh_folder_lock lock;
    RH_TRY(rh_folder_lock_take(&lock, folder, status));
    rh_code code = check_folder(arguments, scene, folder, status);
    if (code == RH_OK) code = simulate(arguments, scene, world, folder, started, status);
    rh_folder_lock_release(&lock);
    return code;
}

static rh_code run_scene(const app_arguments *arguments, const rh_scene *scene, double started, rh_status *status)
{
    char folder[RH_PATH_MAX];
    RH_TRY(choose_folder(arguments, folder, status));
    RH_TRY(check_folder(arguments, scene, folder, status));
    RH_TRY(limit_memory(arguments, scene, status));
    rh_threads_set((int)arguments->threads);
    rh_world *world = NULL;
    RH_TRY(rh_world_create(scene, &world, status));
    rh_code code = simulate_locked(arguments, scene, world, folder, started, status);
    rh_world_free(world);
    return code;
}

static int run(const app_arguments *arguments)
{
    double started = rh_seconds();
    rh_status status = {0};
    rh_scene scene;
    rh_code code = check_arguments(arguments, &status);
    if (code == RH_OK) code = app_scene_load(arguments, arguments->operand, true, &scene, &status);
    if (code != RH_OK) return app_report(&status);
    code = run_scene(arguments, &scene, started, &status);
    rh_scene_free(&scene);
    if (code == RH_STOPPED) return APP_STOPPED;
    return app_report(&status);
}

#define AT(field) offsetof(app_arguments, field)
static const app_option options[] = {
    {"out", APP_TEXT, AT(out), "DIR", "run folder; without it run/NAME for a scene NAME.yaml"},
    {"frames", APP_RANGE, AT(frames), "LIST",
     "frames to write, such as 1-48 or 1,10,20-30; simulated is up to the last of them; without it as the scene says"},
    {"set", APP_TEXTS, AT(sets), "PATH=VALUE", "change a value of the scene, such as cell=0.02 (may be repeated)"},
    {"threads", APP_COUNT, AT(threads), "N", "threads to use; without it all cores. The result does not depend on it"},
    {"resume", APP_FLAG, AT(resume), NULL, "go on after the newest checkpoint in the run folder"},
    {"changed", APP_FLAG, AT(changed), NULL, "with --resume: go on although the scene differs from the checkpoint's"},
    {"max-time", APP_TIME, AT(max_time), "TIME", "stop in time with a checkpoint, such as 90s, 45m, 1.5h or 2:30:00"},
    {"memory", APP_BYTES, AT(memory), "SIZE", "what the run may use, such as 8G; without it what the machine has"},
    {"force", APP_FLAG, AT(force), NULL, "remove the frames an earlier run left in the folder and start over"},
    APP_SANDBOX,
    {"quiet", APP_FLAG, AT(quiet), NULL, "no progress, only warnings and errors"},
};

const app_command app_run = {
    "run",
    "SCENE",
    true,
    false,
    "simulate a scene into a run folder",
    "Simulates a scene. The run folder gets scene.yaml (complete, with defaults), log.jsonl (one\n"
    "line per step), points/ (one file per frame), checkpoint/, and probes.csv when the scene has\n"
    "probes. Control-C stops after the running step and leaves a checkpoint; a second one leaves at once.",
    options,
    APP_OPTION_COUNT(options),
    run};
