// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The kernel around a program, and statements. Shape of the code:
//
//   kernel(thread, columns, externals, first, selection, count)    takes the columns out of their list and calls
//   elements(thread, externals, first, selection, count, noalias column ...)
//     for i in 0 .. count:  attributes -> registers;  the program;  written attributes -> columns
//
// The inner function exists because only arguments can promise LLVM that columns do not overlap. Attributes are loaded
// before and stored after the program without conditions, so an `if` becomes a select and the loop still vectorises.
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "lang/emit.h"
#include "lang/stop.h"
#include "lang/operators.h"

enum { ARGUMENTS = 5 };  // of `elements` before the columns

LLVMBasicBlockRef rh_lang_emit_block(rh_lang_emitter *e, const char *name)
{
    return LLVMAppendBasicBlockInContext(e->context, e->function, name);
}

static void go(rh_lang_emitter *e, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(e->builder, block); }

static void jump(rh_lang_emitter *e, LLVMBasicBlockRef to) { LLVMBuildBr(e->builder, to); }

LLVMValueRef rh_lang_emit_slot(rh_lang_emitter *e, LLVMTypeRef type) { return LLVMBuildAlloca(e->entry, type, ""); }

LLVMValueRef rh_lang_emit_field(rh_lang_emitter *e, size_t offset, LLVMTypeRef type)
{
    LLVMValueRef index = LLVMConstInt(e->i64, offset, 0);
    LLVMValueRef address = LLVMBuildInBoundsGEP2(e->builder, e->i8, e->thread, &index, 1, "");
    return LLVMBuildBitCast(e->builder, address, LLVMPointerType(type, 0), "");
}

// ---- statements

static void emit_statement(rh_lang_emitter *e, const rh_lang_node *node);

static void emit_declare(rh_lang_emitter *e, const rh_lang_node *node)
{
    rh_lang_value value = node->count ? rh_lang_emit_expression(e, node->first)
                                      : rh_lang_emit_zero(e, e->facts->locals[node->slot]);
    rh_lang_emit_put(e, &e->locals[node->slot], &value);
}

static LLVMValueRef emit_condition(rh_lang_emitter *e, const rh_lang_node *node)
{
    if (node->kind == RH_LANG_EMPTY) return LLVMConstInt(e->element[RH_LANG_E_BOOL], 1, 0);
    if (node->kind != RH_LANG_DECLARE) return rh_lang_emit_expression(e, node).part[0];
    emit_declare(e, node);
    rh_lang_value value = rh_lang_emit_load(e, &e->locals[node->slot]);
    return rh_lang_emit_cast(e, value.part[0], rh_lang_type_element(value.type), RH_LANG_E_BOOL);
}

static void emit_if(rh_lang_emitter *e, const rh_lang_node *node)
{
    const rh_lang_node *body = node->first->next, *other = body->next;
    LLVMBasicBlockRef then_block = rh_lang_emit_block(e, "then"), done = rh_lang_emit_block(e, "done");
    LLVMBasicBlockRef else_block = other ? rh_lang_emit_block(e, "else") : done;
    LLVMBuildCondBr(e->builder, emit_condition(e, node->first), then_block, else_block);
    go(e, then_block);
    emit_statement(e, body);
    jump(e, done);
    if (other) {
        go(e, else_block);
        emit_statement(e, other);
        jump(e, done);
    }
    go(e, done);
}

// Leaves the kernel when a function of the library stopped it.
static void leave_if_stopped(rh_lang_emitter *e)
{
    if (!e->facts->calls_library && !e->facts->strings) return;
    LLVMBasicBlockRef on = rh_lang_emit_block(e, "on");
    LLVMValueRef failed = LLVMBuildLoad2(e->builder, e->i32,
                                         rh_lang_emit_field(e, offsetof(rh_lang_context, failed), e->i32), "");
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntNE, failed, LLVMConstInt(e->i32, 0, 0), ""), e->leave,
                    on);
    go(e, on);
}

