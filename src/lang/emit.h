// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The emitter: a checked tree to LLVM's intermediate form. Shared by emit*.c; hosts see lang.h only.
//
// Every value is taken apart into numbers: a vec3f is three floats in three registers, a variable is one stack slot per
// element, which LLVM turns into registers at once. So nothing in a kernel has an address that an index could miss, and
// a program without loops becomes straight code that the loop vectoriser runs on eight elements at a time.
#pragma once
#include <llvm-c/Core.h>
#include "lang/ast.h"
#include "lang/check.h"
#include "lang/code.h"

typedef struct rh_lang_value {
    rh_lang_type type;
    LLVMValueRef part[RH_LANG_MOST_PARTS];  // a string has two: address and length
} rh_lang_value;

// Stack slots of a variable.
typedef struct rh_lang_store {
    rh_lang_type type;
    LLVMValueRef part[RH_LANG_MOST_PARTS];
} rh_lang_store;

// Something that can be assigned to: all of a variable, or one element.
typedef struct rh_lang_target {
    const rh_lang_store *store;
    int part;             // -1: all; -2: `index` says which
    LLVMValueRef index;   // i64
    LLVMValueRef inside;  // i1: index and its row and column are in range
} rh_lang_target;

// What an operator or a call works on. Side effects have happened; a place is read when all operands of the operator
// are there, so a + (a = 5) adds 5 and 5 (OpenVDB AX keeps addresses on its stack and loads them last).
typedef struct rh_lang_operand {
    bool place;  // read `target` then; else `choice` where there is one; else `value` is the value
    rh_lang_target target;
    struct rh_lang_choice *choice;  // in the unit's arena
    rh_lang_value value;
    rh_lang_type as;  // what the operator wants
} rh_lang_operand;

// c ? p : q
typedef struct rh_lang_choice {
    LLVMValueRef condition;
    rh_lang_operand side[2];
} rh_lang_choice;

// Arguments of one call at the most, its result, and one more. Calls share the memory, so a kernel's stack does not
// grow with the program.
enum { RH_LANG_MOST_SPILLS = 10 };

typedef struct rh_lang_emitter {
    rh_lang_unit *unit;
    const rh_lang_options *options;
    const rh_lang_facts *facts;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMBuilderRef entry;             // for stack slots, in the first block
    LLVMTypeRef element[8];           // by rh_lang_element: what a register holds
    LLVMTypeRef stored[8];            // what an array holds: bytes for bools
    LLVMTypeRef i8, i32, i64, bytes;  // bytes: i8*
    LLVMTypeRef text;                 // rh_lang_text
    LLVMValueRef function;
    LLVMValueRef thread;  // rh_lang_context*, as i8*
    rh_lang_store *locals, *attributes;
    rh_lang_value *externals;
    LLVMValueRef *groups;                      // stack slots of bytes
    LLVMValueRef dead;                         // the same
    LLVMValueRef spills[RH_LANG_MOST_SPILLS];  // i8*: memory for arguments and results of C functions, each of the
                                               // largest value's size
    LLVMValueRef reason;                       // i64: why the kernel stops or complains, 0 for all is well
    LLVMValueRef steps;                        // i64: left for this element
    // i64: an index that was outside, of this element and of all; INT64_MAX for none
    LLVMValueRef outside, first_outside;
    LLVMValueRef number;  // i64: of the element in this call
    bool lanes;           // calls functions that exist for eight elements
    LLVMBasicBlockRef element_end, leave, break_to, continue_to;
} rh_lang_emitter;

// emit.c
// Fills the module with a function "kernel". False when memory ran out.
bool rh_lang_emit(rh_lang_unit *unit, const rh_lang_node *program, const rh_lang_options *options,
                  const rh_lang_facts *facts, LLVMContextRef context, LLVMModuleRef module);
LLVMBasicBlockRef rh_lang_emit_block(rh_lang_emitter *e, const char *name);
LLVMValueRef rh_lang_emit_slot(rh_lang_emitter *e,
                               LLVMTypeRef type);  // on the stack of the kernel, once for all elements
LLVMValueRef rh_lang_emit_field(rh_lang_emitter *e, size_t offset,
                                LLVMTypeRef type);  // address of a field of the context

