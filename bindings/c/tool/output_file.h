/* A file that appears under its name only when it is whole. */
#ifndef BOXRETRY_TOOL_OUTPUT_FILE_H
#define BOXRETRY_TOOL_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/** Whether there is, or could be, a file of that name to write: looked at before there is anything to write. Else errno. */
bool output_file_is_possible(const char *path);

/** Whether it is, or will be, an ordinary file: no device, no pipe. Those may keep a writer waiting. */
bool output_file_is_ordinary(const char *path);

typedef void output_writer(FILE *stream, const void *context);

/**
 * Has the file written. An ordinary one is written beside its place and renamed when it is whole; it keeps its mode, and
 * a link to it stays one. Anything else (/dev/null, a pipe) is written to as it is. False: errno; what was there stays.
 */
bool output_file_write(const char *path, output_writer *write, const void *context);

#endif
