// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Rheo as a library: load a scene, advance it, read its particles; make surfaces from files of particles; run
// expressions. Everything else (writing frames, checkpoints, pictures) is done by the `rheo` program, which stands on
// the same code.
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
// Threads: calls on one simulation must not overlap; different simulations may run in different threads of the caller's
// at once, each with its own number of threads, log and limit of memory, and give the bits that each gives alone. The
// library never prints and never exits, and leaves the caller's own OpenMP settings as they are.
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
    char message[2048];  // one or more lines, no trailing newline; empty on RHEO_OK
} rheo_error;

typedef struct rheo_simulation rheo_simulation;  // opaque; owned by the caller of rheo_open

// Version as "major.minor.patch"; static text.
RHEO_API const char *rheo_version(void);

// Threads for the whole process: for surfaces, expressions, and all simulations that have no number of their own, also
// those already open, from their next call on. 0 = all cores; without a call, what OMP_NUM_THREADS says, else all
// cores. Does not change any result. May be called from any thread at any time.
RHEO_API void rheo_set_threads(int count);

// Receives warnings and notes of everything that has no log of its own; NULL drops them (the default). Set it before
// opening simulations, while no other call is under way.
typedef void rheo_log_function(const char *message, void *user);
RHEO_API void rheo_set_log(rheo_log_function *function, void *user);

// Reads and validates a scene and fills its bodies. `settings` are "path=value" strings as for `rheo run --set`.
// On failure *out is NULL. `error` may be NULL in every call.
RHEO_API rheo_code rheo_open(const char *scene_path, const char *const *settings, int setting_count,
                             rheo_simulation **out, rheo_error *error);
// The same for a program with functions of its own (see rheo_function below, which says how they are called): the
// scene's section `expressions` may call them. They are copied, texts too.
struct rheo_function;
RHEO_API rheo_code rheo_open_with(const char *scene_path, const char *const *settings, int setting_count,
                                  const struct rheo_function *functions, int function_count, rheo_simulation **out,
                                  rheo_error *error);
// The same with what belongs to this simulation alone. Zeros everywhere: as rheo_open.
typedef struct rheo_options {
    int threads;  // 0: as rheo_set_threads says
    rheo_log_function
        *log;  // NULL: to the log of rheo_set_log. Called by the thread that is in a call on the simulation
    void *log_user;
    int64_t memory_limit;  // bytes that the simulation may hold at a time: more is RHEO_MEMORY; 0: no limit
    const struct rheo_function *functions;  // see rheo_open_with
    int function_count;
} rheo_options;
RHEO_API rheo_code rheo_open_as(const char *scene_path, const char *const *settings, int setting_count,
                                const rheo_options *options, rheo_simulation **out, rheo_error *error);
RHEO_API void rheo_close(rheo_simulation *simulation);  // NULL is fine

// Between two calls on the simulation; 0: as rheo_set_threads says.
RHEO_API void rheo_simulation_set_threads(rheo_simulation *simulation, int count);
// Bytes that the simulation holds, and the most that it held so far.
RHEO_API int64_t rheo_simulation_memory(const rheo_simulation *simulation, int64_t *peak);  // `peak` may be NULL

// Advances to the next frame (several time steps). After a failure the simulation can only be read and closed.
RHEO_API rheo_code rheo_advance_frame(rheo_simulation *simulation, rheo_error *error);
// One time step of at most `limit` seconds; *taken (may be NULL) gets its length.
RHEO_API rheo_code rheo_advance_step(rheo_simulation *simulation, double limit, double *taken, rheo_error *error);

// The whole state between two steps, kept in memory: to go back to, as often as wanted, in the same simulation or in
// another one of the same scene and settings (RHEO_USER else). What comes after is the same to the bit. A snapshot
// taken into an earlier one (*into not NULL) uses its memory again; it is the caller's to free and outlives the
// simulation.
typedef struct rheo_snapshot rheo_snapshot;
RHEO_API rheo_code rheo_snapshot_take(const rheo_simulation *simulation, rheo_snapshot **into, rheo_error *error);
RHEO_API rheo_code rheo_snapshot_restore(rheo_simulation *simulation, const rheo_snapshot *snapshot, rheo_error *error);
RHEO_API void rheo_snapshot_free(rheo_snapshot *snapshot);  // NULL is fine

RHEO_API double rheo_time(const rheo_simulation *simulation);  // s, simulated
RHEO_API int64_t
rheo_frame(const rheo_simulation *simulation);  // last frame reached; the scene's first frame is the start

// Particles. Order changes from step to step; "id" tells who is who. Pointers are owned by the simulation and valid
// until the next call that advances or closes it.
RHEO_API int64_t rheo_point_count(const rheo_simulation *simulation);
// An attribute of `components` floats a point ("P" 3, "v" 3), or NULL when there is none of that name, or it has
// another type, or is the same for all points (see rheo_radius).
RHEO_API const float *rheo_points_float(const rheo_simulation *simulation, const char *name, int components);
RHEO_API const int64_t *rheo_points_id(const rheo_simulation *simulation);
RHEO_API float rheo_radius(const rheo_simulation *simulation);  // m, of every particle

