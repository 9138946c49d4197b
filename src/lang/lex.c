// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The lexer, by hand: the language has few rules and the messages are better for it. What other languages have and this
// one has not (hexadecimal numbers, block comments, swizzles, 1f) is recognised in order to say so.
#include "lang/lex.h"
#include <ctype.h>
#include <math.h>
#include <string.h>
#include "base/number.h"

typedef struct lexer {
    rh_lang_unit *unit;
    const char *at, *end, *line_start;
    int line;
    rh_lang_token *tokens;
    size_t count, capacity;
} lexer;

static const char *const reserved[] = {
    "case",     "char",   "class",   "const",     "def",    "default",  "enum",   "extern",  "friend",
    "function", "inline", "private", "protected", "signed", "sizeof",   "static", "struct",  "switch",
    "template", "this",   "typedef", "uniform",   "union",  "unsigned", "until",  "virtual", "void",
    "byte",     "flt",    "flt16",   "flt32",     "flt64",  "int8",     "half",   "int16",
};

static const struct {
    const char *word;
    rh_lang_token_kind kind;
    int value;
} keywords[] = {
    {"if", RH_LANG_T_IF, 0},        {"else", RH_LANG_T_ELSE, 0},
    {"for", RH_LANG_T_FOR, 0},      {"while", RH_LANG_T_WHILE, 0},
    {"do", RH_LANG_T_DO, 0},        {"return", RH_LANG_T_RETURN, 0},
    {"break", RH_LANG_T_BREAK, 0},  {"continue", RH_LANG_T_CONTINUE, 0},
    {"true", RH_LANG_T_LOGICAL, 1}, {"false", RH_LANG_T_LOGICAL, 0},
};

static bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
static char peek(const lexer *l, size_t ahead) { return l->at + ahead < l->end ? l->at[ahead] : 0; }

static rh_lang_place place_of(const lexer *l, const char *start, size_t length)
{
    return (rh_lang_place){.line = l->line, .column = (int)(start - l->line_start) + 1, .length = (int)length};
}

static rh_lang_token *add(lexer *l, rh_lang_token_kind kind, size_t length)
{
    rh_lang_token *token = &l->tokens[l->count++];
    *token = (rh_lang_token){.kind = kind, .at = place_of(l, l->at, length), .start = l->at};
    l->at += length;
    return token;
}

static bool same(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

// v@ f@ i@ s@ int16@ and v$ f$ i$ s$: one token, so no space may stand before the sign.
static bool lex_prefix(lexer *l, size_t length)
{
    static const struct {
        const char *word;
        rh_lang_type type;
    } prefixes[] = {{"v", RH_LANG_VEC3F},
                    {"f", RH_LANG_FLOAT},
                    {"i", RH_LANG_INT32},
                    {"s", RH_LANG_STRING},
                    {"int16", RH_LANG_INT16}};
    char sign = peek(l, length);
    if (sign != '@' && sign != '$') return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (!same(l->at, length, prefixes[i].word) || (prefixes[i].type == RH_LANG_INT16 && sign == '$')) continue;
        add(l, sign == '@' ? RH_LANG_T_AT : RH_LANG_T_DOLLAR, length + 1)->type = prefixes[i].type;
        return true;
    }
    return false;
}

static bool lex_type(lexer *l, size_t length)
{
    rh_lang_type type = rh_lang_type_named(l->at, length);
    if (type == RH_LANG_VOID || same(l->at, length, "int16")) return false;
    static const char *const deprecated[][2] = {
        {"short", "write int or int64; an attribute of 16 bits is int16@name"},
        {"long", "write int64"},
        {"vectorint", "write vec3i"},
        {"vectorfloat", "write vec3f"},
        {"vectordouble", "write vec3d"},
    };
    for (size_t i = 0; i < sizeof deprecated / sizeof deprecated[0]; i++)
        if (same(l->at, length, deprecated[i][0]))
            rh_lang_warn(l->unit, place_of(l, l->at, length), deprecated[i][1], "the type \"%s\" is deprecated",
                         deprecated[i][0]);
    add(l, RH_LANG_T_TYPE, length)->type = type;
    return true;
}

