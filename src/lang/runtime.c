// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The life of a running kernel's context, the memory of its strings, and how the requests of blocks become one.
#include "lang/runtime.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "lang/library/library.h"
#include "lang/stop.h"

// Strings that outlive their element: a hash table of texts, which own their bytes.
// And the host's flag, first, where compiled code finds it; never NULL.
typedef struct rh_lang_kept {
    const atomic_int *stop;
    rh_lang_text *texts;      // data NULL: free
    int64_t count, capacity;  // capacity is a power of two
} rh_lang_kept;

rh_code rh_lang_context_init(rh_lang_context *context, const rh_lang_scope *scope, rh_status *status)
{
    memset(context, 0, sizeof *context);
    context->scope = scope;
    context->steps = scope->steps > 0 ? scope->steps : RH_LANG_STEPS_DEFAULT;
    context->text_room = scope->text_room > 0 ? scope->text_room : RH_LANG_TEXT_ROOM;
    context->text_size[0] = context->text_room < RH_LANG_TEXT_BLOCK ? context->text_room : RH_LANG_TEXT_BLOCK;
    context->text[0] = rh_alloc((size_t)context->text_size[0], "lang.text", status);
    context->kept = rh_alloc_zero(sizeof *context->kept, "lang.text", status);
    if (!context->text[0] || !context->kept) {
        rh_lang_context_free(context);
        return RH_MEMORY;
    }
    rh_lang_context_watch(context, NULL);
    rh_lang_context_begin(context, 0);
    return RH_OK;
}

void rh_lang_context_watch(rh_lang_context *context, const atomic_int *stop)
{
    static const atomic_int nobody;
    context->kept->stop = stop ? stop : &nobody;
}

static void free_groups(rh_lang_new_group *groups, int count)
{
    for (int i = 0; i < count; i++) rh_free(groups[i].name), rh_free(groups[i].elements);
    rh_free(groups);
}

void rh_lang_context_free(rh_lang_context *context)
{
    for (int64_t i = 0; context->kept && i < context->kept->capacity; i++)
        rh_free((char *)context->kept->texts[i].data);
    if (context->kept) rh_free(context->kept->texts);
    rh_free(context->kept);
    free_groups(context->new_groups, context->new_group_count);
    rh_neighbour_list_free(&context->found);
    for (int i = 0; i < RH_LANG_TEXT_BLOCKS; i++) rh_free(context->text[i]);
    rh_free(context->printed);
    memset(context, 0, sizeof *context);
}

void rh_lang_context_begin(rh_lang_context *context, int64_t first)
{
    free_groups(context->new_groups, context->new_group_count);
    context->new_groups = NULL, context->new_group_count = context->new_group_capacity = 0;
    context->printed_length = context->printed_lost = 0;
    context->element = first;
    context->twister64_element = context->twister32_element = context->found_element = -1;
    context->steps_left = context->steps;
    context->text_used = 0;
    context->failed = 0;
    rh_status_clear(&context->status);
}

rh_code rh_lang_context_end(rh_lang_context *context, rh_lang_result *result, rh_status *status)
{
    *result = (rh_lang_result){0};
    if (context->failed) return rh_fail(status, context->status.code, "%s", context->status.message);
    result->groups = context->new_groups, result->group_count = context->new_group_count;
    result->printed = context->printed, result->printed_length = context->printed_length,
    result->printed_lost = context->printed_lost;
    context->new_groups = NULL, context->new_group_count = context->new_group_capacity = 0;
    context->printed = NULL, context->printed_length = context->printed_capacity = context->printed_lost = 0;
    return RH_OK;
}

void rh_lang_stop(rh_lang_context *context, rh_code code, const char *format, ...)
{
    char message[sizeof context->status.message];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    rh_fail(&context->status, code, "%s", message);
    context->failed = 1;
    context->steps_left = 0;
}

