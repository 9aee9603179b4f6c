/* Prints numbers, text, colors and JSON on stdout, and detects write errors. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

static int output_errno;

void output_check(void) {
  if (output_errno == 0 && ferror(stdout)) output_errno = errno;
}

int output_finish(void) {
  output_check();
  if (output_errno == 0 && fflush(stdout) != 0) output_errno = errno;
  return output_errno;
}

const char *format_number(char buffer[NUMBER_SIZE], double number) {
  if (number < 1) {
    snprintf(buffer, NUMBER_SIZE, "%.3g", number);
    return buffer;
  }
  snprintf(buffer, NUMBER_SIZE, "%.3f", number);
  size_t length = strlen(buffer);
  while (buffer[length - 1] == '0')
    length--;
  if (buffer[length - 1] == '.') length--;
  buffer[length] = '\0';
  return buffer;
}

void print_wrapped(int column, int indent, const char *text) {
  enum { WIDTH = 80 };
  for (const char *word = text; *word; word += strspn(word, " ")) {
    int length = (int)strcspn(word, " ");
    if (word != text && column + 1 + length > WIDTH) {
      column = printf("\n%*s", indent, "") - 1;
    } else if (word != text) {
      column += printf(" ");
    }
    column += printf("%.*s", length, word);
    word += length;
  }
  putchar('\n');
}

/* --- Colors --- */

static bool has_colours(FILE *stream) {
  const char *no_color = getenv("NO_COLOR");
  const char *term = getenv("TERM");
  return isatty(fileno(stream)) && !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
}

void colour_begin(FILE *stream, output_colour colour) {
  static const char *const codes[] = {
      [COLOUR_BOLD] = "1", [COLOUR_DIM] = "2", [COLOUR_RED] = "1;31", [COLOUR_GREEN] = "1;32", [COLOUR_YELLOW] = "1;33",
  };
  if (has_colours(stream)) fprintf(stream, "\033[%sm", codes[colour]);
}

void colour_end(FILE *stream) {
  if (has_colours(stream)) fputs("\033[0m", stream);
}

/* --- JSON --- */

static bool needs_comma;

static void print_escaped(const char *text) {
  putchar('"');
  for (const unsigned char *byte = (const unsigned char *)text; *byte; byte++) {
    if (*byte == '"' || *byte == '\\') {
      printf("\\%c", *byte);
    } else if (*byte < ' ') {
      printf("\\u%04x", *byte);
    } else {
      putchar(*byte);
    }
  }
  putchar('"');
}

static void begin_value(const char *key) {
  if (needs_comma) fputs(", ", stdout);
  if (key) {
    print_escaped(key);
    fputs(": ", stdout);
  }
  needs_comma = true;
}

void json_begin(const char *key, char bracket) {
  begin_value(key);
  putchar(bracket);
  needs_comma = false;
}

void json_end(char bracket) {
  putchar(bracket);
  needs_comma = true;
}

void json_end_line(void) {
  putchar('\n');
  needs_comma = false;
}

void json_string(const char *key, const char *text) {
  begin_value(key);
  print_escaped(text);
}

void json_integer(const char *key, int32_t number) {
  begin_value(key);
  printf("%ld", (long)number);
}

void json_number(const char *key, double number) {
  char text[NUMBER_SIZE];
  /* The shortest text that reads back as the same number. */
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    if (strtod(text, NULL) == number) break;
  }
  begin_value(key);
  fputs(text, stdout);
}

void json_bool(const char *key, bool value) {
  begin_value(key);
  fputs(value ? "true" : "false", stdout);
}

void json_null(const char *key) {
  begin_value(key);
  fputs("null", stdout);
}
