// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Calls: of functions emitted in place, of C functions by their address, and of those that are really columns (groups,
// deletion).
#include <string.h>
#include "lang/emit.h"
#include "lang/operators.h"

static void add_attribute(rh_lang_emitter *e, LLVMValueRef call, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (kind)
        LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                 LLVMCreateEnumAttribute(e->context, kind, 0));
}

LLVMValueRef rh_lang_emit_c(rh_lang_emitter *e, void (*symbol)(void), LLVMTypeRef result, LLVMValueRef *arguments,
                            int count, bool pure)
{
    LLVMTypeRef types[RH_LANG_MOST_ARGUMENTS + 2];
    for (int i = 0; i < count; i++) types[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, (unsigned)count, 0);
    LLVMValueRef address = LLVMConstInt(e->i64, (unsigned long long)(uintptr_t)symbol, 0);
    LLVMValueRef function = LLVMConstIntToPtr(address, LLVMPointerType(type, 0));
    LLVMValueRef call = LLVMBuildCall2(e->builder, type, function, arguments, (unsigned)count, "");
    add_attribute(e, call, "nounwind");
    add_attribute(e, call, "willreturn");
    // LLVM 16 replaced "readnone" by "memory", of which 0 means none.
    if (pure) add_attribute(e, call, LLVMGetEnumAttributeKindForName("memory", 6) ? "memory" : "readnone");
    return call;
}

static LLVMTypeRef memory_type(rh_lang_emitter *e, rh_lang_type type)
{
    return type == RH_LANG_STRING
               ? e->text
               : LLVMArrayType(e->stored[rh_lang_type_element(type)], (unsigned)rh_lang_type_parts(type));
}

static LLVMValueRef part_address(rh_lang_emitter *e, LLVMTypeRef type, LLVMValueRef memory, int part)
{
    LLVMValueRef indices[] = {LLVMConstInt(e->i32, 0, 0), LLVMConstInt(e->i32, (unsigned long long)part, 0)};
    return LLVMBuildInBoundsGEP2(e->builder, type, memory, indices, 2, "");
}

LLVMValueRef rh_lang_emit_spill(rh_lang_emitter *e, const rh_lang_value *value, int place)
{
    LLVMTypeRef type = memory_type(e, value->type);
    LLVMValueRef memory = LLVMBuildBitCast(e->builder, e->spills[place], LLVMPointerType(type, 0), "");
    bool logical = rh_lang_type_element(value->type) == RH_LANG_E_BOOL;
    for (int i = 0; i < rh_lang_value_parts(value->type); i++) {
        LLVMValueRef part = logical ? LLVMBuildZExt(e->builder, value->part[i], e->i8, "") : value->part[i];
        LLVMBuildStore(e->builder, part, part_address(e, type, memory, i));
    }
    return e->spills[place];
}

rh_lang_value rh_lang_emit_unspill(rh_lang_emitter *e, rh_lang_type type, LLVMValueRef address)
{
    LLVMTypeRef memory = memory_type(e, type);
    LLVMValueRef typed = LLVMBuildBitCast(e->builder, address, LLVMPointerType(memory, 0), "");
    rh_lang_value out = {.type = type};
    for (int i = 0; i < rh_lang_value_parts(type); i++) {
        LLVMTypeRef part = type == RH_LANG_STRING ? (i ? e->i64 : e->bytes) : e->stored[rh_lang_type_element(type)];
        out.part[i] = LLVMBuildLoad2(e->builder, part, part_address(e, memory, typed, i), "");
        if (type == RH_LANG_BOOL)
            out.part[i] = LLVMBuildICmp(e->builder, LLVMIntNE, out.part[i], LLVMConstInt(e->i8, 0, 0), "");
    }
    return out;
}

// ---- calls that are columns or values from outside in truth: groups, deletion, external( )

static void put_byte(rh_lang_emitter *e, LLVMValueRef slot, int value)
{
    LLVMBuildStore(e->builder, LLVMConstInt(e->i8, (unsigned)value, 0), slot);
}

static bool emit_column_function(rh_lang_emitter *e, const rh_lang_node *node, rh_lang_value *out)
{
    const rh_lang_facts *f = e->facts;
    *out = (rh_lang_value){.type = RH_LANG_VOID};
    if (node->slot >= rh_lang_function_count) return false;
    if (strcmp(node->name, "deletepoint") == 0) {
        put_byte(e, e->dead, 1);
        return true;
    }
    if (node->count != 1 || node->first->kind != RH_LANG_TEXT || node->first->slot < 0) return false;
    if (strncmp(node->name, "external", 8) == 0) {
        *out = e->externals[node->first->slot];
        return true;
    }
    if (!f->named_groups) return false;
    LLVMValueRef slot = e->groups[node->first->slot];
    if (strcmp(node->name, "addtogroup") == 0) put_byte(e, slot, 1);
    else if (strcmp(node->name, "removefromgroup") == 0) put_byte(e, slot, 0);
    else if (strcmp(node->name, "ingroup") == 0) {
        out->type = RH_LANG_BOOL;
        out->part[0] = LLVMBuildICmp(e->builder, LLVMIntNE, LLVMBuildLoad2(e->builder, e->i8, slot, ""),
                                     LLVMConstInt(e->i8, 0, 0), "");
    } else return false;
    return true;
}