// Leaves the kernel when the host wants it to end. A volatile load is a plain one on the machines we know, and the flag
// is set once.
static void leave_if_asked(rh_lang_emitter *e)
{
    LLVMBasicBlockRef asked = rh_lang_emit_block(e, "asked"), on = rh_lang_emit_block(e, "on");
    LLVMValueRef kept = LLVMBuildLoad2(e->builder, e->bytes,
                                       rh_lang_emit_field(e, offsetof(rh_lang_context, kept), e->bytes), "");
    LLVMValueRef first = LLVMBuildBitCast(e->builder, kept, LLVMPointerType(e->bytes, 0), "");
    LLVMValueRef flag = LLVMBuildBitCast(e->builder, LLVMBuildLoad2(e->builder, e->bytes, first, ""),
                                         LLVMPointerType(e->i32, 0), "");
    LLVMValueRef value = LLVMBuildLoad2(e->builder, e->i32, flag, "");
    LLVMSetVolatile(value, 1);
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntNE, value, LLVMConstInt(e->i32, 0, 0), ""), asked, on);
    go(e, asked);
    LLVMBuildStore(e->builder, LLVMConstInt(e->i64, (unsigned long long)RH_LANG_ASKED_TO_STOP, 1), e->reason);
    jump(e, e->leave);
    go(e, on);
}

// Looks at the host's flag every so many steps: at each one where functions of the library are called, which may take
// long, and else so seldom that it costs next to nothing and so often that a second is never over.
static void look_up_in_loop(rh_lang_emitter *e, LLVMValueRef left)
{
    enum { STEPS = 4096 };
    if (e->facts->calls_library || e->facts->strings) {
        leave_if_asked(e);
        return;
    }
    LLVMBasicBlockRef look = rh_lang_emit_block(e, "look"), on = rh_lang_emit_block(e, "on");
    LLVMValueRef rest = LLVMBuildAnd(e->builder, left, LLVMConstInt(e->i64, STEPS - 1, 0), "");
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntEQ, rest, LLVMConstInt(e->i64, 0, 0), ""), look, on);
    go(e, look);
    leave_if_asked(e);
    jump(e, on);
    go(e, on);
}

// One step of a loop: counted, unless the checker proved that there are few.
static void count_step(rh_lang_emitter *e, const rh_lang_node *loop)
{
    if (loop->bounded) return;
    LLVMBasicBlockRef spent = rh_lang_emit_block(e, "spent"), on = rh_lang_emit_block(e, "on");
    LLVMValueRef left = LLVMBuildSub(e->builder, LLVMBuildLoad2(e->builder, e->i64, e->steps, ""),
                                     LLVMConstInt(e->i64, 1, 0), "");
    LLVMBuildStore(e->builder, left, e->steps);
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntSLT, left, LLVMConstInt(e->i64, 0, 0), ""), spent, on);
    go(e, spent);
    LLVMBuildStore(e->builder, LLVMConstInt(e->i64, (unsigned long long)-(int64_t)(1 + loop->slot), 1), e->reason);
    jump(e, e->leave);
    go(e, on);
    look_up_in_loop(e, left);
    leave_if_stopped(e);
}

static void emit_for(rh_lang_emitter *e, const rh_lang_node *node)
{
    const rh_lang_node *first = node->first, *condition = first->next, *step = condition->next, *body = step->next;
    LLVMBasicBlockRef test = rh_lang_emit_block(e, "test"), again = rh_lang_emit_block(e, "body"),
                      advance = rh_lang_emit_block(e, "step"), done = rh_lang_emit_block(e, "done"),
                      outer_break = e->break_to, outer_continue = e->continue_to;
    emit_statement(e, first);
    jump(e, test);
    go(e, test);
    LLVMBuildCondBr(e->builder, emit_condition(e, condition), again, done);
    go(e, again);
    e->break_to = done;
    e->continue_to = advance;
    count_step(e, node);
    emit_statement(e, body);
    jump(e, advance);
    go(e, advance);
    if (step->kind != RH_LANG_EMPTY) rh_lang_emit_expression(e, step);
    jump(e, test);
    e->break_to = outer_break;
    e->continue_to = outer_continue;
    go(e, done);
}

static void emit_do(rh_lang_emitter *e, const rh_lang_node *node)
{
    LLVMBasicBlockRef again = rh_lang_emit_block(e, "body"), test = rh_lang_emit_block(e, "test"),
                      done = rh_lang_emit_block(e, "done"), outer_break = e->break_to, outer_continue = e->continue_to;
    jump(e, again);
    go(e, again);
    e->break_to = done;
    e->continue_to = test;
    count_step(e, node);
    emit_statement(e, node->first);
    jump(e, test);
    go(e, test);
    e->break_to = outer_break;
    e->continue_to = outer_continue;
    LLVMBuildCondBr(e->builder, emit_condition(e, node->last), again, done);
    go(e, done);
}

// What follows cannot be reached, but is emitted: into a block that LLVM throws away.
static void emit_jump(rh_lang_emitter *e, LLVMBasicBlockRef to)
{
    jump(e, to);
    go(e, rh_lang_emit_block(e, "unreached"));
}

