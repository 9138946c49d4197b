// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The tree gives edges "this is assigned from that" between attributes, variables and conditions; the answer is their
// transitive closure over the attributes. The order of statements is not looked at, so an answer may name too many
// attributes, never too few. A condition influences what is assigned under it; one that guards a jump (return, break,
// continue) influences everything. Conditions are nodes of their own: the number of edges stays in proportion to the
// program.
#include "lang/depend.h"
#include <string.h>
#include "lang/operators.h"

typedef struct edge {
    int target, source;  // 0: everything; then attributes, locals, conditions
} edge;

typedef struct collector {
    rh_lang_unit *unit;
    const rh_lang_options *options;
    const rh_lang_facts *facts;
    edge *edges;
    int count, capacity;
    int members;    // of the graph so far
    int condition;  // the innermost open one, 0 for none
} collector;

static int variable_of(const collector *c, const rh_lang_node *node)
{
    if (node->kind == RH_LANG_ATTRIBUTE) return 1 + node->slot;
    return node->kind == RH_LANG_LOCAL || node->kind == RH_LANG_DECLARE ? 1 + c->facts->attribute_count + node->slot
                                                                        : 0;
}

static const rh_lang_node *root_of(const rh_lang_node *target)
{
    while (target->kind == RH_LANG_INDEX || target->kind == RH_LANG_CREMENT) target = target->first;
    return target;
}

static void add_edge(collector *c, int target, int source)
{
    if (c->count == c->capacity) {
        int capacity = c->capacity ? 2 * c->capacity : 64;
        edge *wider = rh_arena_take(&c->unit->arena, (size_t)capacity * sizeof *wider, c->unit->status);
        if (!wider) {
            c->unit->failed = true;
            return;
        }
        if (c->count) memcpy(wider, c->edges, (size_t)c->count * sizeof *wider);
        c->edges = wider;
        c->capacity = capacity;
    }
    c->edges[c->count++] = (edge){target, source};
}

// Everything named in `from` influences the target.
static void add_edges(collector *c, int target, const rh_lang_node *from)
{
    if (c->unit->failed) return;
    int source = variable_of(c, from);
    if (source) add_edge(c, target, source);
    for (const rh_lang_node *child = from->first; child; child = child->next) add_edges(c, target, child);
}

static void assign(collector *c, const rh_lang_node *target, const rh_lang_node *value)
{
    int variable = variable_of(c, root_of(target));
    if (!variable) return;
    if (value) add_edges(c, variable, value);
    // What is assigned in part keeps the rest, and an index decides which part.
    if (target->kind != RH_LANG_LOCAL && target->kind != RH_LANG_ATTRIBUTE && target->kind != RH_LANG_DECLARE)
        add_edges(c, variable, target);
    if (c->condition) add_edge(c, variable, c->condition);
}

static void visit(collector *c, const rh_lang_node *node);

// A new condition under the one that is open.
static int open_condition(collector *c, const rh_lang_node *condition)
{
    int outer = c->condition;
    c->condition = c->members++;
    add_edges(c, c->condition, condition);
    if (outer) add_edge(c, c->condition, outer);
    return outer;
}

static void visit_call(collector *c, const rh_lang_node *node)
{
    rh_lang_signature signature;
    if (!rh_lang_signature_read(rh_lang_row(c->options, node->slot)->signature, &signature)) return;
    int i = 0;
    for (const rh_lang_node *argument = node->first; argument; argument = argument->next, i++)
        if (signature.written[i])
            for (const rh_lang_node *other = node->first; other; other = other->next) assign(c, argument, other);
}

static void visit(collector *c, const rh_lang_node *node)
{
    if (c->unit->failed) return;
    switch (node->kind) {
    case RH_LANG_ASSIGN:
        assign(c, node->first, node->last);
        if (node->operation != RH_LANG_NONE) assign(c, node->first, node->first);
        break;
    case RH_LANG_CREMENT: assign(c, node->first, node->first); break;
    case RH_LANG_DECLARE:
        if (node->count) assign(c, node, node->first);
        break;
    case RH_LANG_CALL: visit_call(c, node); break;
    case RH_LANG_RETURN:
    case RH_LANG_BREAK:
    case RH_LANG_CONTINUE:
        if (c->condition) add_edge(c, 0, c->condition);
        break;
    default: break;
    }
    const rh_lang_node *condition = node->kind == RH_LANG_IF || node->kind == RH_LANG_TERNARY ? node->first
                                    : node->kind == RH_LANG_FOR                               ? node->first->next
                                    : node->kind == RH_LANG_DO                                ? node->last
                                                                                              : NULL;
    bool shortcut = node->kind == RH_LANG_BINARY && (node->operation == RH_LANG_AND || node->operation == RH_LANG_OR);
    if (shortcut) condition = node->first;
    if (condition) visit(c, condition);
    int outer = condition ? open_condition(c, condition) : c->condition;
    for (const rh_lang_node *child = node->first; child; child = child->next)
        if (child != condition) visit(c, child);
    c->condition = outer;
}

static bool merge(uint64_t *into, const uint64_t *from, int words)
{
    bool changed = false;
    for (int i = 0; i < words; i++) {
        changed |= (from[i] & ~into[i]) != 0;
        into[i] |= from[i];
    }
    return changed;
}

static bool put_bit(uint64_t *into, int bit)
{
    bool changed = !(into[bit / 64] >> (bit % 64) & 1);
    into[bit / 64] |= (uint64_t)1 << (bit % 64);
    return changed;
}

static bool follow(const collector *c, uint64_t *sets, int words, const edge *e)
{
    uint64_t *target = sets + (size_t)e->target * (size_t)words;
    bool changed = merge(target, sets + (size_t)e->source * (size_t)words, words);
    if (e->source >= 1 && e->source <= c->facts->attribute_count) changed |= put_bit(target, e->source - 1);
    return changed;
}

// There and back: a chain is followed to its end at once, whichever way its statements stand.
static void close_over(const collector *c, uint64_t *sets, int words)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < c->count; i++) changed |= follow(c, sets, words, &c->edges[i]);
        for (int i = c->count; i-- > 0;) changed |= follow(c, sets, words, &c->edges[i]);
        for (int i = 1; i < c->members; i++) changed |= merge(sets + (size_t)i * (size_t)words, sets, words);
    }
}

bool rh_lang_depend(rh_lang_unit *unit, const rh_lang_node *program, const rh_lang_options *options,
                    rh_lang_facts *facts)
{
    int words = (facts->attribute_count + 63) / 64;
    collector c = {
        .unit = unit, .options = options, .facts = facts, .members = 1 + facts->attribute_count + facts->local_count};
    visit(&c, program);
    if (unit->failed) return false;
    uint64_t *sets = rh_arena_take_zero(&unit->arena, ((size_t)c.members * (size_t)words + 1) * sizeof *sets,
                                        unit->status);
    if (!sets) return false;
    close_over(&c, sets, words);
    facts->depends = sets + words;  // attributes begin after "everything"
    return true;
}
