// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// LLVM's optimiser and its just-in-time linker (ORC LLJIT): the only file that knows them. One source for LLVM 14 to
// 19; what changed between releases: attribute names (emit_call.c), opaque pointers (types are carried everywhere).
//
// Each program has a linker of its own, so freeing one frees its code. Setting one up takes about a millisecond; the
// optimiser takes ten times that.
#include "lang/code.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <string.h>
#include "base/memory.h"
#include "lang/emit.h"

struct rh_lang_code {
    LLVMOrcLLJITRef linker;
    rh_lang_kernel *kernel;
    char *text;
};

static void start_llvm(void)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

// LLVM would print what it could not do as it was told (a loop that does not go in steps of eight). The library prints
// nothing.
static void say_nothing(LLVMDiagnosticInfoRef info, void *user)
{
    (void)info;
    (void)user;
}

static rh_code refuse(rh_status *status, LLVMErrorRef error)
{
    char *message = LLVMGetErrorMessage(error);
    rh_fail(status, RH_IO, "LLVM refused an expression: %s", message);
    LLVMDisposeErrorMessage(message);
    return RH_IO;
}

// For this very processor. Vectors as wide as it likes: the width changes no bits, as nothing is reassociated.
static LLVMTargetMachineRef host_machine(LLVMCodeGenOptLevel level, rh_status *status)
{
    char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures(),
         *message = NULL;
    LLVMTargetRef target;
    LLVMTargetMachineRef machine = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &message) == 0)
        machine = LLVMCreateTargetMachine(target, triple, cpu, features, level, LLVMRelocPIC, LLVMCodeModelJITDefault);
    if (!machine) rh_fail(status, RH_IO, "LLVM knows no code for this processor: %s", message ? message : triple);
    LLVMDisposeMessage(message);
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return machine;
}

// How much work LLVM may do. Its time grows with the square of a function's length (300 products of 4 x 4 matrices, one
// page of text, took eight seconds with everything on, 2000 loops a minute), so long programs get passes and a code
// generator of linear time.
typedef struct effort {
    const char *passes;
    LLVMCodeGenOptLevel level;
} effort;

enum { LONG_CODE = 8000, VERY_LONG_CODE = 20000, MANY_LOOPS = 100 };  // instructions as emitted, loops of the program

static int count_instructions(LLVMModuleRef module)
{
    int count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) count++;
    return count;
}

static effort effort_for(LLVMModuleRef module, const rh_lang_options *options, const rh_lang_facts *facts)
{
    static const char quick[] = "function(sroa,early-cse,simplifycfg,instcombine,simplifycfg)";
    int length = count_instructions(module);
    if (options->unoptimised) return (effort){"default<O0>", LLVMCodeGenLevelNone};
    if (length > VERY_LONG_CODE) return (effort){quick, LLVMCodeGenLevelNone};
    if (length > LONG_CODE || facts->all_loops > MANY_LOOPS) return (effort){quick, LLVMCodeGenLevelLess};
    return (effort){"default<O3>", LLVMCodeGenLevelAggressive};
}

static rh_code optimise(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes, rh_status *status)
{
    char *triple = LLVMGetTargetMachineTriple(machine), *message = NULL;
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetTarget(module, triple);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeTargetData(layout);
    LLVMDisposeMessage(triple);
    bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
    if (broken)
        rh_fail(status, RH_IO, "the expression compiler made wrong code (please report the program): %s", message);
    LLVMDisposeMessage(message);
    if (broken) return RH_IO;
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    return error ? refuse(status, error) : RH_OK;
}

// Takes the machine. Names that the code generator itself uses (memcpy, fmodf) are found in the process.
static rh_code make_linker(LLVMTargetMachineRef machine, LLVMOrcLLJITRef *out, rh_status *status)
{
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder,
                                                  LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
    LLVMErrorRef error = LLVMOrcCreateLLJIT(out, builder);
    if (error) return refuse(status, error);
    LLVMOrcDefinitionGeneratorRef generator;
    error = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&generator, LLVMOrcLLJITGetGlobalPrefix(*out), NULL,
                                                                 NULL);
    if (error) return refuse(status, error);
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(*out), generator);
    return RH_OK;
}

// Takes the module.
static rh_code link_module(rh_lang_code *code, LLVMOrcThreadSafeContextRef context, LLVMModuleRef module,
                           rh_status *status)
{
    LLVMOrcThreadSafeModuleRef safe = LLVMOrcCreateNewThreadSafeModule(module, context);
    LLVMErrorRef error = LLVMOrcLLJITAddLLVMIRModule(code->linker, LLVMOrcLLJITGetMainJITDylib(code->linker), safe);
    if (error) {
        LLVMOrcDisposeThreadSafeModule(safe);
        return refuse(status, error);
    }
    LLVMOrcExecutorAddress address = 0;
    error = LLVMOrcLLJITLookup(code->linker, &address, "kernel");
    if (error) return refuse(status, error);
    code->kernel = (rh_lang_kernel *)(uintptr_t)address;
    return RH_OK;
}

static rh_code keep_text(rh_lang_code *code, LLVMModuleRef module, rh_status *status)
{
    char *text = LLVMPrintModuleToString(module);
    code->text = rh_strdup(text, "lang.code", status);
    LLVMDisposeMessage(text);
    return code->text ? RH_OK : RH_MEMORY;
}

// Takes the module.
static rh_code build(effort work, const rh_lang_options *options, rh_lang_code *code,
                     LLVMOrcThreadSafeContextRef context, LLVMModuleRef module, rh_status *status)
{
    LLVMTargetMachineRef machine = host_machine(work.level, status);
    rh_code result = machine ? optimise(module, machine, work.passes, status) : RH_IO;
    if (result == RH_OK && options->keep_listing) result = keep_text(code, module, status);
    if (result == RH_OK) result = make_linker(machine, &code->linker, status);
    else if (machine) LLVMDisposeTargetMachine(machine);
    if (result == RH_OK) return link_module(code, context, module, status);
    LLVMDisposeModule(module);
    return result;
}

rh_code rh_lang_code_make(rh_lang_unit *unit, const rh_lang_node *program, const rh_lang_options *options,
                          const rh_lang_facts *facts, rh_lang_code **out)
{
    static pthread_once_t started = PTHREAD_ONCE_INIT;
    pthread_once(&started, start_llvm);
    *out = NULL;
    rh_lang_code *code = rh_alloc_zero(sizeof *code, "lang.code", unit->status);
    if (!code) return RH_MEMORY;
    LLVMOrcThreadSafeContextRef context = LLVMOrcCreateNewThreadSafeContext();
    LLVMContextRef llvm = LLVMOrcThreadSafeContextGetContext(context);
    LLVMContextSetDiagnosticHandler(llvm, say_nothing, NULL);
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("expression", llvm);
    rh_code result = RH_MEMORY;
    if (rh_lang_emit(unit, program, options, facts, llvm, module))
        result = build(effort_for(module, options, facts), options, code, context, module, unit->status);
    else LLVMDisposeModule(module);
    LLVMOrcDisposeThreadSafeContext(context);
    if (result == RH_OK) *out = code;
    else rh_lang_code_free(code);
    return result;
}

void rh_lang_code_free(rh_lang_code *code)
{
    if (!code) return;
    if (code->linker) LLVMConsumeError(LLVMOrcDisposeLLJIT(code->linker));
    rh_free(code->text);
    rh_free(code);
}

rh_lang_kernel *rh_lang_code_kernel(const rh_lang_code *code) { return code->kernel; }
const char *rh_lang_code_text(const rh_lang_code *code) { return code->text; }
