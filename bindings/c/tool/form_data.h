/* A multipart form, built from the fields of -F. */
#ifndef BOXRETRY_TOOL_FORM_DATA_H
#define BOXRETRY_TOOL_FORM_DATA_H

#include <boxretry.h>
#include <stdbool.h>

/** Its parts. The form owns their strings and data. */
typedef struct form_data {
  boxretry_part *parts;
  size_t count;
} form_data;

/**
 * Adds a field: NAME=TEXT, NAME=@FILE (upload the file) or NAME=<FILE (its contents as text), each optionally followed
 * by ;type=TYPE and ;filename=NAME. Other semicolons are part of a text; in a file name they must be quoted. On failure
 * returns false and sets *why; if that is NULL, errno has the reason.
 */
bool form_data_add(form_data *form, const char *field, const char **why);

void form_data_free(form_data *form);

#endif
