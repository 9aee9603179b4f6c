/* Checks the file of -o before there is anything to write. */
#ifndef BOXRETRY_TOOL_OUTPUT_FILE_H
#define BOXRETRY_TOOL_OUTPUT_FILE_H

#include <stdbool.h>

/** Whether the file can be written, so that a request is not sent in vain. If not, sets errno. */
bool output_file_is_possible(const char *path);

/** Whether it is, or will be, a regular file, not a device or a pipe: those may block the writer. */
bool output_file_is_ordinary(const char *path);

#endif
