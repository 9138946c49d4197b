// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Composes the tree from libyaml's events (YAML 1.1). Every loop over input is bounded by the limits in the header, and
// nothing is quadratic in the size of a file: a scene may come from anywhere.
#include "scene/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

typedef struct anchor {
    const char *name;
    rh_yaml_node *node;
    bool open;  // its node is still being read: an alias now would hold itself
} anchor;

typedef struct composer {
    rh_yaml *yaml;
    yaml_parser_t *parser;
    const char *source;
    size_t source_bytes;
    int file;
    anchor *anchors;
    int anchor_count;
    rh_status *status;
} composer;

void rh_yaml_init(rh_yaml *yaml)
{
    *yaml = (rh_yaml){0};
    rh_arena_init(&yaml->arena, "scene.yaml");
}

void rh_yaml_free(rh_yaml *yaml) { rh_arena_free(&yaml->arena); }

static char *keep_text(rh_yaml *yaml, const char *text, size_t bytes, rh_status *status)
{
    char *copy = rh_arena_take(&yaml->arena, bytes + 1, status);
    if (!copy) return NULL;
    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    return copy;
}

int rh_yaml_add_file(rh_yaml *yaml, const char *name, const char *folder, bool setting, rh_status *status)
{
    if (yaml->file_count == yaml->file_capacity) {
        int capacity = yaml->file_capacity ? 2 * yaml->file_capacity : 8;
        rh_yaml_file *files = rh_arena_take(&yaml->arena, (size_t)capacity * sizeof *files, status);
        if (!files) return -1;
        if (yaml->files) memcpy(files, yaml->files, (size_t)yaml->file_count * sizeof *files);
        yaml->files = files;
        yaml->file_capacity = capacity;
    }
    rh_yaml_file file = {keep_text(yaml, name, strlen(name), status), NULL, setting};
    if (!file.name) return -1;
    file.folder = keep_text(yaml, folder, strlen(folder), status);
    if (!file.folder) return -1;
    yaml->files[yaml->file_count] = file;
    return yaml->file_count++;
}

// --- places and messages ---------------------------------------------------------------------------------------------

static char *place_text(const rh_yaml *yaml, int file, int line, int column, char out[RH_YAML_PLACE])
{
    enum { LONGEST = 200 };
    const char *name = yaml->files[file].name;
    size_t length = strlen(name);
    const char *cut = length > LONGEST ? "..." : "";
    if (length > LONGEST) name += length - LONGEST;
    if (yaml->files[file].setting) snprintf(out, RH_YAML_PLACE, "%s%s", cut, name);
    else snprintf(out, RH_YAML_PLACE, "%s%s:%d:%d", cut, name, line, column);
    return out;
}

char *rh_yaml_place(const rh_yaml *yaml, const rh_yaml_node *node, char out[RH_YAML_PLACE])
{
    return place_text(yaml, node->file, node->line, node->column, out);
}

static rh_code fail_at(composer *c, yaml_mark_t mark, const char *problem)
{
    char place[RH_YAML_PLACE];
    return rh_fail(c->status, RH_USER, "%s: %s",
                   place_text(c->yaml, c->file, (int)mark.line + 1, (int)mark.column + 1, place), problem);
}

// libyaml's reader (encoding errors) gives a byte offset instead of a line.
static yaml_mark_t mark_of_offset(const composer *c, size_t offset)
{
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < offset && i < c->source_bytes; i++) {
        unsigned char byte = (unsigned char)c->source[i];
        if (byte == '\n') mark.line++, mark.column = 0;
        else if ((byte & 0xc0) != 0x80) mark.column++;
    }
    return mark;
}

static bool tab_at(const composer *c, yaml_mark_t mark)
{
    size_t line = 0, i = 0;
    for (; line < mark.line && i < c->source_bytes; i++) line += c->source[i] == '\n';
    for (size_t column = 0; column < mark.column && i < c->source_bytes && c->source[i] != '\n'; column++)
        for (i++; i < c->source_bytes && ((unsigned char)c->source[i] & 0xc0) == 0x80;) i++;
    return i < c->source_bytes && c->source[i] == '\t';
}