void rh_lang_out_of_steps(rh_lang_context *context)
{
    rh_lang_stop(context, RH_USER,
                 "the program's loops took more than %lld steps for one element; is the loop endless? If not, allow "
                 "more: --budget of "
                 "rheo ax, budget in a scene",
                 (long long)context->steps);
}

// --- strings ---------------------------------------------------------------------------------------------------------

static int64_t room_in_block(const rh_lang_context *context)
{
    return context->text_size[context->text_block] - (context->text_used - context->text_begin);
}

// On to a block that has room for so many: one that an element before took, or a new one.
static bool next_block(rh_lang_context *context, int64_t bytes)
{
    int block = context->text_block + 1;
    if (block == RH_LANG_TEXT_BLOCKS) return false;
    if (context->text_size[block] < bytes || !context->text[block]) {
        int64_t size = 2 * context->text_size[block - 1];
        char *memory = rh_realloc(context->text[block], (size_t)(size > bytes ? size : bytes), "lang.text", NULL);
        if (!memory) return false;
        context->text[block] = memory;
        context->text_size[block] = size > bytes ? size : bytes;
    }
    context->text_block = block;
    context->text_begin = context->text_used;
    return true;
}

char *rh_lang_text_room(rh_lang_context *context, int64_t bytes)
{
    RH_ASSERT(bytes >= 0);
    if (context->text_used == 0) context->text_block = 0, context->text_begin = 0;  // a new element
    if (bytes > context->text_room - context->text_used ||
        (bytes > room_in_block(context) && !next_block(context, bytes))) {
        rh_lang_stop(
            context, RH_USER,
            "the strings of one element take more than %lld bytes: does a loop append to a string without end?",
            (long long)context->text_room);
        return NULL;
    }
    char *room = context->text[context->text_block] + (context->text_used - context->text_begin);
    context->text_used += bytes;
    return room;
}

// A text that ends where the free memory begins is made longer where it is: a loop that appends takes memory for the
// end only.
static bool append_in_place(rh_lang_context *context, rh_lang_text *out, const rh_lang_text *first,
                            const rh_lang_text *second)
{
    if (context->text_used == 0 || first->length == 0 || second->length > room_in_block(context)) return false;
    char *end = context->text[context->text_block] + (context->text_used - context->text_begin);
    if (first->data + first->length != end || second->length > context->text_room - context->text_used) return false;
    if (second->length > 0) memcpy(end, second->data, (size_t)second->length);
    context->text_used += second->length;
    *out = (rh_lang_text){first->data, first->length + second->length};
    return true;
}

void rh_lang_text_join(rh_lang_context *context, rh_lang_text *out, const rh_lang_text *a, const rh_lang_text *b)
{
    rh_lang_text first = *a, second = *b;  // `out` may be one of them
    *out = (rh_lang_text){"", 0};
    if (append_in_place(context, out, &first, &second)) return;
    char *room = rh_lang_text_room(context, first.length + second.length);
    if (!room) return;
    if (first.length > 0) memcpy(room, first.data, (size_t)first.length);
    if (second.length > 0) memcpy(room + first.length, second.data, (size_t)second.length);
    *out = (rh_lang_text){room, first.length + second.length};
}

static rh_lang_text *kept_slot(const rh_lang_kept *kept, const rh_lang_text *text)
{
    uint64_t mask = (uint64_t)kept->capacity - 1, at = rh_lang_hash_bytes(text->data, text->length) & mask;
    for (;; at = (at + 1) & mask) {
        rh_lang_text *slot = &kept->texts[at];
        if (!slot->data || (slot->length == text->length && memcmp(slot->data, text->data, (size_t)text->length) == 0))
            return slot;
    }
}

static bool kept_grow(rh_lang_kept *kept)
{
    rh_lang_kept grown = {kept->stop, NULL, kept->count, kept->capacity > 0 ? 2 * kept->capacity : 64};
    grown.texts = rh_alloc_zero((size_t)grown.capacity * sizeof *grown.texts, "lang.text", NULL);
    if (!grown.texts) return false;
    for (int64_t i = 0; i < kept->capacity; i++)
        if (kept->texts[i].data) *kept_slot(&grown, &kept->texts[i]) = kept->texts[i];
    rh_free(kept->texts);
    *kept = grown;
    return true;
}

