// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A scene: everything a run needs, as plain structs filled from a YAML file through the parameter tables in
// scene_tables.c. Reading validates every value; a scene that was read is complete (defaults filled in) and can be
// written back.
//
// Units are SI, y is up. In a two-dimensional run (dimension: 2) everything lives in the plane z = 0 and the z parts of
// positions and vectors are ignored.
#pragma once
#include <stdint.h>
#include "base/param.h"
#include "base/status.h"
#include "lang/diagnostics.h"
#include "lang/functions.h"
#include "physics/physics.h"
#include "scene/joints.h"
#include "scene/look.h"
#include "scene/probes.h"
#include "solid/obstacles.h"
#include "solid/shape.h"
#include "surface/surfacing.h"

typedef struct rh_frames_params {
    int64_t first, last;
    double fps;
} rh_frames_params;

// A body of liquid at the start: a shape filled with particles at rest or moving.
typedef struct rh_body_params {
    char *name;
    char *material;  // name of the material it is of; NULL = the first
    rh_variant shape;
    rh_dvec3 velocity;          // m/s
    rh_dvec3 angular_velocity;  // rad/s about the centre of the shape's bounds
    double viscosity;           // Pa s, of its particles; 0 = the liquid's
    char *kind;                 // of the kinds of its material; NULL = the material's own
    int material_index;         // found when the scene was read
    int kind_index;             // the same; 0 = the material's own, then those of the list
} rh_body_params;

typedef struct rh_solid_params {
    char *name;
    rh_variant shape;
    bool inside_out;            // a container: the material is outside the shape
    int wall;                   // rh_wall
    double friction;            // Coulomb's coefficient, for sand and other solids
    double slip_length;         // m: of a wall without slip, for liquids with viscosity
    double roughness, manning;  // m, s/m^(1/3): for liquids; 0 = none, at most one is given
    rh_motion motion;
    char *group;                 // solids of one group do not touch each other; NULL = of none
    rh_dynamic_params *dynamic;  // NULL = follows its motion
} rh_solid_params;

typedef struct rh_emitter_key {
    double time;
    rh_dvec3 velocity;
    double rate;
} rh_emitter_key;
typedef struct rh_emitter_params {
    char *name;
    char *material;  // name of the material it pours; NULL = the first
    rh_variant shape;
    rh_dvec3 velocity;   // m/s
    double rate;         // share of the full flow, 0..1
    double viscosity;    // Pa s, of its particles; 0 = the liquid's
    char *kind;          // of the kinds of its material; NULL = the material's own
    bool follow;         // the velocity turns and travels with the motion
    rh_list keys;        // of rh_emitter_key, times increasing; instead of velocity and rate
    double start, stop;  // s, simulated time
    rh_motion motion;
    int material_index;  // found when the scene was read
    int kind_index;      // the same; 0 = the material's own, then those of the list
} rh_emitter_params;

// Which particles a sink removes: those that all of it is true of.
typedef struct rh_sink_when {
    char *group;          // NULL: of any
    double older;         // s: than this; 0: of any age
    double travelled;     // m: farther than this since it began; 0: any way
    double slower;        // m/s: than this; 0: of any speed
    double faster;        // m/s: than this; 0: of any speed
    int64_t fewer, more;  // neighbours than this, within `within`; 0: any number
    double within;        // m; 0: a cell
} rh_sink_when;

typedef struct rh_sink_params {
    char *name;
    char *material;      // name of the material it removes; NULL = all
    rh_variant shape;    // kind -1: everywhere
    bool inside_out;     // removes what leaves the shape instead of what enters
    rh_sink_when *when;  // NULL: all that is in the shape
    double start, stop;
    rh_motion motion;
    int material_index;  // found when the scene was read; -1 = all
} rh_sink_params;

