/* The file that -o names, before there is anything to write. */
#ifndef BOXRETRY_TOOL_OUTPUT_FILE_H
#define BOXRETRY_TOOL_OUTPUT_FILE_H

#include <stdbool.h>

/** Whether there is, or could be, a file of that name to write, so that nothing is sent in vain. Else errno. */
bool output_file_is_possible(const char *path);

/** Whether it is, or will be, an ordinary file: no device, no pipe. Those may keep a writer waiting. */
bool output_file_is_ordinary(const char *path);

#endif