static void lex_word(lexer *l)
{
    size_t length = 1;
    while (is_name_part(peek(l, length))) length++;
    if (lex_prefix(l, length) || lex_type(l, length)) return;
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (same(l->at, length, keywords[i].word)) {
            add(l, keywords[i].kind, length)->value.integer = keywords[i].value;
            return;
        }
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (same(l->at, length, reserved[i])) {
            const char *hint = strcmp(reserved[i], "int16") == 0 ? "there are int16@attributes only; write int"
                                                                 : "it may not be used";
            rh_lang_error(l->unit, place_of(l, l->at, length), hint, "found the reserved word \"%s\"", reserved[i]);
            add(l, RH_LANG_T_WRONG, length);
            return;
        }
    add(l, RH_LANG_T_NAME, length);
}

static void finish_integer(lexer *l, size_t digits, size_t length)
{
    rh_lang_place at = place_of(l, l->at, length);
    bool wide = length > digits && l->at[digits] == 'l';
    uint64_t value = 0;
    bool too_large = false;
    for (size_t i = 0; i < digits; i++) {
        unsigned digit = (unsigned)(l->at[i] - '0');
        too_large |= value > (UINT64_MAX - digit) / 10;
        value = value * 10 + digit;
    }
    if (too_large)
        rh_lang_error(l->unit, at, NULL,
                      "found an integer of more than 64 bits, expected at most 9223372036854775807l");
    else if (value > (wide ? (uint64_t)INT64_MAX : (uint64_t)INT32_MAX))
        rh_lang_warn(l->unit, at, wide ? NULL : "an int64 literal ends in l",
                     "the integer does not fit into %s and wraps around", wide ? "int64" : "int32");
    if (length > digits && l->at[digits] == 's')
        rh_lang_warn(l->unit, at, "leave out the s", "literals of short are deprecated");
    rh_lang_token *token = add(l, RH_LANG_T_INTEGER, length);
    token->type = wide ? RH_LANG_INT64 : RH_LANG_INT32;
    token->value.integer = wide ? (int64_t)value : (int64_t)(int32_t)(uint32_t)value;
}

// A float is read as a double and rounded again: the second rounding changes the result once in 2^29 literals, by half
// a unit.
static void finish_real(lexer *l, size_t digits, size_t length)
{
    rh_lang_place at = place_of(l, l->at, length);
    bool single = length > digits;
    double value = 0;
    char text[512];
    if (digits >= sizeof text) {
        rh_lang_error(l->unit, at, NULL, "found a number of %zu characters, expected fewer than %zu", digits,
                      sizeof text);
    } else {
        memcpy(text, l->at, digits);
        text[digits] = 0;
        if (rh_number_parse(text, &value) == RH_NUMBER_TOO_LARGE) value = INFINITY;
        if (single) value = (double)(float)value;
        bool zero = strpbrk(text, "123456789") == NULL || strcspn(text, "123456789") > strcspn(text, "eE");
        if (isinf(value))
            rh_lang_warn(l->unit, at, NULL, "the number is too large for a %s and becomes inf",
                         single ? "float" : "double");
        else if (!zero && fabs(value) < (single ? 1.1754943508222875e-38 : 2.2250738585072014e-308))
            rh_lang_warn(l->unit, at, NULL, "the number is too small for a %s and loses digits",
                         single ? "float" : "double");
    }
    rh_lang_token *token = add(l, RH_LANG_T_REAL, length);
    token->type = single ? RH_LANG_FLOAT : RH_LANG_DOUBLE;
    token->value.real = value;
}

// What stands glued to a number: 1f, 0x10, 12abc.
static void wrong_number(lexer *l, size_t digits, bool real)
{
    size_t length = digits;
    while (is_name_part(peek(l, length))) length++;
    rh_lang_place at = place_of(l, l->at, length);
    const char *hint = NULL;
    if (!real && length == digits + 1 && l->at[digits] == 'f') hint = "a float has a point or an exponent: 1.0f, 1e3f";
    else if (!real && digits == 1 && l->at[0] == '0' && (l->at[1] == 'x' || l->at[1] == 'X'))
        hint = "there are no hexadecimal numbers";
    else if (real && length == digits + 1 && l->at[digits] == 'd')
        hint = "a number with a point is a double without a letter";
    rh_lang_error(l->unit, at, hint, "found \"%.*s\", expected a number", (int)(length < 40 ? length : 40), l->at);
    add(l, RH_LANG_T_WRONG, length);
}

