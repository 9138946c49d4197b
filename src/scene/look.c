// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The tables of `look`. Colours of water: what pure water leaves of red, green and blue light (650, 550, 450 nm) after
// 8 m, from the absorption measured by R. Pope and E. Fry, Applied Optics 36(33), 1997: 0.340, 0.0565 and 0.00922 per
// metre. Without a distance a scene is given the colour of a pool whatever its size; `distance: 8` is the true one.
#include "scene/look.h"

#define NO_LIMIT 1e30

// --- camera and light ------------------------------------------------------------------------------------------------

#define FOV_ROW(standard)                                                  \
    {                                                                      \
        "fov", RH_PARAM_FLOAT, AT(fov), "deg", standard, 0.1, 160,         \
            .help = "angle of view across the shorter side of the picture" \
    }
#define AT(field) offsetof(rh_camera_key, field)
static const rh_param key_rows[] = {
    {"time", RH_PARAM_FLOAT, AT(time), "s", .required = true, .help = "simulated time of this key"},
    {"position", RH_PARAM_VEC3, AT(position), "m", "[3, 2, 4]", .help = "where the camera is"},
    {"target", RH_PARAM_VEC3, AT(target), "m", "[0, 0, 0]", .help = "what it looks at"},
    FOV_ROW("30"),
};
#undef AT

static rh_code check_apart(rh_dvec3 position, rh_dvec3 target, const char **field, rh_status *status)
{
    if (rh_d3_length(rh_d3_sub(position, target)) > 0) return RH_OK;
    *field = "target";
    return rh_fail(status, RH_USER, "must differ from position: the camera would look nowhere");
}

static rh_code check_key(const void *object, const char **field, rh_status *status)
{
    const rh_camera_key *key = object;
    return check_apart(key->position, key->target, field, status);
}

static const rh_param_table key_table = {
    "camera_key",
    "The camera at a time: smooth between keys, at rest before the first and after the last.",
    key_rows,
    RH_PARAM_COUNT(key_rows),
    sizeof(rh_camera_key),
    check_key};

#define AT(field) offsetof(rh_camera_params, field)
static const rh_param camera_rows[] = {
    {"position", RH_PARAM_VEC3, AT(position), "m", "[0, 0, 0]",
     .help = "where the camera is; the same as target: it frames the scene by itself"},
    {"target", RH_PARAM_VEC3, AT(target), "m", "[0, 0, 0]", .help = "what it looks at"},
    FOV_ROW("30"),
    {"shutter", RH_PARAM_FLOAT, AT(shutter), "", "0.5", 0, 1,
     .help = "how long it is open, as a part of a frame's time; 0: no motion blur"},
    {"keys", RH_PARAM_LIST, AT(keys), "", .table = &key_table,
     .help = "a camera that moves, instead of position, target and fov; times increase"},
};
#undef AT

static rh_code check_camera(const void *object, const char **field, rh_status *status)
{
    const rh_camera_params *camera = object;
    const rh_camera_key *keys = camera->keys.items;
    for (int i = 1; i < camera->keys.count; i++) {
        if (keys[i].time > keys[i - 1].time) continue;
        *field = "keys";
        return rh_fail(status, RH_USER, "times must increase: key %d is at %g s, after %g s", i, keys[i].time,
                       keys[i - 1].time);
    }
    return RH_OK;
}

static const rh_param_table camera_table = {
    "camera",    "Where the picture is taken from.", camera_rows, RH_PARAM_COUNT(camera_rows), sizeof(rh_camera_params),
    check_camera};

#define AT(field) offsetof(rh_light_params, field)
static const rh_param light_rows[] = {
    {"zenith", RH_PARAM_VEC3, AT(zenith), "", "[0.20, 0.31, 0.50]", 0, 1000,
     .help = "linear colour of the sky overhead"},
    {"horizon", RH_PARAM_VEC3, AT(horizon), "", "[0.78, 0.83, 0.88]", 0, 1000,
     .help = "linear colour of the sky at eye level and below"},
    {"sun", RH_PARAM_FLOAT, AT(sun), "", "1.5", 0, 1000,
     .help = "how bright white paper is that faces the sun alone; 0: no sun"},
    {"sun_color", RH_PARAM_VEC3, AT(sun_color), "", "[1, 0.94, 0.84]", 0, 1000, .help = "linear colour of its light"},
    {"azimuth", RH_PARAM_FLOAT, AT(azimuth), "deg", "-40", -360, 360,
     .help = "direction to the sun: 0 is towards +z, 90 towards +x"},
    {"elevation", RH_PARAM_FLOAT, AT(elevation), "deg", "48", 0, 90, .help = "height of the sun above the horizon"},
    {"sun_radius", RH_PARAM_FLOAT, AT(sun_radius), "deg", "2", 0.25, 45,
     .help = "angular radius; larger: softer shadows (the real sun has 0.27)"},
    {"exposure", RH_PARAM_FLOAT, AT(exposure), "stops", "0", -20, 20, .help = "1 more is twice as bright"},
};
#undef AT
static const rh_param_table light_table = {
    "light", "Sky and sun.", light_rows, RH_PARAM_COUNT(light_rows), sizeof(rh_light_params), NULL};

