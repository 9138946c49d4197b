// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo collisions: what becomes of two drops of a scene that meet, over the impact parameter and the Weber number, as a
// picture and a table. Every pixel is a collision that was reckoned as in a run (physics/droplets/collision.h). The
// last panel is the share of a small drop that lies in a large one's way, with the formula as printed by the source
// beside ours (R. Jones, "Droplets, Splashes and Sprays", 2018, figures 4.6 and 4.7).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app.h"
#include "base/memory.h"
#include "io/png.h"
#include "physics/droplets/droplets.h"
#include "scene/text.h"
#include "view/caption.h"

enum {
    SIDE = 360,
    LEFT = 62,
    TOP = 46,
    BOTTOM = 46,
    RIGHT = 14,
    WIDTH = LEFT + SIDE + RIGHT,
    HEIGHT = TOP + SIDE + BOTTOM
};
enum { COLUMNS = 2, ROWS = 2, LEGEND = 40, ROWS_OF_TABLE = 101 };
static const double ratios[] = {1, 0.5, 0.25}, MOST_WEBER = 150, SMALL = 0.4;

typedef struct map {
    rh_canvas canvas;
    const rh_droplets_params *params;
    double radius;  // m, of the larger drop
} map;

// --- what becomes of them --------------------------------------------------------------------------------------------
static rh_droplet_outcome collide(const map *m, double ratio, double impact, double weber)
{
    const rh_droplet_law *law = &m->params->law;
    double small = ratio * m->radius, speed = sqrt(weber * law->surface_tension / (2 * law->density * small));
    rh_droplet i = {.r = m->radius}, j = {.x = {0, impact * (m->radius + small), 0}, .u = {-speed, 0, 0}, .r = small};
    rh_droplet_outcome out;
    rh_droplet_collide(law, &i, &j, &out);
    return out;
}

// The share of the small drop as the source prints it, a cap of the path's width, which falls below zero.
static double printed_share(double delta, double impact)
{
    double t = (1 - impact) * (1 + delta) / delta;
    return t * t * (3 - t) / 4;
}

// --- drawing ---------------------------------------------------------------------------------------------------------
static void put(const map *m, int x, int y, const uint8_t ink[3])
{
    if (x < 0 || y < 0 || x >= m->canvas.width || y >= m->canvas.height) return;
    memcpy(m->canvas.bytes + 3 * ((size_t)y * (size_t)m->canvas.width + (size_t)x), ink, 3);
}

// The more drops are shed the darker.
static void color_of(rh_droplet_kind kind, int shed, uint8_t ink[3])
{
    static const uint8_t base[RH_DROPLETS_KINDS][3] = {
        {176, 208, 236}, {250, 214, 150}, {240, 176, 168}, {190, 226, 180}, {220, 220, 220}};
    double share = 1 - 0.11 * fmin(shed, 6);
    for (int k = 0; k < 3; k++) ink[k] = (uint8_t)(base[kind][k] * share);
}

static void frame(const map *m, int left, int top, const char *title, const char *across, const char *up, double low,
                  double high)
{
    static const uint8_t line[3] = {60, 66, 76};
    char text[32];
    for (int n = 0; n <= SIDE; n++) {
        put(m, left + n, top, line), put(m, left + n, top + SIDE, line);
        put(m, left, top + n, line), put(m, left + SIDE, top + n, line);
    }
    for (int n = 0; n <= 5; n++) {
        int x = left + n * SIDE / 5, y = top + SIDE - n * SIDE / 5;
        for (int k = 0; k < 5; k++) put(m, x, top + SIDE - k, line), put(m, left + k, y, line);
        snprintf(text, sizeof text, "%.1f", n / 5.0);
        rh_caption_text(&m->canvas, x - 9, top + SIDE + 6, 1, text);
        snprintf(text, sizeof text, "%5.4g", low + (high - low) * n / 5);
        rh_caption_text(&m->canvas, left - 36, y - 4, 1, text);
    }
    rh_caption_text(&m->canvas, left, top - 20, 2, title);
    rh_caption_text(&m->canvas, left + SIDE - 6 * (int)strlen(across), top + SIDE + 20, 1, across);
    rh_caption_text(&m->canvas, left - 56, top - 14, 1, up);
}

