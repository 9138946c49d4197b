// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Merging is driven by the parameter tables, so it costs rows times keys whatever a file holds: keys that no table
// knows are only carried along for the reader to complain about.
#include "scene/include.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/regular.h"
#include "scene/renamed.h"
#include "scene/words.h"

// The files that are being read now, innermost first: one of them again is a cycle.
typedef struct open_file {
    const struct open_file *outer;
    dev_t device;
    ino_t inode;
    bool known;  // text from memory has no identity
} open_file;

typedef struct loader {
    rh_yaml *yaml;
    const rh_param_table *table;
    const char *sandbox;  // NULL = none
    bool alone;           // nothing may be included
    rh_status *status;
} loader;

static rh_code load_file(loader *l, const char *path, const rh_yaml_node *place, const open_file *outer,
                         rh_yaml_node **root);

// --- reading bytes ---------------------------------------------------------------------------------------------------

static rh_code cannot_read(loader *l, const rh_yaml_node *place, const char *path, const char *why)
{
    char text[RH_YAML_PLACE];
    if (place)
        return rh_fail(l->status, RH_USER, "%s: cannot read the included file '%.300s': %s",
                       rh_yaml_place(l->yaml, place, text), path, why);
    return rh_fail(l->status, RH_IO, "%.300s: cannot read: %s", path, why);
}

// Reads to the end of file, at most one byte over the limit: pipes do not tell their size.
static rh_code read_all(int handle, char **out, size_t *bytes, const char **why, rh_status *status)
{
    size_t capacity = 1 << 16, used = 0;
    char *text = rh_alloc(capacity, "scene.file", status);
    if (!text) return RH_MEMORY;
    for (;;) {
        ssize_t n = read(handle, text + used, capacity - used);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) *why = strerror(errno);
        if (n <= 0) break;
        used += (size_t)n;
        if (used > RH_YAML_MAX_BYTES) *why = "larger than 16 MiB, the limit of a scene file";
        if (*why) break;
        if (used < capacity) continue;
        char *more = rh_realloc(text, capacity *= 2, "scene.file", status);
        if (!more) return rh_free(text), RH_MEMORY;
        text = more;
    }
    *out = text;
    *bytes = used;
    return RH_OK;
}

static rh_code read_file(loader *l, const char *path, const rh_yaml_node *place, open_file *self, char **text,
                         size_t *bytes)
{
    struct stat info;
    const char *why = NULL;
    if (place && l->sandbox && !rh_path_is_inside(path, l->sandbox))
        return cannot_read(l, place, path, "it lies outside of the folder given by --sandbox");
    // An included pipe or device could block for ever; the root may be one (a generated scene).
    int handle = place ? rh_open_regular(path, &why) : open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0) return cannot_read(l, place, path, why ? why : strerror(errno));
    if (fstat(handle, &info) == 0) {
        self->device = info.st_dev;
        self->inode = info.st_ino;
        self->known = true;
    }
    *text = NULL;
    rh_code code = read_all(handle, text, bytes, &why, l->status);
    close(handle);
    if (code == RH_OK && why) {
        code = cannot_read(l, place, path, why);
        rh_free(*text);
    }
    return code;
}

// --- merging ---------------------------------------------------------------------------------------------------------

static rh_code merge(loader *l, const rh_param_table *table, rh_yaml_node *base, const rh_yaml_node *over);

static bool both(const rh_yaml_node *a, const rh_yaml_node *b, rh_yaml_kind kind)
{
    return a->kind == kind && b->kind == kind;
}

static const rh_param_table *shared_alternative(const rh_param *row, const rh_yaml_node *a, const rh_yaml_node *b)
{
    if (!both(a, b, RH_YAML_MAPPING) || a->count != 1 || b->count != 1) return NULL;
    int kind = rh_words_variant(row->variants, a->items[0].key->text);
    if (kind < 0 || strcmp(b->items[0].key->text, row->variants[kind]->name) != 0) return NULL;
    return both(a->items[0].value, b->items[0].value, RH_YAML_MAPPING) ? row->variants[kind] : NULL;
}