// ---- C functions

// C's rules for small integers: the caller widens them.
static LLVMValueRef argument_by_value(rh_lang_emitter *e, const rh_lang_value *value)
{
    if (value->type == RH_LANG_BOOL) return LLVMBuildZExt(e->builder, value->part[0], e->i32, "");
    if (value->type == RH_LANG_INT16) return LLVMBuildSExt(e->builder, value->part[0], e->i32, "");
    return value->part[0];
}

static void store_written(rh_lang_emitter *e, const rh_lang_signature *signature, const rh_lang_operand *operands,
                          LLVMValueRef *memory)
{
    for (int i = 0; i < signature->count; i++) {
        if (!signature->written[i]) continue;
        rh_lang_value written = rh_lang_emit_unspill(e, signature->arguments[i], memory[i]);
        rh_lang_emit_store(e, &operands[i].target, &written);
    }
}

static rh_lang_value call_symbol(rh_lang_emitter *e, const rh_lang_function *row, const rh_lang_signature *signature,
                                 const rh_lang_operand *operands, const rh_lang_value *values)
{
    LLVMValueRef arguments[RH_LANG_MOST_ARGUMENTS + 2], result_memory = NULL, memory[RH_LANG_MOST_ARGUMENTS] = {0};
    rh_lang_type result = signature->result;
    bool by_pointer = !rh_lang_is_number(result) && result != RH_LANG_VOID,
         scalars = !by_pointer && result != RH_LANG_VOID;
    int count = 0;
    if (row->flags & RH_LANG_CONTEXT) arguments[count++] = e->thread;
    if (by_pointer) {
        result_memory = e->spills[RH_LANG_MOST_ARGUMENTS];
        arguments[count++] = result_memory;
    }
    for (int i = 0; i < signature->count; i++) {
        bool pointer = signature->written[i] || !rh_lang_is_number(signature->arguments[i]);
        scalars &= !pointer;
        if (pointer) memory[i] = rh_lang_emit_spill(e, &values[i], i);
        arguments[count++] = pointer ? memory[i] : argument_by_value(e, &values[i]);
    }
    LLVMTypeRef type = by_pointer || result == RH_LANG_VOID ? LLVMVoidTypeInContext(e->context)
                                                            : e->stored[rh_lang_type_element(result)];
    bool pure = scalars && (row->flags & RH_LANG_PURE) && !(row->flags & RH_LANG_CONTEXT);
    LLVMValueRef call = rh_lang_emit_c(e, row->symbol, type, arguments, count, pure);
    rh_lang_value out = {.type = result, .part = {call}};
    if (by_pointer) out = rh_lang_emit_unspill(e, result, result_memory);
    store_written(e, signature, operands, memory);
    if (by_pointer) return out;
    if (result == RH_LANG_BOOL) out.part[0] = LLVMBuildICmp(e->builder, LLVMIntNE, call, LLVMConstInt(e->i8, 0, 0), "");
    return out;
}

// Not inlined: its arrays would stand on the stack once for every level of nesting.
__attribute__((noinline)) static rh_lang_value emit_function(rh_lang_emitter *e, const rh_lang_node *node,
                                                             const rh_lang_operand *operands, int count)
{
    rh_lang_value out, values[RH_LANG_MOST_ARGUMENTS];
    const rh_lang_function *row = rh_lang_row(e->options, node->slot);
    rh_lang_signature signature;
    rh_lang_signature_read(row->signature, &signature);
    for (int i = 0; i < count; i++) values[i] = rh_lang_emit_take(e, &operands[i]);
    bool built_in = node->slot < rh_lang_function_count;
    // Some rows have both: pow( ) products for small literal exponents, else a function; functions of matrices code
    // that vectorises.
    bool in_place = !row->symbol || built_in;
    if (in_place && rh_lang_emit_builtin(e, row->name, signature.result, values, count, &out)) return out;
    if (built_in && count > 0 && rh_lang_emit_lanes(e, row->name, signature.result, values, count, &out)) return out;
    if (row->symbol) return call_symbol(e, row, &signature, operands, values);
    RH_ASSERT(!"a function without symbol and without emitted code");
    return rh_lang_emit_zero(e, signature.result);
}

rh_lang_value rh_lang_emit_call(rh_lang_emitter *e, const rh_lang_node *node)
{
    rh_lang_value out;
    if (emit_column_function(e, node, &out)) return out;
    rh_lang_operand *operands = rh_lang_emit_operands(e, node->count);
    if (!operands) return rh_lang_emit_zero(e, node->type);
    int count = 0;
    for (const rh_lang_node *a = node->first; a; a = a->next) operands[count++] = rh_lang_emit_operand(e, a);
    return emit_function(e, node, operands, count);
}