// A value from 0 to 1 that particles have in frames: the product of all ramps that are given. A ramp whose two ends are
// equal is not given; one that falls has the larger end first.
typedef struct rh_mask_ramp {
    double from, to;
} rh_mask_ramp;
typedef struct rh_mask_params {
    char *name;  // of the attribute
    char *material;
    rh_mask_ramp speed, height, age, travelled, neighbours;  // m/s, m, s, m, 1
    double within;                                           // m, of neighbours; 0: a cell
    int material_index;                                      // found when the scene was read
} rh_mask_params;

// Body forces, beside gravity; accelerations in m/s^2.
typedef struct rh_force_key {
    double time;
    rh_dvec3 acceleration;
} rh_force_key;
typedef struct rh_uniform_force {
    rh_dvec3 acceleration;
    rh_list keys;
} rh_uniform_force;  // keys: rh_force_key, added
typedef struct rh_radial_force {
    rh_dvec3 center;
    double acceleration, radius;
} rh_radial_force;  // > 0 pulls inwards
typedef struct rh_swirl_force {
    rh_dvec3 center, axis;
    double acceleration, radius;
} rh_swirl_force;
// At the time `at`, over `duration` (s): a velocity of strength / distance^2 away from the centre (in two dimensions
// strength / distance), at most max_speed (m/s), none beyond the radius.
typedef struct rh_explosion_force {
    rh_dvec3 center;
    double strength, radius, max_speed, at, duration;
} rh_explosion_force;
typedef enum rh_force_kind { RH_FORCE_UNIFORM, RH_FORCE_RADIAL, RH_FORCE_SWIRL, RH_FORCE_EXPLOSION } rh_force_kind;
typedef struct rh_force_params {
    char *name;
    rh_variant force;
    double start, stop;
} rh_force_params;

// A program that runs on the particles at a moment of the run (docs/expressions.md).
typedef enum rh_expression_at { RH_AT_START, RH_AT_EMIT, RH_AT_FORCES, RH_AT_STEP, RH_AT_FRAME } rh_expression_at;
typedef struct rh_expression_params {
    char *name;
    char *material;  // name of the material whose particles it runs on; NULL = the first
    int at;          // rh_expression_at
    char *code;      // after loading always given: that of `file` is put here, so that a scene written back is complete
    char *file;      // NULL after loading
    rh_list set;     // rh_named_value: the program's $names
    int64_t budget;  // loop steps of one particle
    double start, stop;  // s, simulated time
    int material_index;  // found when the scene was read
} rh_expression_params;

// A material: one method and what belongs to it.
typedef enum rh_material_steps { RH_STEPS_AUTO, RH_STEPS_OWN, RH_STEPS_SHARED } rh_material_steps;
typedef struct rh_material_params {
    char *name;
    rh_variant physics;            // kind = index into rh_physics_methods; value = that method's parameter struct
    int steps;                     // rh_material_steps
    rh_surfacing_params *surface;  // NULL = the scene's; else complete: what it did not say came from the scene's
    rh_variant look;               // kind: rh_look_kind, value: rh_appearance_params; none = look.liquid
    bool steps_together;           // found when the scene was read: its steps end where those of others do
} rh_material_params;

// Which particles change their material: those that all of it is true of.
typedef struct rh_exchange_when {
    double faster;   // m/s; 0: any speed
    double thinner;  // 0..1: share of a full neighbourhood of their own material that is there; 0: any
    double into;     // m: how near the surface of the other material, or how deep in it (below 0); 1e9: anywhere
} rh_exchange_when;

// Particles that change from one material to another: those in a group, or that `when` is true of, at the times when
// both have come to the end of a step.
typedef struct rh_exchange_params {
    char *name;
    char *from, *to, *group;
    rh_exchange_when *when;    // NULL = not given
    int from_index, to_index;  // found when the scene was read
} rh_exchange_params;

typedef enum rh_up_axis { RH_UP_Y, RH_UP_Z } rh_up_axis;
typedef struct rh_output_params {
    bool vdb, ply;      // points as .vdb (default) and .ply
    int up;             // rh_up_axis of exported files
    double probe_rate;  // 1/s: rows of probes.csv; 0 = one every step
} rh_output_params;