// --- appearances -----------------------------------------------------------------------------------------------------

#define AT(field) offsetof(rh_appearance_params, field)
#define CLEAR_ROWS(tint, way, index)                                                                          \
    {"color", RH_PARAM_VEC3, AT(color), "",                                                                   \
     tint,    1e-6,          1,         .help = "linear colour that white light has after `distance` in it"}, \
        {"distance",   RH_PARAM_FLOAT,                                                                        \
         AT(distance), "m",                                                                                   \
         way,          0,                                                                                     \
         NO_LIMIT,     .help = "see color; 0: from the size of the scene"},                                   \
    {                                                                                                         \
        "ior", RH_PARAM_FLOAT, AT(ior), "", index, 1.0001, 4, .help = "index of refraction"                   \
    }
#define MATTE_ROWS(tint, grain)                                                                       \
    {"color", RH_PARAM_VEC3, AT(color), "", tint, 0, 1, .help = "linear colour"},                     \
    {                                                                                                 \
        "roughness", RH_PARAM_FLOAT, AT(roughness), "", grain, 0, 1, .help = "0 smooth, 1 all grains" \
    }
#define GLOSSY_ROWS(tint, blur, index)                                                                   \
    {"color", RH_PARAM_VEC3, AT(color), "", tint, 0, 1, .help = "linear colour below the gloss"},        \
        {"roughness",                                                                                    \
         RH_PARAM_FLOAT,                                                                                 \
         AT(roughness),                                                                                  \
         "",                                                                                             \
         blur,                                                                                           \
         0,                                                                                              \
         1,                                                                                              \
         .help = "of the gloss: 0 a mirror, 1 no longer seen"},                                          \
    {                                                                                                    \
        "ior", RH_PARAM_FLOAT, AT(ior), "", index, 1.0001, 4, .help = "index of refraction of the gloss" \
    }

static const rh_param water_rows[] = {CLEAR_ROWS("[0.066, 0.636, 0.929]", "0", "1.333")};
static const rh_param honey_rows[] = {CLEAR_ROWS("[0.80, 0.22, 0.004]", "0", "1.49")};
static const rh_param oil_rows[] = {CLEAR_ROWS("[0.80, 0.62, 0.05]", "0", "1.47")};
static const rh_param chocolate_rows[] = {GLOSSY_ROWS("[0.075, 0.026, 0.010]", "0.28", "1.5")};
static const rh_param milk_rows[] = {GLOSSY_ROWS("[0.87, 0.84, 0.77]", "0.12", "1.35")};
static const rh_param sand_rows[] = {
    MATTE_ROWS("[0.52, 0.36, 0.20]", "0.8"),
    {"grain", RH_PARAM_FLOAT, AT(grain), "", "0.25", 0, 1, .help = "how much lighter or darker single particles are"},
};
static const rh_param plaster_rows[] = {MATTE_ROWS("[0.50, 0.47, 0.43]", "0.3")};
static const rh_param plastic_rows[] = {GLOSSY_ROWS("[0.55, 0.16, 0.07]", "0.3", "1.5")};
static const rh_param glass_rows[] = {CLEAR_ROWS("[0.80, 0.92, 0.88]", "0", "1.5")};
#undef AT
#define MATERIAL(name, help)                                                                      \
    {                                                                                             \
#name, help, name##_rows, RH_PARAM_COUNT(name##_rows), sizeof(rh_appearance_params), NULL \
    }
static const rh_param_table water = MATERIAL(water, "Clear water."), honey = MATERIAL(honey, "Clear honey."),
                            oil = MATERIAL(oil, "Clear oil."),
                            chocolate = MATERIAL(chocolate, "Melted chocolate: dark under a gloss."),
                            milk = MATERIAL(milk, "Milk: white under a gloss."), sand = MATERIAL(sand, "Dry sand."),
                            plaster = MATERIAL(plaster, "Matte, for solids."),
                            plastic = MATERIAL(plastic, "Coloured under a gloss."),
                            glass = MATERIAL(glass, "Clear glass.");
const rh_param_table *const rh_look_tables[] = {&water, &honey,   &oil,     &chocolate, &milk,
                                                &sand,  &plaster, &plastic, &glass,     NULL};