void rh_lang_text_keep(rh_lang_context *context, rh_lang_text *out, const rh_lang_text *text)
{
    rh_lang_kept *kept = context->kept;
    rh_lang_text wanted = *text;
    *out = (rh_lang_text){"", 0};
    if (wanted.length == 0) return;
    if (2 * (kept->count + 1) > kept->capacity && !kept_grow(kept)) {
        rh_lang_stop(context, RH_MEMORY, "out of memory for strings");
        return;
    }
    rh_lang_text *slot = kept_slot(kept, &wanted);
    if (!slot->data) {
        char *copy = rh_alloc((size_t)wanted.length + 1, "lang.text", NULL);  // with a zero, for hosts that hand it on
        if (!copy) {
            rh_lang_stop(context, RH_MEMORY, "out of memory for strings");
            return;
        }
        memcpy(copy, wanted.data, (size_t)wanted.length);
        copy[wanted.length] = 0;
        *slot = (rh_lang_text){copy, wanted.length};
        kept->count++;
    }
    *out = *slot;
}

// --- results ---------------------------------------------------------------------------------------------------------

void rh_lang_result_free(rh_lang_result *result)
{
    free_groups(result->groups, result->group_count);
    rh_free(result->printed);
    *result = (rh_lang_result){0};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const rh_lang_new_group *)a)->name, ((const rh_lang_new_group *)b)->name);
}

// Blocks come in order, so appending keeps the elements ascending.
static rh_code append_group(rh_lang_result *merged, rh_lang_new_group *from, rh_status *status)
{
    for (int i = 0; i < merged->group_count; i++) {
        rh_lang_new_group *to = &merged->groups[i];
        if (strcmp(to->name, from->name) != 0) continue;
        int64_t *grown = rh_realloc(to->elements, (size_t)(to->count + from->count) * sizeof *grown, "lang.groups",
                                    status);
        if (!grown) return RH_MEMORY;
        if (from->count > 0) memcpy(grown + to->count, from->elements, (size_t)from->count * sizeof *grown);
        to->elements = grown, to->count += from->count, to->capacity = to->count;
        return RH_OK;
    }
    rh_lang_new_group *grown = rh_realloc(merged->groups, (size_t)(merged->group_count + 1) * sizeof *grown,
                                          "lang.groups", status);
    if (!grown) return RH_MEMORY;
    merged->groups = grown;
    grown[merged->group_count++] = *from;
    *from = (rh_lang_new_group){0};
    return RH_OK;
}

static rh_code append_print(rh_lang_result *merged, const rh_lang_result *from, rh_status *status)
{
    merged->printed_lost += from->printed_lost;
    if (from->printed_length == 0) return RH_OK;
    char *grown = rh_realloc(merged->printed, (size_t)(merged->printed_length + from->printed_length), "lang.print",
                             status);
    if (!grown) return RH_MEMORY;
    memcpy(grown + merged->printed_length, from->printed, (size_t)from->printed_length);
    merged->printed = grown, merged->printed_length += from->printed_length;
    return RH_OK;
}

rh_code rh_lang_results_merge(rh_lang_result *blocks, int64_t count, rh_lang_result *merged, rh_status *status)
{
    rh_code code = RH_OK;
    *merged = (rh_lang_result){0};
    for (int64_t b = 0; b < count; b++) {
        for (int i = 0; code == RH_OK && i < blocks[b].group_count; i++)
            code = append_group(merged, &blocks[b].groups[i], status);
        if (code == RH_OK) code = append_print(merged, &blocks[b], status);
        rh_lang_result_free(&blocks[b]);
    }
    if (code != RH_OK) rh_lang_result_free(merged);
    else if (merged->group_count > 0)
        qsort(merged->groups, (size_t)merged->group_count, sizeof *merged->groups, by_name);
    return code;
}