typedef struct rh_checkpoint_params {
    int64_t frames;  // a checkpoint every so many frames; 0 = only at the end and on a stop
    double minutes;  // and whenever so much wall time has passed since the last; 0 = never for that reason
    int64_t keep;
} rh_checkpoint_params;

// What is taken for numbers that have run away: beyond it the run stops (world/health.h).
typedef struct rh_limits_params {
    double speed;       // m/s; 0 = found from cell and frame
    int64_t particles;  // 0 = found from bodies and emitters
} rh_limits_params;

// Where the scene names another file or holds a program, so that a mesh that turns out to be missing when the run
// starts, or a program that does not fit its particles, can still be blamed on a line of the scene. One for every
// RH_PARAM_PATH and RH_PARAM_CODE value, and for every item of a list whose items have names.
typedef struct rh_scene_source {
    // The field's text, or the item's struct (borrowed from the scene's structs; compared by address).
    const char *value;
    char *place;       // "file:line:column" (owned)
    bool is_path;      // the name of a file, not a program
    int line, column;  // of the text's first letter, when its lines are lines of the file; else 0
} rh_scene_source;

// A run that this one stands on: its frames are this one's surroundings (world/base_frames.h).
typedef struct rh_from_params {
    char *name;  // for methods that ask for it
    char *run;   // its folder
} rh_from_params;
extern const rh_param_table rh_from_table;

typedef struct rh_scene_sources {
    rh_scene_source *items;  // owned
    int count, capacity;
} rh_scene_sources;

typedef struct rh_scene {
    // where it came from
    char *file;     // path as given, for messages (owned)
    char *sandbox;  // folder that its files must lie in, absolute and without links; NULL = anywhere (owned)
    uint64_t hash;  // of everything that decides the result: title, probes, output, surface, checkpoint,
                    // limits, look and frames.last are left out, and of paths only the file's own name counts
    rh_scene_sources sources;

    // the root table's fields
    int64_t version;  // of the scene format; 1
    char *title;
    int64_t dimension;  // 2 or 3
    double cell;        // grid spacing, m
    int64_t seed;
    rh_dvec3 gravity;    // m/s^2
    double max_step;     // s: no time step is longer; 0 = as long as the method allows
    bool rest_position;  // particles carry the attribute rest (world/seed.h)
    rh_frames_params frames;
    rh_output_params output;
    rh_surfacing_params surface;
    rh_checkpoint_params checkpoint;
    rh_limits_params limits;
    rh_look look;
    rh_list bodies, solids, joints, emitters, sinks, forces, expressions, probes, masks;
    rh_list from;        // of rh_from_params: runs that this one stands on
    rh_variant physics;  // of the one material of a scene without `materials`
    rh_list materials, exchanges;
    rh_material_params sole;  // the short form as a material; borrows from the fields above

    // of the program around us, for the section `expressions`: functions beside the built-in ones. Not owned
    const rh_lang_function *functions;
    int function_count;
} rh_scene;

enum { RH_MAX_MATERIALS = 16, RH_MATERIAL_NAME = 31 };  // letters of a name

// The root table. The registered methods' tables (rh_physics_tables) are the alternatives of its `physics` variant.
extern const rh_param_table rh_scene_table;

// Reads `path` (with `include:`), applies `sets` ("path=value", in order), fills defaults, validates. Every failure is
// RH_USER (or RH_IO for an unreadable file) with "file:line:column: what was found, what was expected, did you mean".
// On failure there is nothing to free. Relative paths of meshes become absolute (from the folder of the file that names
// them; from the working folder for `sets`).
rh_code rh_scene_load(const char *path, const char *const *sets, int set_count, rh_scene *scene, rh_status *status);
// What else there may be to say.
typedef struct rh_scene_options {
    const char *text;  // the scene itself, when it is not to be read from `path`, which is then its name in messages
                       // and where relative paths start
    size_t bytes;
    bool alone;           // with `text`: a complete scene, as runs write it; no file but meshes may have a part in it
    const char *sandbox;  // every file that the scene names or includes must lie in this folder, links followed; NULL =
                          // anywhere
    const rh_lang_function *functions;  // of the program around us, for expressions; they must outlive the scene
    int function_count;
} rh_scene_options;
rh_code rh_scene_load_options(const char *path, const char *const *sets, int set_count, const rh_scene_options *options,
                              rh_scene *scene, rh_status *status);
