// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Variables, operands, expressions. The order of evaluation is that of OpenVDB AX, whose programs show it: operands
// from left to right, and a variable is read not when it is met but when the operator runs, after all operands: a + a++
// is 4 + 3 for an a of 3. So an operand that is a place (rh_lang_operand) stays one until it is taken. Places are
// variables, attributes, their elements, what ++a and an assignment leave, +p of a place, the last of a comma; and c ?
// p : q where both are places of one type, of vectors, matrices and strings also where one is. Conditions (of ?:, &&,
// ||) and indices are read at once.
#include "base/memory.h"
#include "lang/emit.h"
#include "lang/operators.h"

static void go(rh_lang_emitter *e, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(e->builder, block); }

static void jump(rh_lang_emitter *e, LLVMBasicBlockRef to) { LLVMBuildBr(e->builder, to); }

// ---- variables

LLVMTypeRef rh_lang_emit_part_type(rh_lang_emitter *e, rh_lang_type type, int part)
{
    return type == RH_LANG_STRING ? (part ? e->i64 : e->bytes) : e->element[rh_lang_type_element(type)];
}

rh_lang_store rh_lang_emit_new_store(rh_lang_emitter *e, rh_lang_type type)
{
    rh_lang_store store = {.type = type};
    for (int i = 0; i < rh_lang_value_parts(type); i++)
        store.part[i] = rh_lang_emit_slot(e, rh_lang_emit_part_type(e, type, i));
    return store;
}

rh_lang_value rh_lang_emit_load(rh_lang_emitter *e, const rh_lang_store *store)
{
    rh_lang_value out = {.type = store->type};
    for (int i = 0; i < rh_lang_value_parts(store->type); i++)
        out.part[i] = LLVMBuildLoad2(e->builder, rh_lang_emit_part_type(e, store->type, i), store->part[i], "");
    return out;
}

void rh_lang_emit_put(rh_lang_emitter *e, const rh_lang_store *store, const rh_lang_value *value)
{
    for (int i = 0; i < rh_lang_value_parts(store->type); i++)
        LLVMBuildStore(e->builder, value->part[i], store->part[i]);
}

static LLVMValueRef in_range(rh_lang_emitter *e, LLVMValueRef index, int limit)
{
    return LLVMBuildICmp(e->builder, LLVMIntULT, index, LLVMConstInt(e->i64, (unsigned)limit, 0), "");
}

static LLVMValueRef least(rh_lang_emitter *e, LLVMValueRef a, LLVMValueRef b)
{
    return rh_lang_emit_choose(e, LLVMBuildICmp(e->builder, LLVMIntSLT, a, b, ""), a, b);
}

// Remembers that this index was outside, if it is the first of its element. Leaving the loop would stop the vectoriser;
// so would a minimum over all elements here, of which it takes one a loop: that one is taken at the end of the element.
static void note_outside(rh_lang_emitter *e, LLVMValueRef inside, LLVMValueRef index, int site)
{
    if (site >= RH_LANG_MOST_SITES) site = RH_LANG_MOST_SITES - 1;
    int64_t most = ((int64_t)1 << (RH_LANG_INDEX_BITS - 1)) - 1;
    LLVMValueRef high = LLVMConstInt(e->i64, (unsigned long long)most, 0),
                 low = LLVMConstInt(e->i64, (unsigned long long)-most, 1);
    LLVMValueRef cut = least(e, index, high), below = LLVMBuildICmp(e->builder, LLVMIntSLT, cut, low, "");
    cut = LLVMBuildAdd(e->builder, rh_lang_emit_choose(e, below, low, cut),
                       LLVMConstInt(e->i64, (unsigned long long)most + 1, 0), "");
    LLVMValueRef key = LLVMBuildShl(e->builder, e->number,
                                    LLVMConstInt(e->i64, RH_LANG_SITE_BITS + RH_LANG_INDEX_BITS, 0), "");
    key = LLVMBuildOr(e->builder, key, LLVMConstInt(e->i64, (unsigned long long)site << RH_LANG_INDEX_BITS, 0), "");
    key = LLVMBuildOr(e->builder, key, cut, "");
    LLVMValueRef before = LLVMBuildLoad2(e->builder, e->i64, e->outside, "");
    LLVMBuildStore(e->builder, rh_lang_emit_choose(e, inside, before, least(e, before, key)), e->outside);
}