// The particle sets of a run, for scenes with several materials: the first is the main one of the scene's first
// material, which is what the calls above speak of. A material's main set has its name ("water"), others that its
// method keeps have one behind it ("water.foam").
RHEO_API int rheo_set_count(const rheo_simulation *simulation);
RHEO_API const char *rheo_set_name(const rheo_simulation *simulation, int set);   // lives as long as the simulation
RHEO_API int rheo_set_find(const rheo_simulation *simulation, const char *name);  // -1: none of that name
RHEO_API int64_t rheo_set_point_count(const rheo_simulation *simulation, int set);
RHEO_API const float *rheo_set_float(const rheo_simulation *simulation, int set, const char *name, int components);
RHEO_API const int64_t *rheo_set_id(const rheo_simulation *simulation, int set);  // unique over all sets
RHEO_API float rheo_set_radius(const rheo_simulation *simulation, int set);

// Fields of methods that have some (docs/theory/dye.md), on tiles of 8 x 8 x 8 cells (8 x 8 in two dimensions) that are
// only where there is something. Pointers as for particles. A value is at the centre of its cell, (i + 1/2) cells from
// the world's origin, or with `at_faces` component c at the lower face of axis c.
typedef struct rheo_field {
    const char *name;
    int components;    // 1 or 3
    int at_faces;      // not zero: see above
    float background;  // wherever there is no tile
    double cell;       // m
    int64_t tile_count;
    int cells;                  // of a tile: 512 or 64
    const int32_t (*tiles)[3];  // place of each tile, in tiles: its first cell is 8 times that, in cells
    const float *values[3];     // [tile_count * cells] of each component: cell x + 8 y + 64 z of tile t at t * cells
    const char *material;       // whose it is, where several materials have fields; else NULL
} rheo_field;
RHEO_API int rheo_field_count(const rheo_simulation *simulation);
RHEO_API rheo_field rheo_field_at(const rheo_simulation *simulation, int index);  // 0 <= index < count

// What the scene's `probes:` measure (docs/probes.md), as columns with a title ("P1.pressure [Pa]") and a latest value:
// those of the first material, then those of the second, and so on. None when the scene has no probes. Texts live as
// long as the simulation, values until it advances. An index outside of 0 <= index < count gives NULL, or 0.
RHEO_API int rheo_probe_count(const rheo_simulation *simulation);  // columns
RHEO_API const char *rheo_probe_title(const rheo_simulation *simulation, int index);
RHEO_API const char *rheo_probe_material(const rheo_simulation *simulation, int index);  // that it measures
RHEO_API double rheo_probe_value(const rheo_simulation *simulation, int index);          // of the latest row
// s: of the latest row of the first column; 0 before the first. All materials have the same time at the ends of frames.
RHEO_API double rheo_probe_time(const rheo_simulation *simulation);

// Dynamic solids: where each is and how it moves, as of the last step. A point x of the scene's shape (before any
// motion) is at origin + turn(x), turn being a unit quaternion, w first.
typedef struct rheo_solid {
    const char *name;  // as in the scene; "" without one. Lives as long as the simulation
    int solid;         // its number among the scene's solids
    double mass;       // kg (kg/m in two dimensions)
    double origin[3];  // m
    double turn[4];
    double center[3];    // m: of mass
    double velocity[3];  // m/s: of the centre of mass, half a step ago
    double angular[3];   // rad/s
} rheo_solid;
RHEO_API int rheo_solid_count(const rheo_simulation *simulation);                 // of dynamic ones
RHEO_API rheo_solid rheo_solid_at(const rheo_simulation *simulation, int index);  // 0 <= index < count

// The surface of one frame of particles, from file to files, as `rheo surface` makes it. `points` is a .vdb or .ply
// file of any origin. Results go to `folder` (made when missing) and are called surface.0007.vdb and so on, by the last
// group of digits in the name of `points`, or the frame the file says it is. `settings` are "name=value" strings as for
// `rheo surface --set`: "mode=sphere", "mesh=true", "voxel=0.01"; `rheo doc surface` lists them. `fraction` is the time
// between this frame and the next, 0 <= fraction < 1, for motion blur; above 0 the name gets its three digits
// (surface.0007.250.vdb), and `next` may be the file of the next frame (NULL: particles go on with their velocity).
// Needs no simulation, and any number of processes may each do their own frames.
RHEO_API rheo_code rheo_surface_frame(const char *points, const char *next, double fraction, const char *folder,
                                      const char *const *settings, int setting_count, rheo_error *error);