// The same in a program that has functions of its own for expressions; they must outlive the scene.
rh_code rh_scene_load_with(const char *path, const char *const *sets, int set_count, const rh_lang_function *functions,
                           int function_count, rh_scene *scene, rh_status *status);
// The same from memory; `name` is what messages call it, and its folder is where relative paths start.
rh_code rh_scene_load_text(const char *name, const char *text, size_t bytes, const char *const *sets, int set_count,
                           rh_scene *scene, rh_status *status);
void rh_scene_free(rh_scene *scene);

// The materials of a scene, whether it lists them or has the short form.
int rh_scene_material_count(const rh_scene *scene);
const rh_material_params *rh_scene_material(const rh_scene *scene, int index);
// The number of the material of that name; RH_USER with the nearest name when there is none. NULL: the first.
rh_code rh_scene_find_material(const rh_scene *scene, const char *name, int *index, rh_status *status);
// How the surface of a material is made: its own section, or the scene's.
const rh_surfacing_params *rh_scene_surface(const rh_scene *scene, int material);
bool rh_scene_surfaces_while_running(const rh_scene *scene);  // of any material
bool rh_scene_surface_programs(const rh_scene *scene);        // whether the surface of any has an expression
// Finds the materials that bodies and others name (scene/materials.c).
rh_code rh_scene_resolve_materials(rh_scene *scene, rh_status *status);
extern const rh_param_table rh_material_table, rh_exchange_table, rh_sink_table, rh_mask_table;

// The place ("file:line:column") where the scene gives the PATH value `value`, which must be the pointer found in the
// scene's structs (for example ((rh_mesh_params *)solid->shape.value)->file); the scene's file name for any other
// pointer.
const char *rh_scene_place(const rh_scene *scene, const char *value);
// Place and name of an item of a list, as "scene.yaml:12:5: body 0 ('jet')" or "...: body 0" when it has no name.
typedef struct rh_scene_words {
    char text[420];
} rh_scene_words;
rh_scene_words rh_scene_item(const rh_scene *scene, const char *kind, int index, const void *item, const char *name);

// The same as a failure of a program whose text is `code`, a pointer found in the scene: RH_USER with every error of
// `messages`, each with its place in the file, the line and a caret. `label` ("expressions[0]") is for programs whose
// place is not known.
rh_code rh_scene_blame(const rh_scene *scene, const char *code, const char *label, const rh_lang_messages *messages,
                       rh_status *status);
// Line and column of a program (from 1) as a place in a file: "scene.yaml:12:9".
void rh_scene_code_place(const rh_scene *scene, const char *code, const char *label, int line, int column, char *out,
                         size_t size);

// In words, where two scenes of different hash begin to differ: the first line of each that the other has not. Cut to
// fit.
rh_code rh_scene_difference(const rh_scene *was, const rh_scene *is, char *out, size_t size, rh_status *status);

// The complete scene as YAML text with a comment (unit, help) behind each value; reading it gives the same scene.
// Caller frees with rh_free.
char *rh_scene_print(const rh_scene *scene, rh_status *status);

// The reference manual for a topic (a table's name, the name of a key that holds one, "all" for everything, or NULL for
// the overview), as plain text for a terminal or as Markdown. NULL with a status naming the nearest topic when there is
// none of that name. Caller frees with rh_free.
char *rh_scene_manual(const char *topic, bool markdown, rh_status *status);