static rh_code fail_syntax(composer *c)
{
    const yaml_parser_t *p = c->parser;
    char text[256];
    if (p->error == YAML_MEMORY_ERROR) return rh_fail(c->status, RH_MEMORY, "out of memory while parsing YAML");
    bool reader = p->error == YAML_READER_ERROR;
    yaml_mark_t mark = reader ? mark_of_offset(c, p->problem_offset) : p->problem_mark;
    char context[128] = "";
    if (p->context) snprintf(context, sizeof context, " %s (begun at line %zu)", p->context, p->context_mark.line + 1);
    snprintf(text, sizeof text, "YAML: %s%s%s", p->problem ? p->problem : "unreadable", context,
             !reader && tab_at(c, mark) ? "; this is a tab: indent with spaces" : "");
    return fail_at(c, mark, text);
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static rh_code count_node(rh_yaml *yaml, const rh_yaml_node *place, rh_status *status)
{
    char text[RH_YAML_PLACE];
    if (++yaml->node_count <= RH_YAML_MAX_NODES) return RH_OK;
    return rh_fail(status, RH_USER, "%s: more than %d values in one scene, aliases counted as often as they are used",
                   rh_yaml_place(yaml, place, text), RH_YAML_MAX_NODES);
}

rh_yaml_node *rh_yaml_make(rh_yaml *yaml, rh_yaml_kind kind, const rh_yaml_node *place, rh_status *status)
{
    if (count_node(yaml, place, status) != RH_OK) return NULL;
    rh_yaml_node *node = rh_arena_take(&yaml->arena, sizeof *node, status);
    if (node)
        *node = (rh_yaml_node){
            .kind = kind, .file = place->file, .line = place->line, .column = place->column, .text = ""};
    return node;
}

rh_code rh_yaml_append(rh_yaml *yaml, rh_yaml_node *parent, rh_yaml_node *key, rh_yaml_node *value, rh_status *status)
{
    if (parent->count == parent->capacity) {
        int capacity = parent->capacity ? 2 * parent->capacity : 4;
        rh_yaml_item *items = rh_arena_take(&yaml->arena, (size_t)capacity * sizeof *items, status);
        if (!items) return RH_MEMORY;
        if (parent->items) memcpy(items, parent->items, (size_t)parent->count * sizeof *items);
        parent->items = items;
        parent->capacity = capacity;
    }
    parent->items[parent->count++] = (rh_yaml_item){key, value};
    return RH_OK;
}

rh_yaml_node *rh_yaml_find(const rh_yaml_node *mapping, const char *key)
{
    if (mapping->kind != RH_YAML_MAPPING) return NULL;
    for (int i = 0; i < mapping->count; i++)
        if (strcmp(mapping->items[i].key->text, key) == 0) return mapping->items[i].value;
    return NULL;
}

bool rh_yaml_is_nothing(const rh_yaml_node *node)
{
    if (node->kind != RH_YAML_SCALAR || node->quoted) return false;
    return node->text[0] == 0 || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0;
}

typedef struct named {
    const char *name;
    int index;
} named;

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

rh_code rh_yaml_first_duplicate(rh_yaml *yaml, const char *const *names, int count, int *first, int *second,
                                rh_status *status)
{
    *first = *second = -1;
    if (count < 2) return RH_OK;
    rh_arena_mark mark = rh_arena_save(&yaml->arena);
    named *sorted = rh_arena_take(&yaml->arena, (size_t)count * sizeof *sorted, status);
    if (!sorted) return RH_MEMORY;
    int n = 0;
    for (int i = 0; i < count; i++)
        if (names[i]) sorted[n++] = (named){names[i], i};
    qsort(sorted, (size_t)n, sizeof *sorted, by_name);
    for (int i = 1; i < n; i++) {
        if (strcmp(sorted[i - 1].name, sorted[i].name) != 0) continue;
        if (*second >= 0 && *second <= sorted[i].index) continue;
        *first = sorted[i - 1].index;
        *second = sorted[i].index;
    }
    rh_arena_restore(&yaml->arena, mark);
    return RH_OK;
}

// --- composing -------------------------------------------------------------------------------------------------------

static rh_code next_event(composer *c, yaml_event_t *event)
{
    return yaml_parser_parse(c->parser, event) ? RH_OK : fail_syntax(c);
}

static rh_code check_properties(composer *c, const yaml_char_t *tag, yaml_mark_t mark, int depth)
{
    if (tag) return fail_at(c, mark, "tags (a word that starts with '!') are not used in scenes");
    if (depth > RH_YAML_MAX_DEPTH) return fail_at(c, mark, "nested too deeply (more than 64 levels)");
    return RH_OK;
}

static rh_code add_anchor(composer *c, const yaml_char_t *name, yaml_mark_t mark, rh_yaml_node *node, int *index)
{
    *index = -1;
    if (!name) return RH_OK;
    if (c->anchor_count == RH_YAML_MAX_ANCHORS) return fail_at(c, mark, "more than 1000 anchors in one file");
    if (!c->anchors) {
        c->anchors = rh_arena_take(&c->yaml->arena, RH_YAML_MAX_ANCHORS * sizeof *c->anchors, c->status);
        if (!c->anchors) return RH_MEMORY;
    }
    const char *copy = keep_text(c->yaml, (const char *)name, strlen((const char *)name), c->status);
    if (!copy) return RH_MEMORY;
    *index = c->anchor_count++;
    c->anchors[*index] = (anchor){copy, node, true};
    return RH_OK;
}

static rh_code copy_node(composer *c, const rh_yaml_node *from, int depth, yaml_mark_t mark, rh_yaml_node **out)
{
    RH_TRY(check_properties(c, NULL, mark, depth));
    rh_yaml_node *node = rh_yaml_make(c->yaml, from->kind, from, c->status);
    if (!node) return c->status->code;
    node->text = from->text;
    node->quoted = from->quoted;
    node->text_line = from->text_line;
    node->text_column = from->text_column;
    for (int i = 0; i < from->count; i++) {
        rh_yaml_node *value = NULL;
        RH_TRY(copy_node(c, from->items[i].value, depth + 1, mark, &value));
        RH_TRY(rh_yaml_append(c->yaml, node, from->items[i].key, value, c->status));
    }
    *out = node;
    return RH_OK;
}

static rh_code compose_alias(composer *c, const yaml_event_t *event, int depth, rh_yaml_node **out)
{
    const char *name = (const char *)event->data.alias.anchor;
    for (int i = c->anchor_count - 1; i >= 0; i--) {
        if (strcmp(c->anchors[i].name, name) != 0) continue;
        if (c->anchors[i].open) return fail_at(c, event->start_mark, "this alias stands inside the value it refers to");
        return copy_node(c, c->anchors[i].node, depth, event->start_mark, out);
    }
    return fail_at(c, event->start_mark, "this alias has no anchor before it");
}

static rh_code make_at(composer *c, rh_yaml_kind kind, yaml_mark_t mark, rh_yaml_node **out)
{
    rh_yaml_node place = {.file = c->file, .line = (int)mark.line + 1, .column = (int)mark.column + 1};
    *out = rh_yaml_make(c->yaml, kind, &place, c->status);
    return *out ? RH_OK : c->status->code;
}

// Line `line` (from 0) of a text of `bytes` bytes without its end, and its length; NULL when there are not so many.
static const char *line_of(const char *text, size_t bytes, size_t line, size_t *length)
{
    const char *end = text + bytes;
    for (; line > 0 && text; line--) {
        text = memchr(text, '\n', (size_t)(end - text));
        if (text) text++;
    }
    if (!text) return NULL;
    for (*length = 0; text + *length < end && text[*length] != '\n' && text[*length] != '\r';) ++*length;
    return text;
}

// A block after | keeps its lines, all indented alike; a value on one line begins where it stands. Others are put
// together from several lines.
static void find_text(const composer *c, const yaml_event_t *event, rh_yaml_node *node)
{
    yaml_scalar_style_t style = event->data.scalar.style;
    size_t first = 0, inside = 0, outside = 0;
    if (style != YAML_LITERAL_SCALAR_STYLE) {
        if (event->start_mark.line != event->end_mark.line || style == YAML_FOLDED_SCALAR_STYLE) return;
        node->text_line = node->line;
        node->text_column = node->column + (style != YAML_PLAIN_SCALAR_STYLE);
        return;
    }
    while (node->text[strspn(node->text, "\n")] && node->text[first] == '\n') first++;
    const char *mine = line_of(node->text, strlen(node->text), first, &inside);
    const char *line = line_of(c->source, c->source_bytes, event->start_mark.line + 1 + first, &outside);
    if (!mine || !line || outside < inside) return;
    node->text_line = node->line + 1;
    node->text_column = (int)(outside - inside) + 1;
}

// YAML refuses control characters, but not when they are written as escapes. Titles, names and names of files come back
// in messages: a scene of others must not write to the terminal of whoever looks at it what the terminal obeys.
static bool commands_a_terminal(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned char here = (unsigned char)text[i], next = i + 1 < bytes ? (unsigned char)text[i + 1] : 0;
        bool ends_line = here == '\r' && (next == '\n' || i + 1 == bytes);  // of programs written elsewhere
        if ((here < ' ' && here != '\n' && here != '\t' && !ends_line) || here == 127) return true;
        if (here == 0xc2 && next >= 0x80 && next < 0xa0) return true;  // the same by one byte, in UTF-8
    }
    return false;
}