static rh_lang_target emit_target(rh_lang_emitter *e, const rh_lang_node *node);

// The indices are read here, whatever happens to the element later.
static rh_lang_target index_target(rh_lang_emitter *e, const rh_lang_node *node)
{
    const rh_lang_node *index = node->first->next, *second = index->next;
    rh_lang_target target = emit_target(e, node->first);
    int side = rh_lang_type_side(target.store->type), parts = rh_lang_type_parts(target.store->type);
    if (index->kind == RH_LANG_INTEGER && (!second || second->kind == RH_LANG_INTEGER)) {
        target.part = (int)(second ? index->value.integer * side + second->value.integer : index->value.integer);
        return target;
    }
    target.part = -2;
    rh_lang_operand row = rh_lang_emit_operand(e, index), column = second ? rh_lang_emit_operand(e, second) : row;
    target.index = rh_lang_emit_take(e, &row).part[0];
    LLVMValueRef asked = target.index;
    target.inside = in_range(e, target.index, second ? side : parts);
    if (second) {
        LLVMValueRef at = rh_lang_emit_take(e, &column).part[0];
        asked = rh_lang_emit_choose(e, target.inside, at, asked);
        target.inside = LLVMBuildAnd(e->builder, target.inside, in_range(e, at, side), "");
        target.index = LLVMBuildAdd(
            e->builder, LLVMBuildMul(e->builder, target.index, LLVMConstInt(e->i64, (unsigned)side, 0), ""), at, "");
    }
    note_outside(e, target.inside, asked, node->slot);
    return target;
}

static rh_lang_target emit_crement(rh_lang_emitter *e, const rh_lang_node *node, rh_lang_value *before);
static rh_lang_target emit_assign(rh_lang_emitter *e, const rh_lang_node *node);

static rh_lang_target emit_target(rh_lang_emitter *e, const rh_lang_node *node)
{
    rh_lang_value before;
    switch (node->kind) {
    case RH_LANG_LOCAL: return (rh_lang_target){.store = &e->locals[node->slot], .part = -1};
    case RH_LANG_ATTRIBUTE: return (rh_lang_target){.store = &e->attributes[node->slot], .part = -1};
    case RH_LANG_CREMENT: return emit_crement(e, node, &before);
    case RH_LANG_ASSIGN: return emit_assign(e, node);
    default: return index_target(e, node);
    }
}

static rh_lang_value load_target(rh_lang_emitter *e, const rh_lang_target *target)
{
    rh_lang_value all = rh_lang_emit_load(e, target->store);
    if (target->part == -1) return all;
    rh_lang_element element = rh_lang_type_element(all.type);
    rh_lang_value out = {.type = RH_LANG_TYPE(RH_LANG_SCALAR, element)};
    if (target->part >= 0) {
        out.part[0] = all.part[target->part];
        return out;
    }
    out.part[0] = rh_lang_emit_number(e, element, 0);
    for (int i = 0; i < rh_lang_type_parts(all.type); i++) {
        LLVMValueRef here = LLVMBuildICmp(e->builder, LLVMIntEQ, target->index, LLVMConstInt(e->i64, (unsigned)i, 0),
                                          "");
        out.part[0] = rh_lang_emit_choose(e, here, all.part[i], out.part[0]);
    }
    out.part[0] = rh_lang_emit_choose(e, target->inside, out.part[0], rh_lang_emit_number(e, element, 0));
    return out;
}

void rh_lang_emit_store(rh_lang_emitter *e, const rh_lang_target *target, const rh_lang_value *value)
{
    if (target->part == -1) {
        rh_lang_emit_put(e, target->store, value);
    } else if (target->part >= 0) {
        LLVMBuildStore(e->builder, value->part[0], target->store->part[target->part]);
    } else {
        for (int i = 0; i < rh_lang_type_parts(target->store->type); i++) {
            LLVMValueRef here = LLVMBuildICmp(e->builder, LLVMIntEQ, target->index,
                                              LLVMConstInt(e->i64, (unsigned)i, 0), "");
            here = LLVMBuildAnd(e->builder, here, target->inside, "");
            LLVMValueRef old = LLVMBuildLoad2(e->builder, rh_lang_emit_part_type(e, target->store->type, i),
                                              target->store->part[i], "");
            LLVMBuildStore(e->builder, rh_lang_emit_choose(e, here, value->part[0], old), target->store->part[i]);
        }
    }
}

