// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Names of a program and names of data.
#include <string.h>
#include "io/expression.h"

const char *rh_expression_bound(const rh_expression_options *options, const char *name)
{
    for (int i = 0; i < options->binding_count; i++)
        if (strcmp(options->bindings[i].name, name) == 0) return options->bindings[i].data;
    return name;
}

static rh_code check_binding(const rh_expression_options *options, int index, rh_status *status)
{
    const rh_expression_binding *b = &options->bindings[index];
    bool position = strcmp(b->name, "P") == 0, data_position = strcmp(b->data, "P") == 0;
    if (position != data_position)
        return rh_fail(status, RH_USER, "the binding of @%s to \"%s\": P cannot be bound, it is always the position",
                       b->name, b->data);
    for (int i = 0; i < index; i++) {
        const rh_expression_binding *other = &options->bindings[i];
        if (strcmp(other->name, b->name) == 0)
            return rh_fail(status, RH_USER, "@%s is bound to \"%s\" and to \"%s\", expected one binding for a name",
                           b->name, other->data, b->data);
        if (strcmp(other->data, b->data) == 0)
            return rh_fail(status, RH_USER, "@%s and @%s are both bound to \"%s\", expected one name for it",
                           other->name, b->name, b->data);
    }
    return RH_OK;
}

rh_code rh_expression_bindings_check(const rh_expression_options *options, const rh_lang_listing *listing,
                                     rh_status *status)
{
    for (int i = 0; i < options->binding_count; i++) RH_TRY(check_binding(options, i, status));
    // @a bound to "b" where the program also has @b, which nothing binds elsewhere: one array would be two columns.
    for (int i = 0; options->binding_count && i < listing->attribute_count; i++)
        for (int k = 0; k < i; k++) {
            const rh_lang_attribute_use *a = &listing->attributes[k], *b = &listing->attributes[i];
            const char *data = rh_expression_bound(options, a->name);
            if (strcmp(a->name, b->name) == 0 || strcmp(data, rh_expression_bound(options, b->name)) != 0) continue;
            return rh_fail(status, RH_USER,
                           "%d:%d: @%s and @%s both mean \"%s\" of the data; bind the other name elsewhere, too",
                           b->at.line, b->at.column, a->name, b->name, data);
        }
    return RH_OK;
}