// --- the rest --------------------------------------------------------------------------------------------------------

const char *const rh_ground_names[] = {"none", "plain", "grid", "checker", NULL};

#define AT(field) offsetof(rh_ground_params, field)
static const rh_param ground_rows[] = {
    {"style", RH_PARAM_CHOICE, AT(style), "", "grid", .choices = rh_ground_names,
     .help = "none, plain, grid (fine lines) or checker"},
    {"color", RH_PARAM_VEC3, AT(color), "", "[0.40, 0.39, 0.38]", 0, 1, .help = "linear colour"},
    {"tile", RH_PARAM_FLOAT, AT(tile), "m", "0", 0, NO_LIMIT,
     .help = "between lines; 0: a round number that suits the size of the scene"},
    {"offset", RH_PARAM_FLOAT, AT(offset), "m", "0",
     .help = "above the floor of the container, or below all that is seen when there is none"},
};
#undef AT
static const rh_param_table ground_table = {
    "ground", "What the scene stands on.", ground_rows, RH_PARAM_COUNT(ground_rows), sizeof(rh_ground_params), NULL};

const char *const rh_palette_names[] = {"blue", "sand", "strata", NULL};

#define PAINT_ROWS(in, standard)                                                                                   \
    {"attribute",                                                                                                  \
     RH_PARAM_TEXT,                                                                                                \
     AT(in attribute),                                                                                             \
     "",                                                                                                           \
     standard,                                                                                                     \
     .help = "gives the colour: an attribute, a part of a vector (rest.y), speed (the length of v), or none (the " \
             "colour of the appearance)"},                                                                         \
        {"low",      RH_PARAM_FLOAT,                                                                               \
         AT(in low), "",                                                                                           \
         "0",        .help = "value at the first end of the colours; the same as high: from the particles"},       \
        {"high", RH_PARAM_FLOAT, AT(in high), "", "0", .help = "value at the other end"},                          \
        {"bands",      RH_PARAM_INT,                                                                               \
         AT(in bands), "",                                                                                         \
         "0",          0,                                                                                          \
         100000,       .help = "so many even steps from low to high, as layers; 0: smooth"},                       \
    {                                                                                                              \
        "palette", RH_PARAM_CHOICE, AT(in palette), "", "blue",                                                    \
            .choices = rh_palette_names,                                                                           \
            .help = "blue and sand (dark to light), or strata: six colours in turn, for bands, which then go on "  \
                    "beyond low and high"                                                                          \
    }

#define AT(field) offsetof(rh_paint, field)
static const rh_param paint_rows[] = {PAINT_ROWS(, "none")};
#undef AT
static const rh_param_table paint_table = {
    "paint",
    "Colours of the surface by what it carries. What is painted is opaque: what is clear becomes plaster.",
    paint_rows,
    RH_PARAM_COUNT(paint_rows),
    sizeof(rh_paint),
    NULL};

#define AT(field) offsetof(rh_particle_look, field)
static const rh_param particle_rows[] = {
    PAINT_ROWS(paint., "speed"),
    {"size", RH_PARAM_FLOAT, AT(size), "", "1.4", 0.01, 100, .help = "drawn radius over the particle's radius"},
};
#undef AT
static const rh_param_table particle_table = {
    "particles", "Pictures of particles.", particle_rows, RH_PARAM_COUNT(particle_rows), sizeof(rh_particle_look),
    NULL};

#define AT(field) offsetof(rh_look, field)
static const rh_param look_rows[] = {
    {"camera", RH_PARAM_TABLE, AT(camera), "", .table = &camera_table, .help = "where the picture is taken from"},
    {"light", RH_PARAM_TABLE, AT(light), "", .table = &light_table, .help = "sky and sun"},
    {"liquid", RH_PARAM_VARIANT, AT(liquid), "", .variants = rh_look_tables,
     .help = "appearance of the surface; water without it"},
    {"solid", RH_PARAM_VARIANT, AT(solid), "", .variants = rh_look_tables,
     .help = "appearance of the solids; plaster without it"},
    {"ground", RH_PARAM_TABLE, AT(ground), "", .table = &ground_table, .help = "what the scene stands on"},
    {"particles", RH_PARAM_TABLE, AT(particles), "", .table = &particle_table, .help = "pictures of particles"},
    {"paint", RH_PARAM_TABLE, AT(paint), "", .table = &paint_table, .help = "colours of the surface"},
};
#undef AT
const rh_param_table rh_look_table = {"look",          "How `rheo render` draws the scene. Does not change the result.",
                                      look_rows,       RH_PARAM_COUNT(look_rows),
                                      sizeof(rh_look), NULL};