static void lex_number(lexer *l)
{
    size_t n = 0;
    bool real = false;
    while (is_digit(peek(l, n))) n++;
    if (n == 1 && peek(l, 1) == '@' && (peek(l, 0) == '3' || peek(l, 0) == '4')) {
        rh_lang_type type = peek(l, 0) == '3' ? RH_LANG_MAT3F : RH_LANG_MAT4F;
        add(l, RH_LANG_T_AT, 2)->type = type;
        return;
    }
    if (peek(l, n) == '.') {
        real = true;
        n++;
        while (is_digit(peek(l, n))) n++;
    }
    if (peek(l, n) == 'e' || peek(l, n) == 'E') {
        size_t sign = peek(l, n + 1) == '+' || peek(l, n + 1) == '-';
        if (is_digit(peek(l, n + 1 + sign))) {
            real = true;
            n += 1 + sign;
            while (is_digit(peek(l, n))) n++;
        }
    }
    size_t suffix = real ? peek(l, n) == 'f' : peek(l, n) == 'l' || peek(l, n) == 's';
    if (is_name_part(peek(l, n + suffix))) wrong_number(l, n, real);
    else if (real) finish_real(l, n, n + suffix);
    else finish_integer(l, n, n + suffix);
}

static void lex_string(lexer *l)
{
    size_t n = 1;
    while (l->at + n < l->end && l->at[n] != '"' && l->at[n] != '\n')
        n += l->at[n] == '\\' && l->at + n + 1 < l->end && l->at[n + 1] != '\n' ? 2 : 1;
    if (peek(l, n) != '"') {
        rh_lang_error(l->unit, place_of(l, l->at, n), "a string ends on its line",
                      "found a string without its closing \"");
        add(l, RH_LANG_T_WRONG, n);
        return;
    }
    add(l, RH_LANG_T_STRING, n + 1);
}

static void lex_component(lexer *l)
{
    static const char letters[] = "xyzrgb";
    size_t length = 1;
    while (is_name_part(peek(l, length))) length++;
    const char *letter = strchr(letters, peek(l, 1));
    if (length != 2 || !letter) {
        bool fourth = length == 2 && (peek(l, 1) == 'w' || peek(l, 1) == 'a');
        rh_lang_error(l->unit, place_of(l, l->at, length),
                      fourth ? "write [3]" : "there are no swizzles: take one component at a time",
                      "found \"%.*s\", expected .x .y .z or .r .g .b", (int)(length < 40 ? length : 40), l->at);
        letter = letters;
    }
    add(l, RH_LANG_T_COMPONENT, length)->value.integer = (letter - letters) % 3;
}