static void emit_statement(rh_lang_emitter *e, const rh_lang_node *node)
{
    switch (node->kind) {
    case RH_LANG_EMPTY: break;
    case RH_LANG_BLOCK:
    case RH_LANG_DECLARES:
        for (const rh_lang_node *child = node->first; child; child = child->next) emit_statement(e, child);
        break;
    case RH_LANG_DECLARE: emit_declare(e, node); break;
    case RH_LANG_IF: emit_if(e, node); break;
    case RH_LANG_FOR: emit_for(e, node); break;
    case RH_LANG_DO: emit_do(e, node); break;
    case RH_LANG_RETURN: emit_jump(e, e->element_end); break;
    case RH_LANG_BREAK: emit_jump(e, e->break_to); break;
    case RH_LANG_CONTINUE: emit_jump(e, e->continue_to); break;
    default: rh_lang_emit_expression(e, node); break;
    }
}

// ---- columns

static int column_count(const rh_lang_facts *f)
{
    return f->attribute_count + (f->named_groups ? f->group_count : 0) + f->deletes;
}

static LLVMTypeRef column_type(rh_lang_emitter *e, int column)
{
    if (column >= e->facts->attribute_count) return e->i8;
    rh_lang_type type = e->facts->attributes[column].type;
    return type == RH_LANG_STRING
               ? e->text
               : LLVMArrayType(e->stored[rh_lang_type_element(type)], (unsigned)rh_lang_type_parts(type));
}

static LLVMValueRef element_address(rh_lang_emitter *e, int column, LLVMValueRef i, int part)
{
    LLVMValueRef base = LLVMGetParam(e->function, (unsigned)(ARGUMENTS + column));
    LLVMValueRef indices[] = {i, LLVMConstInt(e->i32, (unsigned)part, 0)};
    return LLVMBuildInBoundsGEP2(e->builder, column_type(e, column), base, indices,
                                 column < e->facts->attribute_count ? 2 : 1, "");
}

static void load_attribute(rh_lang_emitter *e, int a, LLVMValueRef i)
{
    rh_lang_type type = e->facts->attributes[a].type;
    bool logical = type == RH_LANG_BOOL;
    for (int part = 0; part < rh_lang_value_parts(type); part++) {
        LLVMTypeRef stored = logical ? e->i8 : rh_lang_emit_part_type(e, type, part);
        LLVMValueRef value = LLVMBuildLoad2(e->builder, stored, element_address(e, a, i, part), "");
        if (logical) value = LLVMBuildICmp(e->builder, LLVMIntNE, value, LLVMConstInt(e->i8, 0, 0), "");
        LLVMBuildStore(e->builder, value, e->attributes[a].part[part]);
    }
}

// A string that is written moves from the element's memory to memory that stays.
static rh_lang_value kept_text(rh_lang_emitter *e, const rh_lang_value *value)
{
    LLVMValueRef arguments[] = {e->thread, e->spills[1], rh_lang_emit_spill(e, value, 0)};
    rh_lang_emit_c(e, (void (*)(void))rh_lang_text_keep, LLVMVoidTypeInContext(e->context), arguments, 3, false);
    return rh_lang_emit_unspill(e, RH_LANG_STRING, e->spills[1]);
}

static void store_attribute(rh_lang_emitter *e, int a, LLVMValueRef i)
{
    rh_lang_type type = e->facts->attributes[a].type;
    rh_lang_value value = rh_lang_emit_load(e, &e->attributes[a]);
    if (type == RH_LANG_STRING) value = kept_text(e, &value);
    for (int part = 0; part < rh_lang_value_parts(type); part++) {
        LLVMValueRef stored = type == RH_LANG_BOOL ? LLVMBuildZExt(e->builder, value.part[part], e->i8, "")
                                                   : value.part[part];
        LLVMBuildStore(e->builder, stored, element_address(e, a, i, part));
    }
}

static LLVMValueRef byte_slot(rh_lang_emitter *e, int k)
{
    int groups = e->facts->named_groups ? e->facts->group_count : 0;
    return k < groups ? e->groups[k] : e->dead;
}