static void curve(const map *m, int left, int top, double low, double high, double (*value)(double, double),
                  double ratio, const uint8_t ink[3])
{
    double before = NAN;
    for (int n = 0; n <= SIDE; n++) {
        double v = (value(ratio, n / (double)SIDE) - low) / (high - low);
        bool inside = v >= 0 && v <= 1;
        int from = (int)(SIDE * (isfinite(before) ? fmin(fmax(before, 0), 1) : fmin(fmax(v, 0), 1)));
        int to = (int)(SIDE * fmin(fmax(v, 0), 1));
        if (isfinite(v) && (inside || (isfinite(before) && before >= 0 && before <= 1)))
            for (int y = from < to ? from : to; y <= (from < to ? to : from); y++)
                for (int wide = 0; wide < 2; wide++) put(m, left + n, top + SIDE - y + wide, ink);
        before = v;
    }
}

static double small_share(double delta, double impact)
{
    double phi_i, phi_j;
    rh_droplet_shares(delta, impact, &phi_i, &phi_j);
    return phi_j;
}

static void draw_outcomes(const map *m, int left, int top, double ratio)
{
    static const uint8_t ink[3] = {20, 24, 30};
    char title[64];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            uint8_t color[3];
            rh_droplet_outcome out = collide(m, ratio, (x + 0.5) / SIDE, MOST_WEBER * (SIDE - y - 0.5) / SIDE);
            color_of(out.kind, out.shed, color);
            put(m, left + x, top + y, color);
        }
    curve(m, left, top, 0, MOST_WEBER, rh_droplet_stretching, ratio, ink);
    curve(m, left, top, 0, MOST_WEBER, rh_droplet_reflexive, ratio, ink);
    snprintf(title, sizeof title, "radii 1 : %g", ratio);
    frame(m, left, top, title, "impact parameter X", "Weber", 0, MOST_WEBER);
}

static void draw_shares(const map *m, int left, int top)
{
    static const uint8_t ours[3] = {30, 90, 170}, printed[3] = {200, 60, 50};
    curve(m, left, top, -2, 2, printed_share, SMALL, printed);
    curve(m, left, top, -2, 2, small_share, SMALL, ours);
    frame(m, left, top, "share in the way, 1 : 0.4", "impact parameter X", "share", -2, 2);
    rh_caption_text(&m->canvas, left + 150, top + SIDE - 130, 1, "red: as printed; blue: as used");
}

static void draw_legend(const map *m)
{
    static const char *const names[] = {"merge", "stretch and part", "reflexive separation", "bounce", "too large"};
    int x = LEFT, y = ROWS * HEIGHT;
    for (int k = 0; k < RH_DROPLETS_KINDS; k++) {
        uint8_t ink[3];
        color_of((rh_droplet_kind)k, 0, ink);
        for (int n = 0; n < 14 * 14; n++) put(m, x + n % 14, y + n / 14, ink);
        rh_caption_text(&m->canvas, x + 20, y + 3, 1, names[k]);
        x += 40 + 6 * (int)strlen(names[k]);
    }
    rh_caption_text(&m->canvas, x, y + 3, 1, "darker: more drops are shed");
}

// --- files -----------------------------------------------------------------------------------------------------------
static rh_code write_table(const char *path, rh_status *status)
{
    rh_text text = {0};
    rh_text_add(&text, "ratio,impact,we_stretching,we_reflexive,we_bouncing,share_large,share_small\n");
    for (size_t n = 0; n < sizeof ratios / sizeof *ratios; n++)
        for (int k = 0; k < ROWS_OF_TABLE; k++) {
            double x = k / (double)(ROWS_OF_TABLE - 1), large, small;
            rh_droplet_shares(ratios[n], x, &large, &small);
            rh_text_add(&text, "%g,%g,%.9g,%.9g,%.9g,%.9g,%.9g\n", ratios[n], x, rh_droplet_stretching(ratios[n], x),
                        rh_droplet_reflexive(ratios[n], x), rh_droplet_bouncing(ratios[n], x), large, small);
        }
    char *all = rh_text_take(&text, status);
    if (!all) return RH_MEMORY;
    rh_code code = rh_file_write(path, all, strlen(all), status);
    rh_free(all);
    return code;
}

