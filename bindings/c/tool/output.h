/* Numbers, text, colours, and JSON on stdout, and whether it could be written. */
#ifndef BOXRETRY_TOOL_OUTPUT_H
#define BOXRETRY_TOOL_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { NUMBER_SIZE = 32 };

/** Remembers why stdout could not be written to, right after it was; what runs later may change errno. */
void output_check(void);
/** Writes what is left to stdout. Returns 0, or the errno of the first write that failed. */
int output_finish(void);

/** A number for people: at most three decimals, or three digits if it is below 1. Returns `buffer`. */
const char *format_number(char buffer[NUMBER_SIZE], double number);

/** Prints on stdout words to the end of a line from `column` on, and if they do not fit in lines that begin at `indent`. */
void print_wrapped(int column, int indent, const char *text);

/** Colours are only for a terminal that has them, and for people who want them (NO_COLOR): else these print nothing. */
typedef enum output_colour { COLOUR_BOLD, COLOUR_DIM, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW } output_colour;

void colour_begin(FILE *stream, output_colour colour);
void colour_end(FILE *stream);

/** JSON on stdout, piece by piece, so that nothing is too long: the commas come by themselves. `key` NULL: in an array. */
void json_begin(const char *key, char bracket);
void json_end(char bracket);
void json_end_line(void); /* another value may follow on a line of its own */
void json_string(const char *key, const char *text);
void json_integer(const char *key, int32_t number);
void json_number(const char *key, double number);
void json_bool(const char *key, bool value);
void json_null(const char *key);

#endif
