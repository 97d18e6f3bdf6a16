/* ini.h - an ini file as a list of entries, each with the line it stands on.
 *
 * The grammar is inih's (docs/config.md): sections, key = value or key : value, comments with ; or #, inline comments
 * with " ;", values that go on in lines that begin with white space. Sections may repeat; a key may not repeat within
 * one section.
 *
 * Not here: which sections and keys mean something (setup.c).
 */
#ifndef HOST_ENGINE_INI_H
#define HOST_ENGINE_INI_H

#include "../base/base.h"

enum { INI_LINE_BYTES = 190 }; /* bytes; longer values go on in further lines */

typedef struct ini_entry_t {
    char *section; /* "" before the first */
    char *key;
    char *value;
    uint32_t line;
    uint32_t section_number; /* counts the section headers, so that two sections of one name stay apart */
} ini_entry_t;

typedef struct ini_section_t {
    char *name;
    uint32_t line;
} ini_section_t;

typedef struct ini_t {
    memory_t memory;
    char *path;
    ini_entry_t *entries;
    uint32_t count, capacity;
    ini_section_t *sections; /* all headers in order, those without entries too; number 1 is sections[0] */
    uint32_t section_count, section_capacity;
} ini_t;

/* Read a file. On failure nothing is kept, and the error begins with "file:line: ". [main] */
bp_result_t ini_read(ini_t *ini, base_t *base, const char *path);
void ini_free(ini_t *ini);

#endif
