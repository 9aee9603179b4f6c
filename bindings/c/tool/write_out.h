/* The format of -w: text with variables, as curl has them. */
#ifndef BOXRETRY_TOOL_WRITE_OUT_H
#define BOXRETRY_TOOL_WRITE_OUT_H

#include "fetch.h"

/** Whether all variables are known. TOOL_GO_ON, or the code to exit with, when it has said which is not. */
int write_out_check(const tool_command *command, const char *format);

/** Prints the format, with what became of the call in its variables. */
void write_out(const char *format, const fetch_job *job, int exit_code);

#endif
