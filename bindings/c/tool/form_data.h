/* A form with files, as the option -F gives it field by field. */
#ifndef BOXRETRY_TOOL_FORM_DATA_H
#define BOXRETRY_TOOL_FORM_DATA_H

#include <boxretry.h>
#include <stdbool.h>

/** Its parts, of which all strings and data are its own. */
typedef struct form_data {
  boxretry_part *parts;
  size_t count;
} form_data;

/**
 * Adds a field: NAME=TEXT, NAME=@FILE (the file itself) or NAME=<FILE (what is in it, as text), each with ;type=TYPE and
 * ;filename=NAME behind it. What is in a text apart from these two is a part of it, other semicolons too. What is in a
 * file name is a part of it if the name stands in quotes. False: *why says what is wrong, NULL: errno does.
 */
bool form_data_add(form_data *form, const char *field, const char **why);

void form_data_free(form_data *form);

#endif
