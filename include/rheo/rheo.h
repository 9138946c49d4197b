// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Rheo as a library: load a scene, advance it, read its particles; make surfaces from files of particles. Everything else (writing
// frames, checkpoints, pictures) is done by the `rheo` program, which stands on the same code.
//
//   rheo_simulation *sim;
//   rheo_error error;
//   if (rheo_open("dam.yaml", NULL, 0, &sim, &error) != RHEO_OK) { puts(error.message); return 1; }
//   while (rheo_frame(sim) < 48 && rheo_advance_frame(sim, &error) == RHEO_OK) {
//       const float *P = rheo_points_float(sim, "P", 3);   // 3 floats a point
//       ...
//   }
//   rheo_close(sim);
//
// Units are SI, y is up. The same scene gives the same bits for any number of threads.
//
// Threads: calls on one simulation must not overlap; different simulations may run in different threads, though each
// uses all the threads that rheo_set_threads allows. The library never prints and never exits.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RHEO_API __attribute__((visibility("default")))
#else
#define RHEO_API
#endif

typedef enum rheo_code {
    RHEO_OK = 0,
    RHEO_USER,     // wrong input; the message names file, line and column
    RHEO_IO,       // the system refused: missing file, full disk
    RHEO_MEMORY,   // out of memory
    RHEO_NUMERIC,  // NaN, runaway values, a solve that does not converge
} rheo_code;

typedef struct rheo_error {
    rheo_code code;
    char message[1024];  // one or more lines, no trailing newline; empty on RHEO_OK
} rheo_error;

typedef struct rheo_simulation rheo_simulation;  // opaque; owned by the caller of rheo_open

// Version as "major.minor.patch"; static text.
RHEO_API const char *rheo_version(void);

// Threads for all simulations; 0 (the default) = all cores. Does not change any result.
RHEO_API void rheo_set_threads(int count);

// Receives warnings and notes; NULL drops them (the default). Set it before opening simulations.
typedef void rheo_log_function(const char *message, void *user);
RHEO_API void rheo_set_log(rheo_log_function *function, void *user);

// Reads and validates a scene and fills its bodies. `settings` are "path=value" strings as for `rheo run --set`.
// On failure *out is NULL. `error` may be NULL in every call.
RHEO_API rheo_code rheo_open(const char *scene_path, const char *const *settings, int setting_count, rheo_simulation **out,
                             rheo_error *error);
RHEO_API void rheo_close(rheo_simulation *simulation);  // NULL is fine

// Advances to the next frame (several time steps). After a failure the simulation can only be read and closed.
RHEO_API rheo_code rheo_advance_frame(rheo_simulation *simulation, rheo_error *error);
// One time step of at most `limit` seconds; *taken (may be NULL) gets its length.
RHEO_API rheo_code rheo_advance_step(rheo_simulation *simulation, double limit, double *taken, rheo_error *error);

RHEO_API double rheo_time(const rheo_simulation *simulation);    // s, simulated
RHEO_API int64_t rheo_frame(const rheo_simulation *simulation);  // last frame reached; the scene's first frame is the start

// Particles. Order changes from step to step; "id" tells who is who. Pointers are owned by the simulation and valid
// until the next call that advances or closes it.
RHEO_API int64_t rheo_point_count(const rheo_simulation *simulation);
// An attribute of `components` floats a point ("P" 3, "v" 3), or NULL when there is none of that name, or it has another
// type, or is the same for all points (see rheo_radius).
RHEO_API const float *rheo_points_float(const rheo_simulation *simulation, const char *name, int components);
RHEO_API const int64_t *rheo_points_id(const rheo_simulation *simulation);
RHEO_API float rheo_radius(const rheo_simulation *simulation);  // m, of every particle

// The surface of one frame of particles, from file to files, as `rheo surface` makes it. `points` is a .vdb or .ply file of any origin. Results go to
// `folder` (made when missing) and are called surface.0007.vdb and so on, by the last group of digits in the name of `points`, or the frame the file says it
// is. `settings` are "name=value" strings as for `rheo surface --set`: "mode=sphere", "mesh=true", "voxel=0.01"; `rheo doc surface` lists them.
// `fraction` is the time between this frame and the next, 0 <= fraction < 1, for motion blur; above 0 the name gets its three digits
// (surface.0007.250.vdb), and `next` may be the file of the next frame (NULL: particles go on with their velocity). Needs no simulation, and any
// number of processes may each do their own frames.
RHEO_API rheo_code rheo_surface_frame(const char *points, const char *next, double fraction, const char *folder, const char *const *settings,
                                      int setting_count, rheo_error *error);

// Bytes held by the library in all; 0 after the last rheo_close.
RHEO_API int64_t rheo_memory_bytes(void);

#ifdef __cplusplus
}
#endif
