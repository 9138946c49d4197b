// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How a scene wants to be seen: camera, light, appearances, ground, colours of particles. Pictures only; a run does not
// depend on it, and every value has a default that frames and lights the scene by itself.
#pragma once
#include <stdint.h>
#include "base/param.h"

typedef struct rh_camera_key {
    double time;                // s, simulated
    rh_dvec3 position, target;  // m
    double fov;                 // degrees across the shorter side of the picture
} rh_camera_key;

typedef struct rh_camera_params {
    rh_dvec3 position, target;  // m; equal = the camera frames the scene by itself
    double fov;
    double shutter;  // of the time of a frame, 0..1
    rh_list keys;    // of rh_camera_key, times increasing; instead of position, target and fov
} rh_camera_params;

typedef struct rh_light_params {
    rh_dvec3 zenith, horizon;  // linear colour
    rh_dvec3 sun_color;
    double sun;                 // brightness of white paper that faces it
    double azimuth, elevation;  // degrees; 0 is towards +z, 90 towards +x
    double sun_radius;          // degrees
    double exposure;            // stops
} rh_light_params;

// Linear colours. What each kind uses stands in its table.
typedef struct rh_appearance_params {
    rh_dvec3 color;    // clear: what is left of white after `distance`; else of white light that falls on it
    double distance;   // m; 0 = from the size of the scene
    double roughness;  // 0..1
    double ior;
    double grain;  // 0..1, of sand: how much lighter or darker than `color` single particles are
} rh_appearance_params;

typedef enum rh_look_kind {
    RH_LOOK_WATER,
    RH_LOOK_HONEY,
    RH_LOOK_OIL,
    RH_LOOK_CHOCOLATE,
    RH_LOOK_MILK,
    RH_LOOK_SAND,
    RH_LOOK_PLASTER,
    RH_LOOK_PLASTIC,
    RH_LOOK_GLASS,
} rh_look_kind;                                       // order of rh_look_tables
extern const rh_param_table *const rh_look_tables[];  // NULL-terminated; each describes rh_appearance_params
extern const char *const rh_ground_names[];           // NULL-terminated: none, plain, grid, checker

typedef struct rh_ground_params {
    int style;  // index into rh_ground_names
    rh_dvec3 color;
    double tile;    // m; 0 = from the size of the scene
    double offset;  // m above where it would lie by itself
} rh_ground_params;

// The colours of values: blue (dark to light), sand (the same in browns), strata (six colours of layered rock in turn).
typedef enum rh_palette {
    RH_PALETTE_BLUE,
    RH_PALETTE_SAND,
    RH_PALETTE_STRATA
} rh_palette;                                 // order of rh_palette_names
extern const char *const rh_palette_names[];  // NULL-terminated

typedef struct rh_paint {
    char *attribute;   // "speed" is the length of v; may end in .x, .y or .z; "none": the colour of the appearance
    double low, high;  // values at the ends of the colours; equal = from the particles
    int64_t bands;     // steps from low to high; 0 = smooth
    int palette;       // rh_palette
} rh_paint;

typedef struct rh_particle_look {
    rh_paint paint;
    double size;  // drawn radius over radius
} rh_particle_look;

typedef struct rh_look {
    rh_camera_params camera;
    rh_light_params light;
    rh_variant liquid, solid;  // kind: rh_look_kind, value: rh_appearance_params; none = water, plaster
    rh_ground_params ground;
    rh_particle_look particles;
    rh_paint paint;  // of the surface; no attribute or "none" = as its appearance says
} rh_look;

extern const rh_param_table rh_look_table;  // "look"