static rh_code draw(const rh_droplets_params *params, const char *path, rh_status *status)
{
    map m = {{COLUMNS * WIDTH, ROWS * HEIGHT + LEGEND, NULL, NULL}, params, params->radius > 0 ? params->radius : 1e-3};
    size_t bytes = (size_t)m.canvas.width * (size_t)m.canvas.height * 3;
    m.canvas.bytes = rh_alloc(bytes, "app.collisions", status);
    if (!m.canvas.bytes) return RH_MEMORY;
    memset(m.canvas.bytes, 250, bytes);
    for (int n = 0; n < 3; n++) draw_outcomes(&m, n % COLUMNS * WIDTH + LEFT, n / COLUMNS * HEIGHT + TOP, ratios[n]);
    draw_shares(&m, WIDTH + LEFT, HEIGHT + TOP);
    draw_legend(&m);
    rh_code code = rh_png_write(path, m.canvas.width, m.canvas.height, m.canvas.bytes, status);
    rh_free(m.canvas.bytes);
    return code;
}

static const rh_droplets_params *drops_of(const rh_scene *scene)
{
    for (int i = 0; i < rh_scene_material_count(scene); i++) {
        const rh_material_params *m = rh_scene_material(scene, i);
        if (rh_physics_methods[m->physics.kind] == &rh_droplets) return m->physics.value;
    }
    return NULL;
}

static rh_code choose_paths(const app_arguments *arguments, char picture[RH_PATH_MAX], char table[RH_PATH_MAX],
                            rh_status *status)
{
    const char *out = arguments->out ? arguments->out : "collisions.png";
    size_t length = strlen(out);
    if (length < 5 || strcmp(out + length - 4, ".png") != 0 || length >= RH_PATH_MAX)
        return rh_fail(status, RH_USER, "--out: found \"%.200s\", expected a name that ends in .png", out);
    snprintf(picture, RH_PATH_MAX, "%s", out);
    snprintf(table, RH_PATH_MAX, "%.*s.csv", (int)(length - 4), out);
    for (int n = 0; n < 2 && !arguments->force; n++)
        if (rh_file_exists(n ? table : picture))
            return rh_fail(status, RH_USER, "%s is there already; --force replaces it", n ? table : picture);
    return RH_OK;
}

static rh_code draw_scene(const app_arguments *arguments, const rh_scene *scene, rh_status *status)
{
    char picture[RH_PATH_MAX], table[RH_PATH_MAX];
    const rh_droplets_params *params = drops_of(scene);
    if (!params)
        return rh_fail(status, RH_USER, "%s: found no material of the method droplets, expected one", scene->file);
    RH_TRY(choose_paths(arguments, picture, table, status));
    RH_TRY(draw(params, picture, status));
    RH_TRY(write_table(table, status));
    printf("%s\n%s\n", picture, table);
    return RH_OK;
}

static int run(const app_arguments *arguments)
{
    rh_status status = {0};
    rh_scene scene;
    if (app_scene_load(arguments, arguments->operand, true, &scene, &status) != RH_OK) return app_report(&status);
    rh_code code = draw_scene(arguments, &scene, &status);
    rh_scene_free(&scene);
    return code == RH_OK ? app_finish_output() : app_report(&status);
}

#define AT(field) offsetof(app_arguments, field)
static const app_option options[] = {
    {"out", APP_TEXT, AT(out), "FILE.png", "the picture; the table is FILE.csv; without it collisions.png"},
    {"set", APP_TEXTS, AT(sets), "PATH=VALUE", "changes a value of the scene; may be given more than once"},
    {"force", APP_FLAG, AT(force), NULL, "replaces files that are there"},
    APP_SANDBOX,
};
const app_command app_collisions = {
    .name = "collisions",
    .operand = "SCENE",
    .operand_required = true,
    .summary = "draw what becomes of two drops of a scene that meet",
    .details =
        "For drops of equal size and of a half and a quarter: merging, parting and how many drops are shed, over\n"
        "the impact parameter (0 head on, 1 grazing) and the Weber number; with the thresholds as a table.\n\n"
        "  rheo collisions scenes/droplets/geyser.yaml --set physics.droplets.bounce=true\n",
    .options = options,
    .option_count = APP_OPTION_COUNT(options),
    .run = run,
};