// ---- expressions

// The left side first, then the right one; what they hold is read when both are there.
static rh_lang_target emit_assign(rh_lang_emitter *e, const rh_lang_node *node)
{
    rh_lang_target target = emit_target(e, node->first);
    rh_lang_operand right = rh_lang_emit_operand(e, node->last);
    rh_lang_value value = rh_lang_emit_take(e, &right);
    if (node->operation != RH_LANG_NONE) {
        rh_lang_rule rule;
        rh_lang_value old = load_target(e, &target);
        rh_lang_binary_rule(node->operation, node->first->type, node->last->type, &rule);
        rh_lang_value left = rh_lang_emit_convert(e, &old, rule.left);
        rh_lang_value result = rh_lang_emit_binary(e, node->operation, &left, &value);
        value = rh_lang_emit_convert(e, &result, node->type);
    }
    rh_lang_emit_store(e, &target, &value);
    return target;
}

static rh_lang_target emit_crement(rh_lang_emitter *e, const rh_lang_node *node, rh_lang_value *before)
{
    rh_lang_target target = emit_target(e, node->first);
    rh_lang_value changed = *before = load_target(e, &target);
    rh_lang_element element = rh_lang_type_element(changed.type);
    changed.part[0] = rh_lang_emit_operation(e, node->operation, element, changed.part[0],
                                             rh_lang_emit_number(e, element, 1));
    rh_lang_emit_store(e, &target, &changed);
    return target;
}

// a && b, a || b: b only where it decides.
static rh_lang_value emit_logic(rh_lang_emitter *e, const rh_lang_node *node)
{
    bool both = node->operation == RH_LANG_AND;
    LLVMBasicBlockRef more = rh_lang_emit_block(e, "more"), done = rh_lang_emit_block(e, "done");
    LLVMValueRef left = rh_lang_emit_expression(e, node->first).part[0];
    LLVMBasicBlockRef from = LLVMGetInsertBlock(e->builder);
    LLVMBuildCondBr(e->builder, left, both ? more : done, both ? done : more);
    go(e, more);
    LLVMValueRef right = rh_lang_emit_expression(e, node->last).part[0];
    LLVMBasicBlockRef right_from = LLVMGetInsertBlock(e->builder);
    jump(e, done);
    go(e, done);
    LLVMTypeRef type = e->element[RH_LANG_E_BOOL];
    LLVMValueRef phi = LLVMBuildPhi(e->builder, type, ""), values[] = {LLVMConstInt(type, both ? 0 : 1, 0), right};
    LLVMBasicBlockRef blocks[] = {from, right_from};
    LLVMAddIncoming(phi, values, blocks, 2);
    return (rh_lang_value){.type = RH_LANG_BOOL, .part = {phi}};
}

// ---- choices

static bool is_place(const rh_lang_node *node)
{
    return node->kind == RH_LANG_LOCAL || node->kind == RH_LANG_ATTRIBUTE || node->kind == RH_LANG_INDEX ||
           node->kind == RH_LANG_ASSIGN || (node->kind == RH_LANG_CREMENT && !node->postfix);
}

// Is the side of a ?: a place, of the type of both? A short a ?: b has its condition for its first side.
static bool lasts(const rh_lang_node *node, rh_lang_type type)
{
    if (node->type != type) return false;
    if (node->kind == RH_LANG_COMMA) return lasts(node->last, type);
    if (node->kind == RH_LANG_UNARY && node->operation == RH_LANG_PLUS) return lasts(node->first, type);
    if (node->kind != RH_LANG_TERNARY) return is_place(node);
    bool first = lasts(node->count == 2 ? node->first : node->first->next, type), second = lasts(node->last, type);
    return rh_lang_is_number(type) ? first && second : first || second;
}

// A value that was computed under a condition reaches what comes after through a slot on the stack.
static void park(rh_lang_emitter *e, LLVMValueRef *value)
{
    LLVMValueRef slot = rh_lang_emit_slot(e, LLVMTypeOf(*value));
    LLVMBuildStore(e->builder, *value, slot);
    *value = slot;
}

