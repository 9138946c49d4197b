// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo doc: the reference manual, printed from the tables that the program itself reads.
#include <stdio.h>
#include <string.h>
#include "app.h"
#include "base/memory.h"
#include "base/param.h"
#include "lang/manual.h"
#include "scene/scene.h"

static void print_commands(bool markdown)
{
    if (markdown) fputs("# Commands\n", stdout);
    for (int i = 0; app_commands[i]; i++) {
        if (markdown || i > 0) fputs("\n", stdout);
        app_command_help(stdout, app_commands[i], markdown);
    }
}

static int print_functions(bool markdown)
{
    rh_status status = {0};
    char *text = rh_lang_manual(markdown, &status);
    if (!text) return app_report(&status);
    fputs(text, stdout);
    rh_free(text);
    return app_finish_output();
}

// The topic of the program itself that is near, or NULL.
static const char *near_own_topic(const char *word)
{
    static const char *const topics[] = {"commands", "functions"};
    return word ? rh_nearest_name(word, topics, 2) : NULL;
}

static int doc(const app_arguments *arguments)
{
    if (arguments->operand && !strcmp(arguments->operand, "commands")) {
        print_commands(arguments->markdown);
        return app_finish_output();
    }
    if (arguments->operand && !strcmp(arguments->operand, "functions")) return print_functions(arguments->markdown);
    rh_status status = {0};
    char *text = rh_scene_manual(arguments->operand, arguments->markdown, &status);
    if (!text) {
        const char *near = status.code == RH_USER ? near_own_topic(arguments->operand) : NULL;
        if (near)
            fprintf(stderr, "\"rheo doc %s\" tells about the %s of %s\n", near, near,
                    near[0] == 'c' ? "the program" : "expressions");
        return app_report(&status);
    }
    fputs(text, stdout);
    size_t length = strlen(text);
    if (length && text[length - 1] != '\n') fputs("\n", stdout);
    rh_free(text);
    if (!arguments->operand)
        fputs("\n\"rheo doc commands\" tells about the commands of the program, \"rheo doc functions\" about the "
              "functions of expressions.\n",
              stdout);
    return app_finish_output();
}

static const app_option options[] = {
    {"markdown", APP_FLAG, offsetof(app_arguments, markdown), NULL, "write Markdown instead of plain text"},
};

const app_command app_doc = {
    "doc",
    "TOPIC",
    false,
    false,
    "reference of scene files and commands",
    "Prints the reference manual for a part of a scene file (solids, sphere, liquid ...), or the\n"
    "overview without a topic. \"rheo doc commands\" describes all commands, \"rheo doc functions\" the\n"
    "functions of expressions.",
    options,
    APP_OPTION_COUNT(options),
    doc};
