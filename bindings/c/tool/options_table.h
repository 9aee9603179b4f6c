/* Shared by the parser of the options and their help. */
#ifndef BOXRETRY_TOOL_OPTIONS_TABLE_H
#define BOXRETRY_TOOL_OPTIONS_TABLE_H

#include "options.h"

/** The letter of --help, which no table has. */
enum { HELP_LETTER = 'h' };

/** False for the row of the operands and for the title of a group. */
bool is_option(const tool_option *row);

/** The row of the operands; NULL if the command takes only options. */
const tool_option *operands_of(const tool_option *table, size_t count);

/** Prints the help on `topic`: "all", the name of a group, or NULL for the short help. Returns the exit code. */
int print_help(const tool_command *command, const tool_option *table, size_t count, const char *topic);

/** Reports that the table has no option `name` (without the dashes), and suggests similar ones. Returns TOOL_USAGE. */
int refuse_name(const tool_command *command, const tool_option *table, size_t count, const char *name);

#endif