// emit_expression.c
LLVMTypeRef rh_lang_emit_part_type(rh_lang_emitter *e, rh_lang_type type, int part);
rh_lang_store rh_lang_emit_new_store(rh_lang_emitter *e, rh_lang_type type);
rh_lang_value rh_lang_emit_load(rh_lang_emitter *e, const rh_lang_store *store);
void rh_lang_emit_put(rh_lang_emitter *e, const rh_lang_store *store, const rh_lang_value *value);
rh_lang_value rh_lang_emit_expression(rh_lang_emitter *e, const rh_lang_node *node);  // converted to node->as
rh_lang_operand rh_lang_emit_operand(rh_lang_emitter *e, const rh_lang_node *node);
// Room for so many in the unit's arena; NULL when it ran out.
rh_lang_operand *rh_lang_emit_operands(rh_lang_emitter *e, int count);
rh_lang_value rh_lang_emit_take(rh_lang_emitter *e, const rh_lang_operand *operand);  // read and converted
void rh_lang_emit_store(rh_lang_emitter *e, const rh_lang_target *target, const rh_lang_value *value);

// emit_value.c
int rh_lang_value_parts(rh_lang_type type);
LLVMValueRef rh_lang_emit_integer(rh_lang_emitter *e, rh_lang_element element, int64_t value);
LLVMValueRef rh_lang_emit_number(rh_lang_emitter *e, rh_lang_element element, double value);  // of any element
LLVMValueRef rh_lang_emit_cast(rh_lang_emitter *e, LLVMValueRef value, rh_lang_element from, rh_lang_element to);
rh_lang_value rh_lang_emit_convert(rh_lang_emitter *e, const rh_lang_value *value, rh_lang_type to);
rh_lang_value rh_lang_emit_zero(rh_lang_emitter *e, rh_lang_type type);
rh_lang_value rh_lang_emit_binary(rh_lang_emitter *e, rh_lang_operator operation, const rh_lang_value *left,
                                  const rh_lang_value *right);
rh_lang_value rh_lang_emit_unary(rh_lang_emitter *e, rh_lang_operator operation, const rh_lang_value *operand);
// One pair of numbers of the same element.
LLVMValueRef rh_lang_emit_operation(rh_lang_emitter *e, rh_lang_operator operation, rh_lang_element element,
                                    LLVMValueRef a, LLVMValueRef b);
LLVMValueRef rh_lang_emit_remainder(rh_lang_emitter *e, rh_lang_element element, LLVMValueRef a,
                                    LLVMValueRef b);  // sign of the dividend
LLVMValueRef rh_lang_emit_compare(rh_lang_emitter *e, rh_lang_operator operation, rh_lang_element element,
                                  LLVMValueRef a, LLVMValueRef b);
LLVMValueRef rh_lang_emit_choose(rh_lang_emitter *e, LLVMValueRef condition, LLVMValueRef a, LLVMValueRef b);
rh_lang_value rh_lang_emit_product(rh_lang_emitter *e, const rh_lang_value *left, const rh_lang_value *right);

// emit_call.c
rh_lang_value rh_lang_emit_call(rh_lang_emitter *e, const rh_lang_node *node);
// Calls a C function with the given arguments, LLVM types taken from them. `pure`: nothing but its arguments matters.
LLVMValueRef rh_lang_emit_c(rh_lang_emitter *e, void (*symbol)(void), LLVMTypeRef result, LLVMValueRef *arguments,
                            int count, bool pure);
// The address of a copy in spill memory `place`, as C wants it, and back.
LLVMValueRef rh_lang_emit_spill(rh_lang_emitter *e, const rh_lang_value *value, int place);
rh_lang_value rh_lang_emit_unspill(rh_lang_emitter *e, rh_lang_type type, LLVMValueRef address);

// emit_builtin.c: functions that are emitted in place. False when there is none of that name.
bool rh_lang_emit_builtin(rh_lang_emitter *e, const char *name, rh_lang_type result, const rh_lang_value *arguments,
                          int count, rh_lang_value *out);

// emit_lanes.c: functions that exist for eight elements at once. False when there is none of that name.
bool rh_lang_emit_lanes(rh_lang_emitter *e, const char *name, rh_lang_type result, const rh_lang_value *values,
                        int count, rh_lang_value *out);
// Tells LLVM, where such were called, to take the loop that ends with the branch `back` in steps of eight.
void rh_lang_emit_stride(rh_lang_emitter *e, LLVMValueRef back);