static void move_bytes(rh_lang_emitter *e, LLVMValueRef i, bool load)
{
    int attributes = e->facts->attribute_count;
    for (int k = 0; k < column_count(e->facts) - attributes; k++) {
        bool group = e->facts->named_groups && k < e->facts->group_count;
        LLVMValueRef address = element_address(e, attributes + k, i, 0), slot = byte_slot(e, k);
        if (load) LLVMBuildStore(e->builder, LLVMBuildLoad2(e->builder, e->i8, address, ""), slot);
        else if (!group || e->facts->groups[k].adds || e->facts->groups[k].removes)
            LLVMBuildStore(e->builder, LLVMBuildLoad2(e->builder, e->i8, slot, ""), address);
    }
}

// ---- the kernel

static void set_field(rh_lang_emitter *e, size_t offset, LLVMValueRef value)
{
    LLVMBuildStore(e->builder, value, rh_lang_emit_field(e, offset, LLVMTypeOf(value)));
}

// What the library wants to know about the element: its number and an empty memory for strings.
static void announce(rh_lang_emitter *e, LLVMValueRef i)
{
    if (!e->facts->calls_library && !e->facts->strings) return;
    LLVMBasicBlockRef listed = rh_lang_emit_block(e, "listed"), plain = rh_lang_emit_block(e, "plain"),
                      known = rh_lang_emit_block(e, "known");
    LLVMValueRef list = LLVMGetParam(e->function, 3), first = LLVMGetParam(e->function, 2);
    LLVMBuildCondBr(e->builder, LLVMBuildIsNull(e->builder, list, ""), plain, listed);
    go(e, listed);
    LLVMValueRef values[2], at = LLVMBuildInBoundsGEP2(e->builder, e->i64, list, &i, 1, "");
    values[0] = LLVMBuildLoad2(e->builder, e->i64, at, "");
    jump(e, known);
    go(e, plain);
    values[1] = LLVMBuildAdd(e->builder, first, i, "");
    jump(e, known);
    go(e, known);
    LLVMBasicBlockRef from[] = {listed, plain};
    LLVMValueRef element = LLVMBuildPhi(e->builder, e->i64, "");
    LLVMAddIncoming(element, values, from, 2);
    set_field(e, offsetof(rh_lang_context, element), element);
    set_field(e, offsetof(rh_lang_context, text_used), LLVMConstInt(e->i64, 0, 0));
}

// Values from outside are the same for all elements: loaded once, before the loop.
static void load_externals(rh_lang_emitter *e)
{
    LLVMValueRef list = LLVMGetParam(e->function, 1);
    for (int k = 0; k < e->facts->external_count; k++) {
        LLVMValueRef index = LLVMConstInt(e->i64, (unsigned)k, 0);
        LLVMValueRef address = LLVMBuildLoad2(e->builder, e->bytes,
                                              LLVMBuildInBoundsGEP2(e->builder, e->bytes, list, &index, 1, ""), "");
        e->externals[k] = rh_lang_emit_unspill(e, e->facts->externals[k].type, address);
    }
}

static void begin_element(rh_lang_emitter *e, LLVMValueRef i, LLVMValueRef budget)
{
    announce(e, i);
    e->number = i;
    LLVMBuildStore(e->builder, LLVMConstInt(e->i64, INT64_MAX, 0), e->outside);
    if (e->facts->loop_count) {
        LLVMBuildStore(e->builder, budget, e->steps);
        leave_if_asked(e);
    }
    for (int a = 0; a < e->facts->attribute_count; a++) load_attribute(e, a, i);
    move_bytes(e, i, true);
}

static void end_element(rh_lang_emitter *e, LLVMValueRef i)
{
    for (int a = 0; a < e->facts->attribute_count; a++)
        if (e->facts->attributes[a].writes) store_attribute(e, a, i);
    move_bytes(e, i, false);
    if (e->facts->site_count) {
        LLVMValueRef here = LLVMBuildLoad2(e->builder, e->i64, e->outside, ""),
                     first = LLVMBuildLoad2(e->builder, e->i64, e->first_outside, "");
        LLVMValueRef less = LLVMBuildICmp(e->builder, LLVMIntSLT, here, first, "");
        LLVMBuildStore(e->builder, rh_lang_emit_choose(e, less, here, first), e->first_outside);
    }
    leave_if_stopped(e);
}