static rh_code merge_item(loader *l, const rh_param *row, bool root, rh_yaml_item *base, const rh_yaml_item *over)
{
    rh_yaml_node *a = base->value, *b = over->value;
    const rh_param_table *alternative = row->type == RH_PARAM_VARIANT ? shared_alternative(row, a, b) : NULL;
    if (alternative) return merge(l, alternative, a->items[0].value, b->items[0].value);
    bool block = row->type == RH_PARAM_TABLE || row->type == RH_PARAM_OPTIONAL;
    if (block && both(a, b, RH_YAML_MAPPING)) return merge(l, row->table, a, b);
    if (row->type == RH_PARAM_LIST && root && both(a, b, RH_YAML_SEQUENCE)) {
        for (int i = 0; i < b->count; i++) RH_TRY(rh_yaml_append(l->yaml, a, NULL, b->items[i].value, l->status));
        return RH_OK;
    }
    *base = *over;
    return RH_OK;
}

static rh_code merge(loader *l, const rh_param_table *table, rh_yaml_node *base, const rh_yaml_node *over)
{
    int old_count = base->count;
    for (int i = 0; i < over->count; i++) {
        const rh_yaml_item *item = &over->items[i];
        const rh_param *row = rh_params_find(table, item->key->text);
        int k = row ? 0 : old_count;
        while (k < old_count && strcmp(base->items[k].key->text, row->name) != 0) k++;
        if (k < old_count) RH_TRY(merge_item(l, row, table == l->table, &base->items[k], item));
        else RH_TRY(rh_yaml_append(l->yaml, base, item->key, item->value, l->status));
    }
    return RH_OK;
}

// --- including -------------------------------------------------------------------------------------------------------

// Joins the folder part of `from` (empty when it has none) and `path`, which may be absolute. In the arena.
static char *path_beside(loader *l, const char *from, const char *path)
{
    const char *slash = path[0] == '/' ? NULL : strrchr(from, '/');
    int folder = slash ? (int)(slash - from) + 1 : 0;
    size_t bytes = (size_t)folder + strlen(path) + 1;
    char *out = rh_arena_take(&l->yaml->arena, bytes, l->status);
    if (out) snprintf(out, bytes, "%.*s%s", folder, from, path);
    return out;
}

static rh_code include_one(loader *l, const rh_yaml_node *name, const open_file *self, rh_yaml_node **base)
{
    char place[RH_YAML_PLACE], found[RH_WORDS_FOUND];
    if (name->kind != RH_YAML_SCALAR || rh_yaml_is_nothing(name) || !name->text[0])
        return rh_fail(l->status, RH_USER, "%s: include: expected the name of a file, found %s",
                       rh_yaml_place(l->yaml, name, place), rh_words_found(name, found));
    if (l->yaml->file_count >= RH_YAML_MAX_FILES)
        return rh_fail(l->status, RH_USER, "%s: more than %d files included", rh_yaml_place(l->yaml, name, place),
                       RH_YAML_MAX_FILES);
    char *path = path_beside(l, l->yaml->files[name->file].name, name->text);
    if (!path) return RH_MEMORY;
    rh_yaml_node *other;
    RH_TRY(load_file(l, path, name, self, &other));
    if (*base) return merge(l, l->table, *base, other);
    *base = other;
    return RH_OK;
}

// Takes `include` out of the root, so that the reader need not know it.
static rh_yaml_node *take_include(rh_yaml_node *root)
{
    for (int i = 0; i < root->count; i++) {
        if (strcmp(root->items[i].key->text, "include") != 0) continue;
        rh_yaml_node *value = root->items[i].value;
        memmove(&root->items[i], &root->items[i + 1], (size_t)(root->count - i - 1) * sizeof *root->items);
        root->count--;
        return value;
    }
    return NULL;
}

static rh_code resolve(loader *l, const open_file *self, rh_yaml_node *own, rh_yaml_node **root)
{
    rh_yaml_node *includes = take_include(own), *base = NULL;
    char place[RH_YAML_PLACE];
    if (includes && l->alone)
        return rh_fail(l->status, RH_USER,
                       "%s: include: found another file, expected a complete scene as runs write it",
                       rh_yaml_place(l->yaml, includes, place));
    if (includes && includes->kind == RH_YAML_SEQUENCE) {
        for (int i = 0; i < includes->count; i++) RH_TRY(include_one(l, includes->items[i].value, self, &base));
    } else if (includes) {
        RH_TRY(include_one(l, includes, self, &base));
    }
    *root = base ? base : own;
    if (!base) return RH_OK;
    RH_TRY(merge(l, l->table, base, own));
    // What is missing as a whole is the including file's fault.
    base->file = own->file, base->line = own->line, base->column = own->column;
    return RH_OK;
}

static int add_file(loader *l, const char *name)
{
    char folder[PATH_MAX];
    char *beside = path_beside(l, name, ".");
    if (!beside) return -1;
    if (!realpath(beside, folder)) snprintf(folder, sizeof folder, "%s", beside);
    return rh_yaml_add_file(l->yaml, name, folder, false, l->status);
}