// Before the end of a branch, and after the branches have met (`back`).
static void carry(rh_lang_emitter *e, rh_lang_operand *operand, bool back)
{
    rh_lang_target *t = &operand->target;
    LLVMValueRef *values[] = {operand->choice ? &operand->choice->condition : NULL,
                              operand->place && t->part == -2 ? &t->index : NULL,
                              operand->place && t->part == -2 ? &t->inside : NULL};
    LLVMTypeRef types[] = {e->element[RH_LANG_E_BOOL], e->i64, e->element[RH_LANG_E_BOOL]};
    for (int i = 0; i < 3; i++) {
        if (!values[i]) continue;
        if (back) *values[i] = LLVMBuildLoad2(e->builder, types[i], *values[i], "");
        else park(e, values[i]);
    }
    for (int i = 0; i < 2 && operand->choice; i++) carry(e, &operand->choice->side[i], back);
}

// One side in its branch: stays a place, or becomes a value in a variable of its own.
static void settle(rh_lang_emitter *e, rh_lang_operand *side, rh_lang_type type, bool keep)
{
    side->as = type;
    if (!keep) {
        rh_lang_value value = rh_lang_emit_take(e, side);
        rh_lang_store *store = rh_arena_take_zero(&e->unit->arena, sizeof *store, e->unit->status);
        if (!store) {
            e->unit->failed = true;
            return;
        }
        *store = rh_lang_emit_new_store(e, type);
        rh_lang_emit_put(e, store, &value);
        *side = (rh_lang_operand){.place = true, .target = {.store = store, .part = -1}, .as = type};
    }
    carry(e, side, false);
}

static rh_lang_operand emit_ternary(rh_lang_emitter *e, const rh_lang_node *node)
{
    bool is_short = node->count == 2, number = rh_lang_is_number(node->type);
    const rh_lang_node *condition = node->first, *then = is_short ? condition : condition->next, *other = node->last;
    bool keep[2] = {lasts(then, node->type), lasts(other, node->type)};
    if (number) keep[0] = keep[1] = keep[0] && keep[1];
    rh_lang_operand test = rh_lang_emit_operand(e, condition), out = {.as = node->type};
    test.as = RH_LANG_BOOL;
    rh_lang_choice *choice = rh_arena_take_zero(&e->unit->arena, sizeof *choice, e->unit->status);
    if (!choice) {
        e->unit->failed = true;
        out.value = rh_lang_emit_zero(e, node->type);
        return out;
    }
    choice->condition = rh_lang_emit_take(e, &test).part[0];
    LLVMBasicBlockRef blocks[2] = {rh_lang_emit_block(e, "then"), rh_lang_emit_block(e, "else")},
                      done = rh_lang_emit_block(e, "done");
    LLVMBuildCondBr(e->builder, choice->condition, blocks[0], blocks[1]);
    for (int i = 0; i < 2; i++) {
        go(e, blocks[i]);
        choice->side[i] = i == 0 && is_short ? test : rh_lang_emit_operand(e, i == 0 ? then : other);
        if (node->type != RH_LANG_VOID) settle(e, &choice->side[i], node->type, keep[i]);
        jump(e, done);
    }
    go(e, done);
    if (node->type == RH_LANG_VOID || e->unit->failed) return out;
    for (int i = 0; i < 2; i++) carry(e, &choice->side[i], true);
    out.choice = choice;
    return out;
}

// ---- operators and literals

static rh_lang_value emit_binary(rh_lang_emitter *e, const rh_lang_node *node)
{
    if (node->operation == RH_LANG_AND || node->operation == RH_LANG_OR) return emit_logic(e, node);
    rh_lang_operand first = rh_lang_emit_operand(e, node->first), second = rh_lang_emit_operand(e, node->last);
    rh_lang_value left = rh_lang_emit_take(e, &first), right = rh_lang_emit_take(e, &second);
    return rh_lang_emit_binary(e, node->operation, &left, &right);
}

// Not on the stack: the emitter goes as deep as a program is nested.
rh_lang_operand *rh_lang_emit_operands(rh_lang_emitter *e, int count)
{
    rh_lang_operand *operands = rh_arena_take_zero(&e->unit->arena, (size_t)(count + 1) * sizeof *operands,
                                                   e->unit->status);
    if (!operands) e->unit->failed = true;
    return operands;
}

