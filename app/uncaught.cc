// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// See uncaught.h. Nothing here takes memory from the heap, which is what has run out.
#include "uncaught.h"

#include <cstring>
#include <exception>
#include <new>
#include <unistd.h>

namespace {

void say(const char *words)
{
    // Nobody is left to be told of a standard error that cannot be written.
    if (write(STDERR_FILENO, words, std::strlen(words)) < 0) return;
}

[[noreturn]] void end_program() noexcept
{
    try {
        if (std::current_exception()) throw;
        say("rheo: error: a library the program stands on has given up without a reason\n");
    } catch (const std::bad_alloc &) {
        say("rheo: error: out of memory: a library the program stands on could not go on\n");
    } catch (const std::exception &error) {
        say("rheo: error: a library the program stands on has given up: ");
        say(error.what());
        say("\n");
    } catch (...) {
        say("rheo: error: a library the program stands on has given up without a reason\n");
    }
    _exit(1);
}

}  // namespace

void app_tell_uncaught(void) { std::set_terminate(end_program); }