static rh_code compose_scalar(composer *c, const yaml_event_t *event, int depth, rh_yaml_node **out)
{
    yaml_mark_t mark = event->start_mark;
    RH_TRY(check_properties(c, event->data.scalar.tag, mark, depth));
    const char *text = (const char *)event->data.scalar.value;
    size_t bytes = event->data.scalar.length;
    if (memchr(text, 0, bytes)) return fail_at(c, mark, "this text contains a zero byte");
    if (commands_a_terminal(text, bytes))
        return fail_at(c, mark, "this text contains control characters (as \"\\e\" or \"\\r\"), expected letters");
    RH_TRY(make_at(c, RH_YAML_SCALAR, mark, out));
    (*out)->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    (*out)->text = keep_text(c->yaml, text, bytes, c->status);
    if (!(*out)->text) return RH_MEMORY;
    find_text(c, event, *out);
    int index;
    RH_TRY(add_anchor(c, event->data.scalar.anchor, mark, *out, &index));
    if (index >= 0) c->anchors[index].open = false;
    return RH_OK;
}

static rh_code compose(composer *c, const yaml_event_t *event, int depth, rh_yaml_node **out);

// Reads the next node; *out is NULL when the collection ended instead.
static rh_code compose_next(composer *c, int depth, rh_yaml_node **out)
{
    yaml_event_t event;
    *out = NULL;
    RH_TRY(next_event(c, &event));
    rh_code code = RH_OK;
    if (event.type != YAML_SEQUENCE_END_EVENT && event.type != YAML_MAPPING_END_EVENT)
        code = compose(c, &event, depth, out);
    yaml_event_delete(&event);
    return code;
}

