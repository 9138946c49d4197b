// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Functions that exist for one element and for eight at once. A call says so with the attribute by which LLVM's loop
// vectoriser finds vector versions of functions ("vector-function-abi-variant", as for the C library's mathematics),
// and the loop over elements is told to go in steps of eight. Where it cannot (strings, loops of unknown length, random
// numbers) the calls remain calls for one element, with the same bits. How eight doubles are handed to C differs
// between processors, so the vector version is code of ours that puts them into memory.
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>
#include "lang/emit.h"
#include "lang/library/library.h"

enum { LANES = 8, MOST = 3 };
#define SYMBOL(function) ((void (*)(void))(function))
#define OF_ONE(name)                                                                                \
    {                                                                                               \
#name, RH_LANG_E_FLOAT, 1, 1, {SYMBOL(rh_lang_##name##_1) }, { SYMBOL(rh_lang_##name##_8) } \
    }
#define OF_TWO(name)                                                                                \
    {                                                                                               \
#name, RH_LANG_E_FLOAT, 2, 1, {SYMBOL(rh_lang_##name##_1) }, { SYMBOL(rh_lang_##name##_8) } \
    }

// Each gives `parts` numbers of so many: for noise the coordinates, 0 where they are not given.
static const struct {
    const char *name;
    rh_lang_element element;
    int arguments, parts;
    void (*one[MOST])(void), (*eight[MOST])(void);
} lane_functions[] = {
    {"simplexnoise", RH_LANG_E_DOUBLE, 3, 1, {SYMBOL(rh_lang_simplexnoise_3)}, {SYMBOL(rh_lang_simplexnoise_8)}},
    {"curlsimplexnoise",
     RH_LANG_E_DOUBLE,
     3,
     3,
     {SYMBOL(rh_lang_curlsimplex_x), SYMBOL(rh_lang_curlsimplex_y), SYMBOL(rh_lang_curlsimplex_z)},
     {SYMBOL(rh_lang_curlsimplex_8x), SYMBOL(rh_lang_curlsimplex_8y), SYMBOL(rh_lang_curlsimplex_8z)}},
    OF_ONE(sin),
    OF_ONE(cos),
    OF_ONE(tan),
    OF_ONE(atan),
    OF_ONE(asin),
    OF_ONE(acos),
    OF_ONE(exp),
    OF_ONE(exp2),
    OF_ONE(log),
    OF_ONE(log2),
    OF_ONE(log10),
    OF_ONE(cbrt),
    OF_ONE(sinh),
    OF_ONE(cosh),
    OF_ONE(tanh),
    OF_TWO(atan2),
    OF_TWO(pow),
    OF_TWO(fmod),
};

static void add_attribute(rh_lang_emitter *e, LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (kind)
        LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(e->context, kind, 0));
}

static LLVMTypeRef type_of(LLVMTypeRef number, int count)
{
    LLVMTypeRef types[MOST] = {number, number, number};
    return LLVMFunctionType(number, types, (unsigned)count, 0);
}

static LLVMValueRef new_function(rh_lang_emitter *e, const char *name, LLVMTypeRef type)
{
    LLVMValueRef function = LLVMAddFunction(e->module, name, type);
    add_attribute(e, function, "nounwind");
    add_attribute(e, function, "willreturn");
    add_attribute(e, function,
                  LLVMGetEnumAttributeKindForName("memory", 6) ? "memory" : "readnone");  // none but its own
    return function;
}

// The builder stands in the new function's only block; its place before is given back.
static LLVMBasicBlockRef enter(rh_lang_emitter *e, LLVMValueRef function)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMPositionBuilderAtEnd(e->builder, LLVMAppendBasicBlockInContext(e->context, function, "entry"));
    return before;
}

// For one: not inlined, or the vectoriser would see a call of an address, which has no vector version.
static void define_one(rh_lang_emitter *e, LLVMValueRef function, LLVMTypeRef number, int count, void (*symbol)(void))
{
    LLVMBasicBlockRef before = enter(e, function);
    LLVMValueRef arguments[MOST];
    for (int i = 0; i < count; i++) arguments[i] = LLVMGetParam(function, (unsigned)i);
    add_attribute(e, function, "noinline");
    LLVMBuildRet(e->builder, rh_lang_emit_c(e, symbol, number, arguments, count, false));
    LLVMPositionBuilderAtEnd(e->builder, before);
}