// Whoever writes a scene may name any file for an include. One that is no scene may be somebody's secret, and messages
// about scenes quote what they found: so such a file is refused as a whole. A scene is known by a key that hardly
// anything else has at the start of a line.
static bool looks_like_scene(const char *text, size_t bytes)
{
    static const char *const keys[] = {"rheo",  "cell",   "gravity",     "physics",    "bodies", "solids",  "emitters",
                                       "sinks", "forces", "expressions", "checkpoint", "look",   "surface", "include"};
    for (const char *line = text, *end = text + bytes; line && line < end;
         line = memchr(line, '\n', (size_t)(end - line)), line = line ? line + 1 : NULL)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            size_t length = strlen(keys[i]);
            if ((size_t)(end - line) > length && memcmp(line, keys[i], length) == 0 && line[length] == ':') return true;
        }
    return false;
}

static bool all_known(const rh_param_table *table, const rh_yaml_node *root)
{
    for (int i = 0; i < root->count; i++)
        if (!rh_params_find(table, root->items[i].key->text) && !rh_params_find_former(table, root->items[i].key->text))
            return false;
    return true;
}

static rh_code not_a_scene(loader *l, const rh_yaml_node *place, const char *path)
{
    char text[RH_YAML_PLACE];
    return rh_fail(l->status, RH_USER,
                   "%s: the included file '%.300s' is not a scene: expected keys such as physics, bodies or solids",
                   rh_yaml_place(l->yaml, place, text), path);
}

static rh_code load_text(loader *l, const char *name, const rh_yaml_node *place, const char *text, size_t bytes,
                         const open_file *self, rh_yaml_node **root)
{
    int file = add_file(l, name);
    if (file < 0) return RH_MEMORY;
    rh_yaml_node *own;
    bool trusted = !place || looks_like_scene(text, bytes);
    rh_code parsed = rh_yaml_parse(l->yaml, file, text, bytes, &own, trusted ? l->status : NULL);
    if (parsed == RH_MEMORY)
        return trusted ? parsed : rh_fail(l->status, RH_MEMORY, "out of memory while reading a scene");
    if (!trusted && (parsed != RH_OK || !own || own->kind != RH_YAML_MAPPING || !all_known(l->table, own)))
        return not_a_scene(l, place, name);
    if (parsed != RH_OK) return parsed;
    const rh_yaml_node start = {.file = file, .line = 1, .column = 1};
    char where[RH_YAML_PLACE], found[RH_WORDS_FOUND] = "an empty file";
    if (own) rh_words_found(own, found);
    if (!own || own->kind != RH_YAML_MAPPING)
        return rh_fail(l->status, RH_USER, "%s: expected a scene (keys and values, beginning with 'rheo: 1'), found %s",
                       rh_yaml_place(l->yaml, own ? own : &start, where), found);
    RH_TRY(rh_renamed_apply(l->yaml, l->table, own, l->status));
    return resolve(l, self, own, root);
}

static rh_code load_file(loader *l, const char *path, const rh_yaml_node *place, const open_file *outer,
                         rh_yaml_node **root)
{
    open_file self = {.outer = outer};
    char *text = NULL, where[RH_YAML_PLACE];
    size_t bytes = 0;
    RH_TRY(read_file(l, path, place, &self, &text, &bytes));
    rh_code code = RH_OK;
    for (const open_file *o = outer; o && code == RH_OK; o = o->outer)
        if (o->known && self.known && o->device == self.device && o->inode == self.inode)
            code = rh_fail(l->status, RH_USER, "%s: '%.300s' includes itself through this line",
                           rh_yaml_place(l->yaml, place, where), path);
    if (code == RH_OK) code = load_text(l, path, place, text, bytes, &self, root);
    rh_free(text);
    return code;
}

rh_code rh_include_file(rh_yaml *yaml, const rh_param_table *table, const char *path, const char *sandbox,
                        rh_yaml_node **root, rh_status *status)
{
    loader l = {yaml, table, sandbox, false, status};
    return load_file(&l, path, NULL, NULL, root);
}

rh_code rh_include_text(rh_yaml *yaml, const rh_param_table *table, const char *name, const char *text, size_t bytes,
                        const char *sandbox, bool alone, rh_yaml_node **root, rh_status *status)
{
    loader l = {yaml, table, sandbox, alone, status};
    const open_file self = {0};
    return load_text(&l, name, NULL, text, bytes, &self, root);
}