static rh_code check_keys(composer *c, const rh_yaml_node *mapping)
{
    char place[RH_YAML_PLACE];
    rh_arena_mark mark = rh_arena_save(&c->yaml->arena);
    const char **names = rh_arena_take(&c->yaml->arena, (size_t)mapping->count * sizeof *names, c->status);
    if (!names) return RH_MEMORY;
    for (int i = 0; i < mapping->count; i++) names[i] = mapping->items[i].key->text;
    int first, second;
    RH_TRY(rh_yaml_first_duplicate(c->yaml, names, mapping->count, &first, &second, c->status));
    rh_arena_restore(&c->yaml->arena, mark);
    if (second < 0) return RH_OK;
    const rh_yaml_node *key = mapping->items[second].key;
    return rh_fail(c->status, RH_USER, "%s: the key '%.60s' was given before, at line %d",
                   rh_yaml_place(c->yaml, key, place), key->text, mapping->items[first].key->line);
}

static rh_code compose_items(composer *c, rh_yaml_node *node, int depth)
{
    char place[RH_YAML_PLACE];
    bool mapping = node->kind == RH_YAML_MAPPING;
    for (;;) {
        rh_yaml_node *key = NULL, *value;
        if (mapping) {
            RH_TRY(compose_next(c, depth + 1, &key));
            if (!key) return check_keys(c, node);
            if (key->kind != RH_YAML_SCALAR)
                return rh_fail(c->status, RH_USER, "%s: a key must be a name, found a list or a mapping",
                               rh_yaml_place(c->yaml, key, place));
        }
        RH_TRY(compose_next(c, depth + 1, &value));
        if (!value) return RH_OK;
        RH_TRY(rh_yaml_append(c->yaml, node, key, value, c->status));
    }
}