// The same of one of several materials in a .vdb file: the points grid called `material`; its results are called
// surface.MATERIAL.0007.vdb and so on.
RHEO_API rheo_code rheo_surface_material(const char *points, const char *material, const char *next, double fraction,
                                         const char *folder, const char *const *settings, int setting_count,
                                         rheo_error *error);

// ---- expressions: small programs over arrays of the caller's own (docs/expressions.md has the language), or over
// anything laid out in arrays
//
//   rheo_expression *program;
//   rheo_expression_compile("v@v += {0, -9.81, 0} * $dt;", NULL, 0, &program, &error);
//   rheo_array arrays[] = {{"v", "vec3f", velocities}};
//   rheo_value values[] = {{"dt", "float", &dt}};
//   rheo_pass pass = {.count = n, .arrays = arrays, .array_count = 1, .values = values, .value_count = 1};
//   rheo_expression_run(program, &pass, &error);
//   rheo_expression_free(program);
//
// A program touches nothing but the arrays it is given, cannot run for ever, and gives the same bits for any number of
// threads.

typedef struct rheo_expression rheo_expression;  // opaque; owned by the caller of rheo_expression_compile

// A function of the caller's that programs may call. `signature` is result and arguments, "float(vec3f, int32)", of the
// types bool int32 int64 float double, vec2i ... vec4d, mat3f mat3d mat4f mat4d, and void as a result; an argument
// "&vec3f" is written. How it is called:
//   bool, int32, int64, float, double   by value
//   vectors, matrices (rows first)      by pointer to their elements: const float *, const double *,
//                                       const int32_t *; not const where written
//   a result that is one of these       through a pointer that comes before the arguments, and the function
//                                       returns nothing
// It is called from several threads at once, for elements in any order, and should depend on its arguments alone.
typedef struct rheo_function {
    const char *name;
    const char *signature;
    void (*function)(void);  // cast to this type
    int pure;  // not zero: the same arguments give the same result and nothing else happens, so calls may be moved or
               // left out
} rheo_function;

// Compiles a program (some hundredths of a second). It may be run any number of times, also from several threads at
// once. `functions` are copied, texts too. RHEO_USER with every mistake, each with line, column and the place marked.
// On failure *out is NULL.
RHEO_API rheo_code rheo_expression_compile(const char *code, const rheo_function *functions, int function_count,
                                           rheo_expression **out, rheo_error *error);
RHEO_API void rheo_expression_free(rheo_expression *expression);  // NULL is fine

// What a program uses, in the order of its list. Texts live as long as the program.
typedef enum rheo_use_kind {
    RHEO_USE_ATTRIBUTE,
    RHEO_USE_VALUE,
    RHEO_USE_GROUP
} rheo_use_kind;  // @name, $name, a group named by a literal
typedef struct rheo_use {
    rheo_use_kind kind;
    const char *name;
    const char *type;   // "vec3f"; "group"
    int reads, writes;  // not zero when it does
} rheo_use;
RHEO_API int rheo_expression_use_count(const rheo_expression *expression);
RHEO_API rheo_use rheo_expression_use(const rheo_expression *expression, int index);  // 0 <= index < count
RHEO_API int rheo_expression_deletes(const rheo_expression *expression);     // not zero when it may call deletepoint()
RHEO_API double rheo_expression_seconds(const rheo_expression *expression);  // what compiling took, s

typedef struct rheo_array {
    const char *name;  // of the attribute, or of the group
    const char *type;  // as in the language: "float", "vec3f" ...; "group" for bytes that are 1 for members, else 0
    void *data;        // the caller's; written where the program writes
    int64_t stride;    // bytes from one element to the next; 0: one behind the other. Groups always are
} rheo_array;

typedef struct rheo_value {
    const char *name, *type;  // $name; a value that is not given is zero
    const void *value;
} rheo_value;

typedef struct rheo_pass {
    int64_t count;  // elements
    const rheo_array
        *arrays;  // every attribute the program uses, of its very type; others are passed over. They must not overlap.
    int array_count;  // "P" (vec3f) for neighbours(), "id" (int64) makes rand() belong to the id
    const rheo_value *values;
    int value_count;
    unsigned char *deleted;  // count bytes, set to 1 or 0; NULL when the program does not delete
    int64_t budget;          // steps in loops of one element; 0: 16777216
    uint64_t seed;           // of rand()
} rheo_pass;
// Runs the program on all elements, with the threads that rheo_set_threads allows. RHEO_USER when arrays are missing or
// of another type (nothing is written), or when an element takes too many steps or an index is outside its vector
// (written in part). What programs print() goes to the log.
RHEO_API rheo_code rheo_expression_run(const rheo_expression *expression, const rheo_pass *pass, rheo_error *error);

// Bytes held by the library in all; 0 after the last rheo_close.
RHEO_API int64_t rheo_memory_bytes(void);

#ifdef __cplusplus
}
#endif