static void make_slots(rh_lang_emitter *e)
{
    const rh_lang_facts *f = e->facts;
    for (int i = 0; i < f->local_count; i++) e->locals[i] = rh_lang_emit_new_store(e, f->locals[i]);
    for (int i = 0; i < f->attribute_count; i++) e->attributes[i] = rh_lang_emit_new_store(e, f->attributes[i].type);
    for (int i = 0; i < f->group_count; i++) e->groups[i] = rh_lang_emit_slot(e, e->i8);
    LLVMTypeRef largest = LLVMArrayType(e->element[RH_LANG_E_DOUBLE], RH_LANG_MOST_PARTS);
    for (int i = 0; i < RH_LANG_MOST_SPILLS; i++)
        e->spills[i] = LLVMBuildBitCast(e->entry, rh_lang_emit_slot(e, largest), e->bytes, "");
    e->dead = rh_lang_emit_slot(e, e->i8);
    e->reason = rh_lang_emit_slot(e, e->i64);
    e->steps = rh_lang_emit_slot(e, e->i64);
    e->outside = rh_lang_emit_slot(e, e->i64);
    e->first_outside = rh_lang_emit_slot(e, e->i64);
}

// A loop without end comes before an index outside: the element it was in was not finished.
static void emit_leave(rh_lang_emitter *e)
{
    go(e, e->leave);
    LLVMValueRef none = LLVMConstInt(e->i64, 0, 0), reason = LLVMBuildLoad2(e->builder, e->i64, e->reason, "");
    LLVMValueRef first = LLVMBuildLoad2(e->builder, e->i64, e->first_outside, "");
    LLVMValueRef inside = LLVMBuildICmp(e->builder, LLVMIntEQ, first, LLVMConstInt(e->i64, INT64_MAX, 0), "");
    first = rh_lang_emit_choose(e, inside, none, first);
    LLVMBuildRet(e->builder,
                 rh_lang_emit_choose(e, LLVMBuildICmp(e->builder, LLVMIntNE, reason, none, ""), reason, first));
}

static void emit_elements(rh_lang_emitter *e, const rh_lang_node *program)
{
    LLVMBasicBlockRef entry = rh_lang_emit_block(e, "entry"), setup = rh_lang_emit_block(e, "setup"),
                      head = rh_lang_emit_block(e, "head"), body = rh_lang_emit_block(e, "element");
    LLVMValueRef count = LLVMGetParam(e->function, 4);
    e->element_end = rh_lang_emit_block(e, "stored");
    e->leave = rh_lang_emit_block(e, "leave");
    e->thread = LLVMGetParam(e->function, 0);
    LLVMPositionBuilderAtEnd(e->entry, entry);
    make_slots(e);
    go(e, setup);
    LLVMBuildStore(e->builder, LLVMConstInt(e->i64, 0, 0), e->reason);
    LLVMBuildStore(e->builder, LLVMConstInt(e->i64, INT64_MAX, 0), e->first_outside);
    load_externals(e);
    LLVMValueRef budget = NULL;
    if (e->facts->loop_count)
        budget = LLVMBuildLoad2(e->builder, e->i64,
                                rh_lang_emit_field(e, offsetof(rh_lang_context, steps_left), e->i64), "");
    jump(e, head);
    go(e, head);
    LLVMValueRef i = LLVMBuildPhi(e->builder, e->i64, "i");
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntSLT, i, count, ""), body, e->leave);
    go(e, body);
    begin_element(e, i, budget);
    emit_statement(e, program);
    jump(e, e->element_end);
    go(e, e->element_end);
    end_element(e, i);
    LLVMValueRef values[] = {LLVMConstInt(e->i64, 0, 0),
                             LLVMBuildNSWAdd(e->builder, i, LLVMConstInt(e->i64, 1, 0), "")};
    LLVMBasicBlockRef from[] = {setup, LLVMGetInsertBlock(e->builder)};
    rh_lang_emit_stride(e, LLVMBuildBr(e->builder, head));
    LLVMAddIncoming(i, values, from, 2);
    LLVMBuildBr(e->entry, setup);
    emit_leave(e);
}

static void add_attribute(rh_lang_emitter *e, LLVMValueRef function, unsigned index, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(e->context, kind, 0));
}

static LLVMValueRef declare_elements(rh_lang_emitter *e, LLVMTypeRef *types, LLVMTypeRef *type)
{
    LLVMTypeRef list = LLVMPointerType(e->bytes, 0);
    int columns = column_count(e->facts);
    types[0] = e->bytes;
    types[1] = list;
    types[2] = e->i64;
    types[3] = LLVMPointerType(e->i64, 0);
    types[4] = e->i64;
    for (int k = 0; k < columns; k++) types[ARGUMENTS + k] = LLVMPointerType(column_type(e, k), 0);
    *type = LLVMFunctionType(e->i64, types, (unsigned)(ARGUMENTS + columns), 0);
    LLVMValueRef function = LLVMAddFunction(e->module, "elements", *type);
    LLVMSetLinkage(function, LLVMPrivateLinkage);
    add_attribute(e, function, (unsigned)LLVMAttributeFunctionIndex, "nounwind");
    add_attribute(e, function, (unsigned)LLVMAttributeFunctionIndex, "noinline");
    for (int k = 0; k < columns; k++) add_attribute(e, function, (unsigned)(ARGUMENTS + k + 1), "noalias");
    return function;
}

