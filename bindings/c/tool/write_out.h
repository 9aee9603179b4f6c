/* The format of -w: text with variables, as in curl. */
#ifndef BOXRETRY_TOOL_WRITE_OUT_H
#define BOXRETRY_TOOL_WRITE_OUT_H

#include "fetch.h"

/** Checks that all variables are known. Returns TOOL_GO_ON, or prints an error and returns the exit code. */
int write_out_check(const tool_command *command, const char *format);

/** Prints the format, with its variables replaced by the results of the call. */
void write_out(const char *format, const fetch_job *job, int exit_code);

#endif