static bool lex_assign_or_operator(lexer *l)
{
    static const struct {
        const char *text;
        rh_lang_token_kind kind;
        rh_lang_operator operation;
    } table[] = {
        // longer ones first
        {"<<=", RH_LANG_T_ASSIGN, RH_LANG_SHL},
        {">>=", RH_LANG_T_ASSIGN, RH_LANG_SHR},
        {"++", RH_LANG_T_CREMENT, RH_LANG_ADD},
        {"--", RH_LANG_T_CREMENT, RH_LANG_SUB},
        {"+=", RH_LANG_T_ASSIGN, RH_LANG_ADD},
        {"-=", RH_LANG_T_ASSIGN, RH_LANG_SUB},
        {"*=", RH_LANG_T_ASSIGN, RH_LANG_MUL},
        {"/=", RH_LANG_T_ASSIGN, RH_LANG_DIV},
        {"%=", RH_LANG_T_ASSIGN, RH_LANG_MOD},
        {"&=", RH_LANG_T_ASSIGN, RH_LANG_BIT_AND},
        {"|=", RH_LANG_T_ASSIGN, RH_LANG_BIT_OR},
        {"^=", RH_LANG_T_ASSIGN, RH_LANG_BIT_XOR},
        {"<<", RH_LANG_T_OPERATOR, RH_LANG_SHL},
        {">>", RH_LANG_T_OPERATOR, RH_LANG_SHR},
        {"==", RH_LANG_T_OPERATOR, RH_LANG_EQ},
        {"!=", RH_LANG_T_OPERATOR, RH_LANG_NE},
        {"<=", RH_LANG_T_OPERATOR, RH_LANG_LE},
        {">=", RH_LANG_T_OPERATOR, RH_LANG_GE},
        {"&&", RH_LANG_T_OPERATOR, RH_LANG_AND},
        {"||", RH_LANG_T_OPERATOR, RH_LANG_OR},
        {"+", RH_LANG_T_OPERATOR, RH_LANG_ADD},
        {"-", RH_LANG_T_OPERATOR, RH_LANG_SUB},
        {"*", RH_LANG_T_OPERATOR, RH_LANG_MUL},
        {"/", RH_LANG_T_OPERATOR, RH_LANG_DIV},
        {"%", RH_LANG_T_OPERATOR, RH_LANG_MOD},
        {"&", RH_LANG_T_OPERATOR, RH_LANG_BIT_AND},
        {"|", RH_LANG_T_OPERATOR, RH_LANG_BIT_OR},
        {"^", RH_LANG_T_OPERATOR, RH_LANG_BIT_XOR},
        {"<", RH_LANG_T_OPERATOR, RH_LANG_LT},
        {">", RH_LANG_T_OPERATOR, RH_LANG_GT},
        {"=", RH_LANG_T_ASSIGN, RH_LANG_NONE},
        {"!", RH_LANG_T_NOT, RH_LANG_NOT},
        {"~", RH_LANG_T_BIT_NOT, RH_LANG_BIT_NOT},
        {"(", RH_LANG_T_OPEN, 0},
        {")", RH_LANG_T_CLOSE, 0},
        {"{", RH_LANG_T_OPEN_BRACE, 0},
        {"}", RH_LANG_T_CLOSE_BRACE, 0},
        {"[", RH_LANG_T_OPEN_INDEX, 0},
        {"]", RH_LANG_T_CLOSE_INDEX, 0},
        {",", RH_LANG_T_COMMA, 0},
        {";", RH_LANG_T_SEMICOLON, 0},
        {"?", RH_LANG_T_QUESTION, 0},
        {":", RH_LANG_T_COLON, 0},
        {"@", RH_LANG_T_AT, 0},
        {"$", RH_LANG_T_DOLLAR, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        size_t length = strlen(table[i].text);
        if ((size_t)(l->end - l->at) < length || memcmp(l->at, table[i].text, length) != 0) continue;
        add(l, table[i].kind, length)->operation = table[i].operation;
        return true;
    }
    return false;
}

static void wrong_bytes(lexer *l)
{
    size_t n = 1;
    unsigned char c = (unsigned char)*l->at;
    while (c >= 128 && (unsigned char)peek(l, n) >= 128) n++;
    rh_lang_place at = place_of(l, l->at, n);
    if (c == '\'') rh_lang_error(l->unit, at, "strings stand between \"\"", "found a stray '");
    else if (isprint(c)) rh_lang_error(l->unit, at, NULL, "found a stray '%c'", c);
    else rh_lang_error(l->unit, at, NULL, "found a byte of value %u, expected plain ASCII", c);
    add(l, RH_LANG_T_WRONG, n);
}

static void new_line(lexer *l)
{
    l->line++;
    l->line_start = l->at;
}

static void block_comment(lexer *l)
{
    rh_lang_error(l->unit, place_of(l, l->at, 2), "begin each line of a comment with //",
                  "found a comment between /* and */");
    for (l->at += 2; l->at < l->end && !(l->at[0] == '*' && peek(l, 1) == '/');)
        if (*l->at++ == '\n') new_line(l);
    l->at = l->at + 2 <= l->end ? l->at + 2 : l->end;
}

static void lex_one(lexer *l)
{
    char c = *l->at;
    if (c == '\n') {
        l->at++;
        new_line(l);
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        l->at++;
    } else if (c == '/' && peek(l, 1) == '/') {
        while (l->at < l->end && *l->at != '\n') l->at++;
    } else if (c == '/' && peek(l, 1) == '*') {
        block_comment(l);
    } else if (is_name_start(c)) {
        lex_word(l);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(l, 1)))) {
        lex_number(l);
    } else if (c == '"') {
        lex_string(l);
    } else if (c == '.' && is_name_start(peek(l, 1))) {
        lex_component(l);
    } else if (!lex_assign_or_operator(l)) {
        wrong_bytes(l);
    }
}

const rh_lang_token *rh_lang_lex(rh_lang_unit *unit)
{
    // A token takes at least a byte; a real source has several bytes to one, but memory that is only reserved costs
    // nothing.
    lexer l = {
        .unit = unit, .at = unit->source, .end = unit->source + unit->length, .line_start = unit->source, .line = 1};
    l.capacity = unit->length + 1;
    l.tokens = rh_arena_take(&unit->arena, l.capacity * sizeof *l.tokens, unit->status);
    if (!l.tokens) {
        unit->failed = true;
        return NULL;
    }
    while (l.at < l.end) lex_one(&l);
    add(&l, RH_LANG_T_END, 0);
    return l.tokens;
}
