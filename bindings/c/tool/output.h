/* Prints numbers, text, colors and JSON on stdout, and detects write errors. */
#ifndef BOXRETRY_TOOL_OUTPUT_H
#define BOXRETRY_TOOL_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { NUMBER_SIZE = 32 };

/** Stores the error if stdout could not be written. Call it right after writing: later calls may change errno. */
void output_check(void);
/** Flushes stdout. Returns 0, or the errno of the first failed write. */
int output_finish(void);

/** Formats a number for people: at most three decimals, or three significant digits below 1. Returns `buffer`. */
const char *format_number(char buffer[NUMBER_SIZE], double number);

/** Prints words on stdout from `column` on; lines that follow begin at `indent`. */
void print_wrapped(int column, int indent, const char *text);

/** Colors are used only on a terminal that supports them, and not if NO_COLOR is set; otherwise these functions print
 * nothing. */
typedef enum output_colour { COLOUR_BOLD, COLOUR_DIM, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW } output_colour;

void colour_begin(FILE *stream, output_colour colour);
void colour_end(FILE *stream);

/** Prints JSON on stdout piece by piece, without a buffer, and adds the commas. `key` NULL: in an array. */
void json_begin(const char *key, char bracket);
void json_end(char bracket);
void json_end_line(void); /* another value may follow on a new line */
void json_string(const char *key, const char *text);
void json_integer(const char *key, int32_t number);
void json_number(const char *key, double number);
void json_bool(const char *key, bool value);
void json_null(const char *key);

#endif