static void define_eight(rh_lang_emitter *e, LLVMValueRef function, LLVMTypeRef row, int count, void (*symbol)(void))
{
    LLVMBasicBlockRef before = enter(e, function);
    LLVMValueRef memory[1 + MOST], arguments[1 + MOST];
    for (int i = 0; i < 1 + count; i++) {
        memory[i] = LLVMBuildAlloca(e->builder, row, "");
        if (i > 0) LLVMBuildStore(e->builder, LLVMGetParam(function, (unsigned)(i - 1)), memory[i]);
        arguments[i] = LLVMBuildBitCast(e->builder, memory[i], e->bytes, "");
    }
    rh_lang_emit_c(e, symbol, LLVMVoidTypeInContext(e->context), arguments, 1 + count, false);
    LLVMBuildRet(e->builder, LLVMBuildLoad2(e->builder, row, memory[0], ""));
    LLVMPositionBuilderAtEnd(e->builder, before);
}

static LLVMValueRef call_part(rh_lang_emitter *e, int f, int part, LLVMValueRef *arguments)
{
    char one[64], eight[72], variant[200];
    int count = lane_functions[f].arguments;
    snprintf(one, sizeof one, "%s_part%d", lane_functions[f].name, part);
    snprintf(eight, sizeof eight, "%s_eight", one);
    LLVMTypeRef number = e->element[lane_functions[f].element], row = LLVMVectorType(number, LANES),
                type = type_of(number, count);
    LLVMValueRef function = LLVMGetNamedFunction(e->module, one);
    if (!function) {
        function = new_function(e, one, type);
        define_one(e, function, number, count, lane_functions[f].one[part]);
        define_eight(e, new_function(e, eight, type_of(row, count)), row, count, lane_functions[f].eight[part]);
    }
    LLVMValueRef call = LLVMBuildCall2(e->builder, type, function, arguments, (unsigned)count, "");
    int length = snprintf(variant, sizeof variant, "_ZGV_LLVM_N%d%s_%s(%s)", LANES, &"vvv"[MOST - count], one, eight);
    static const char kind[] = "vector-function-abi-variant";
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateStringAttribute(e->context, kind, sizeof kind - 1, variant, (unsigned)length));
    e->lanes = true;
    return call;
}

bool rh_lang_emit_lanes(rh_lang_emitter *e, const char *name, rh_lang_type result, const rh_lang_value *values,
                        int count, rh_lang_value *out)
{
    const int functions = sizeof lane_functions / sizeof lane_functions[0];
    int f = 0;
    while (f < functions && (strcmp(name, lane_functions[f].name) != 0 ||
                             rh_lang_type_element(values[0].type) != lane_functions[f].element))
        f++;
    if (f == functions) return false;
    LLVMValueRef arguments[MOST];
    bool vector = count == 1 && rh_lang_is_vector(values[0].type);
    for (int i = 0; i < lane_functions[f].arguments; i++) {
        if (!vector && i < count && rh_lang_type_element(values[i].type) != lane_functions[f].element)
            return false;  // pow(float, int)
        arguments[i] = vector      ? values[0].part[i]
                       : i < count ? values[i].part[0]
                                   : rh_lang_emit_number(e, lane_functions[f].element, 0);
    }
    *out = (rh_lang_value){.type = result};
    for (int part = 0; part < lane_functions[f].parts; part++) out->part[part] = call_part(e, f, part, arguments);
    return true;
}

static LLVMMetadataRef text(rh_lang_emitter *e, const char *words)
{
    return LLVMMDStringInContext2(e->context, words, strlen(words));
}

// A loop's own name for itself is a list that begins with itself.
void rh_lang_emit_stride(rh_lang_emitter *e, LLVMValueRef back)
{
    if (!e->lanes) return;
    LLVMMetadataRef width[] = {text(e, "llvm.loop.vectorize.width"),
                               LLVMValueAsMetadata(LLVMConstInt(e->i32, LANES, 0))};
    LLVMMetadataRef itself = LLVMTemporaryMDNode(e->context, NULL, 0),
                    parts[] = {itself, LLVMMDNodeInContext2(e->context, width, 2)};
    LLVMMetadataRef loop = LLVMMDNodeInContext2(e->context, parts, 2);
    LLVMMetadataReplaceAllUsesWith(itself, loop);
    LLVMSetMetadata(back, LLVMGetMDKindIDInContext(e->context, "llvm.loop", 9), LLVMMetadataAsValue(e->context, loop));
}