static rh_lang_value emit_array(rh_lang_emitter *e, const rh_lang_node *node)
{
    rh_lang_operand *operands = rh_lang_emit_operands(e, node->count);
    rh_lang_value out = {.type = node->type};
    int count = 0;
    if (!operands) return rh_lang_emit_zero(e, node->type);
    for (const rh_lang_node *child = node->first; child; child = child->next)
        operands[count++] = rh_lang_emit_operand(e, child);
    for (int i = 0; i < count; i++) out.part[i] = rh_lang_emit_take(e, &operands[i]).part[0];
    return out;
}

// Texts of the source are put into the module: the source need not live as long as the program.
static rh_lang_value emit_text(rh_lang_emitter *e, rh_lang_text text)
{
    LLVMValueRef bytes = LLVMConstStringInContext(e->context, text.data, (unsigned)text.length, 1);
    LLVMValueRef global = LLVMAddGlobal(e->module, LLVMTypeOf(bytes), "text");
    LLVMSetInitializer(global, bytes);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return (rh_lang_value){
        .type = RH_LANG_STRING,
        .part = {LLVMConstBitCast(global, e->bytes), LLVMConstInt(e->i64, (unsigned long long)text.length, 0)}};
}

static rh_lang_value emit_kind(rh_lang_emitter *e, const rh_lang_node *node)
{
    rh_lang_value out = {.type = node->type};
    switch (node->kind) {
    case RH_LANG_CREMENT: emit_crement(e, node, &out); return out;
    case RH_LANG_UNARY:
        out = rh_lang_emit_expression(e, node->first);
        return rh_lang_emit_unary(e, node->operation, &out);
    case RH_LANG_BINARY: return emit_binary(e, node);
    case RH_LANG_CAST: return rh_lang_emit_expression(e, node->first);
    case RH_LANG_CALL: return rh_lang_emit_call(e, node);
    case RH_LANG_ARRAY: return emit_array(e, node);
    case RH_LANG_EXTERNAL: return e->externals[node->slot];
    case RH_LANG_INTEGER:
    case RH_LANG_LOGICAL:
        out.part[0] = rh_lang_emit_integer(e, rh_lang_type_element(node->type), node->value.integer);
        return out;
    case RH_LANG_REAL:
        out.part[0] = rh_lang_emit_number(e, rh_lang_type_element(node->type), node->value.real);
        return out;
    case RH_LANG_TEXT: return emit_text(e, node->value.text);
    default: RH_ASSERT(!"not an expression"); return out;
    }
}

rh_lang_operand rh_lang_emit_operand(rh_lang_emitter *e, const rh_lang_node *node)
{
    rh_lang_operand out = {0};
    if (node->kind == RH_LANG_COMMA) {
        for (const rh_lang_node *child = node->first; child != node->last; child = child->next)
            rh_lang_emit_operand(e, child);
        out = rh_lang_emit_operand(e, node->last);
    } else if (node->kind == RH_LANG_UNARY && node->operation == RH_LANG_PLUS) {
        out = rh_lang_emit_operand(e, node->first);
    } else if (node->kind == RH_LANG_TERNARY) {
        out = emit_ternary(e, node);
    } else if (is_place(node)) {
        out.place = true;
        out.target = emit_target(e, node);
    } else {
        out.value = emit_kind(e, node);
    }
    out.as = node->as;
    return out;
}

static rh_lang_value take_choice(rh_lang_emitter *e, const rh_lang_choice *choice)
{
    rh_lang_value a = rh_lang_emit_take(e, &choice->side[0]), b = rh_lang_emit_take(e, &choice->side[1]);
    for (int i = 0; i < rh_lang_value_parts(a.type); i++)
        a.part[i] = rh_lang_emit_choose(e, choice->condition, a.part[i], b.part[i]);
    return a;
}

rh_lang_value rh_lang_emit_take(rh_lang_emitter *e, const rh_lang_operand *operand)
{
    rh_lang_value value = operand->value;
    if (operand->place) value = load_target(e, &operand->target);
    if (operand->choice) value = take_choice(e, operand->choice);
    return rh_lang_emit_convert(e, &value, operand->as);
}

rh_lang_value rh_lang_emit_expression(rh_lang_emitter *e, const rh_lang_node *node)
{
    rh_lang_operand operand = rh_lang_emit_operand(e, node);
    return rh_lang_emit_take(e, &operand);
}