static void emit_kernel(rh_lang_emitter *e, LLVMValueRef elements, LLVMTypeRef elements_type, const LLVMTypeRef *types,
                        LLVMValueRef *arguments)
{
    LLVMTypeRef list = LLVMPointerType(e->bytes, 0),
                outer[] = {e->bytes, list, list, e->i64, LLVMPointerType(e->i64, 0), e->i64};
    e->function = LLVMAddFunction(e->module, "kernel", LLVMFunctionType(e->i64, outer, 6, 0));
    add_attribute(e, e->function, (unsigned)LLVMAttributeFunctionIndex, "nounwind");
    go(e, rh_lang_emit_block(e, "entry"));
    int columns = column_count(e->facts);
    for (int k = 0; k < ARGUMENTS; k++) arguments[k] = LLVMGetParam(e->function, (unsigned)(k == 0 ? 0 : k + 1));
    for (int k = 0; k < columns; k++) {
        LLVMValueRef index = LLVMConstInt(e->i64, (unsigned)k, 0);
        LLVMValueRef address = LLVMBuildInBoundsGEP2(e->builder, e->bytes, LLVMGetParam(e->function, 1), &index, 1, "");
        arguments[ARGUMENTS + k] = LLVMBuildBitCast(e->builder, LLVMBuildLoad2(e->builder, e->bytes, address, ""),
                                                    types[ARGUMENTS + k], "");
    }
    LLVMBuildRet(e->builder,
                 LLVMBuildCall2(e->builder, elements_type, elements, arguments, (unsigned)(ARGUMENTS + columns), ""));
}

static void make_types(rh_lang_emitter *e)
{
    LLVMContextRef c = e->context;
    e->i8 = LLVMInt8TypeInContext(c);
    e->i32 = LLVMInt32TypeInContext(c);
    e->i64 = LLVMInt64TypeInContext(c);
    e->bytes = LLVMPointerType(e->i8, 0);
    LLVMTypeRef text[] = {e->bytes, e->i64},
                types[8] = {NULL,   LLVMInt1TypeInContext(c),  LLVMInt16TypeInContext(c),  e->i32,
                            e->i64, LLVMFloatTypeInContext(c), LLVMDoubleTypeInContext(c), NULL};
    memcpy(e->element, types, sizeof types);
    memcpy(e->stored, types, sizeof types);
    e->stored[RH_LANG_E_BOOL] = e->i8;
    e->text = LLVMStructTypeInContext(c, text, 2, 0);
}

static void *take(rh_lang_unit *unit, int count, size_t size)
{
    void *memory = rh_arena_take_zero(&unit->arena, (size_t)(count ? count : 1) * size, unit->status);
    if (!memory) unit->failed = true;
    return memory;
}

bool rh_lang_emit(rh_lang_unit *unit, const rh_lang_node *program, const rh_lang_options *options,
                  const rh_lang_facts *facts, LLVMContextRef context, LLVMModuleRef module)
{
    rh_lang_emitter e = {.unit = unit, .options = options, .facts = facts, .context = context, .module = module};
    int columns = column_count(facts);
    e.locals = take(unit, facts->local_count, sizeof *e.locals);
    e.attributes = take(unit, facts->attribute_count, sizeof *e.attributes);
    e.externals = take(unit, facts->external_count, sizeof *e.externals);
    e.groups = take(unit, facts->group_count, sizeof *e.groups);
    LLVMTypeRef *types = take(unit, ARGUMENTS + columns, sizeof *types), elements_type;
    LLVMValueRef *arguments = take(unit, ARGUMENTS + columns, sizeof *arguments);
    if (unit->failed) return false;
    make_types(&e);
    e.builder = LLVMCreateBuilderInContext(context);
    e.entry = LLVMCreateBuilderInContext(context);
    LLVMValueRef elements = e.function = declare_elements(&e, types, &elements_type);
    emit_elements(&e, program);
    emit_kernel(&e, elements, elements_type, types, arguments);
    LLVMDisposeBuilder(e.entry);
    LLVMDisposeBuilder(e.builder);
    return !unit->failed;
}