static rh_code compose_collection(composer *c, const yaml_event_t *event, int depth, rh_yaml_node **out)
{
    bool mapping = event->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *tag = mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    const yaml_char_t *name = mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    RH_TRY(check_properties(c, tag, event->start_mark, depth));
    RH_TRY(make_at(c, mapping ? RH_YAML_MAPPING : RH_YAML_SEQUENCE, event->start_mark, out));
    int index;
    RH_TRY(add_anchor(c, name, event->start_mark, *out, &index));
    RH_TRY(compose_items(c, *out, depth));
    if (index >= 0) c->anchors[index].open = false;
    return RH_OK;
}

static rh_code compose(composer *c, const yaml_event_t *event, int depth, rh_yaml_node **out)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT: return compose_alias(c, event, depth, out);
    case YAML_SCALAR_EVENT: return compose_scalar(c, event, depth, out);
    default: return compose_collection(c, event, depth, out);
    }
}

// Stream start, document start, one node, document end, stream end. Sets *done when the stream ends.
static rh_code expect(composer *c, yaml_event_type_t type, bool *done)
{
    yaml_event_t event;
    RH_TRY(next_event(c, &event));
    rh_code code = RH_OK;
    *done = event.type == YAML_STREAM_END_EVENT;
    if (!*done && event.type != type)
        code = fail_at(c, event.start_mark, "a second YAML document starts here; a scene is one");
    yaml_event_delete(&event);
    return code;
}

static rh_code compose_document(composer *c, rh_yaml_node **root)
{
    bool done;
    RH_TRY(expect(c, YAML_STREAM_START_EVENT, &done));
    RH_TRY(expect(c, YAML_DOCUMENT_START_EVENT, &done));
    if (done) return RH_OK;
    RH_TRY(compose_next(c, 0, root));
    RH_TRY(expect(c, YAML_DOCUMENT_END_EVENT, &done));
    return expect(c, YAML_STREAM_END_EVENT, &done);
}

rh_code rh_yaml_parse(rh_yaml *yaml, int file, const char *text, size_t bytes, rh_yaml_node **root, rh_status *status)
{
    yaml_parser_t parser;
    rh_status local = {0};  // composing reads codes back from it, so it must exist
    composer c = {
        .yaml = yaml, .parser = &parser, .source = text, .source_bytes = bytes, .file = file, .status = &local};
    *root = NULL;
    if (!yaml_parser_initialize(&parser)) return rh_fail(status, RH_MEMORY, "out of memory while parsing YAML");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    rh_code code = compose_document(&c, root);
    yaml_parser_delete(&parser);
    return code == RH_OK ? RH_OK : rh_fail(status, code, "%s", local.message);
}
