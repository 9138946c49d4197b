// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The built page (viewer/dist) put into the program by the assembler, so that it needs no files around it.
#include "view/server_page.h"

#include <string.h>

#define EMBED(name, file)                                                    \
    __asm__(".pushsection .rodata\n"                                         \
            ".balign 16\n" #name ":\n"                                       \
            ".incbin \"" RHEO_PAGE_DIR "/" file "\"\n" #name "_end:\n"       \
            ".byte 0\n"                                                      \
            ".popsection\n");                                                \
    extern const unsigned char name[] __attribute__((visibility("hidden"))), \
        name##_end[] __attribute__((visibility("hidden")))

EMBED(rh_page_html, "index.html");
EMBED(rh_page_script, "viewer.js");
EMBED(rh_page_style, "viewer.css");
EMBED(rh_page_decoder, "decode.js");
EMBED(rh_page_licenses, "licenses.txt");

// The length of a file is the distance of two labels, known to the linker only: hence the ends here and the lengths
// below.
static const struct {
    const char *route, *type;
    const unsigned char *start, *end;
} files[] = {
    {"/", "text/html; charset=utf-8", rh_page_html, rh_page_html_end},
    {"/viewer.js", "text/javascript; charset=utf-8", rh_page_script, rh_page_script_end},
    {"/viewer.css", "text/css; charset=utf-8", rh_page_style, rh_page_style_end},
    {"/decode.js", "text/javascript; charset=utf-8", rh_page_decoder, rh_page_decoder_end},
    {"/licenses.txt", "text/plain; charset=utf-8", rh_page_licenses, rh_page_licenses_end},
};

bool rh_page_find(const char *route, rh_page_file *out)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(files[i].route, route)) continue;
        *out = (rh_page_file){files[i].type, files[i].start, (size_t)(files[i].end - files[i].start)};
        return true;
    }
    return false;
}
