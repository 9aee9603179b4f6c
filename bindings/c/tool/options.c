/* Reads the options of a command from its table. Parsing is strict: a value must be valid as a whole. */
#define _POSIX_C_SOURCE 200809L

#include "options_table.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const over_cap_names[] = {
    [BOXRETRY_OVER_CAP_CLAMP] = "clamp", [BOXRETRY_OVER_CAP_STOP] = "stop", [BOXRETRY_OVER_CAP_STOP + 1] = NULL};

/* The value that getopt_long() returns for row 0, followed by those of the other rows. Above every letter. */
enum { FIRST_ROW = 256 };

/* --- Values --- */

static int bad_value(const tool_command *command, const tool_option *option, const char *value, const char *why) {
  char buffer[QUOTED_SIZE];
  return usage_error(command, "--%s: '%s' %s", option->name, quoted(buffer, value), why);
}

static int read_integer(const tool_command *command, const tool_option *option, const char *value) {
  const char *digits = value + (*value == '-' || *value == '+');
  if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0') {
    return bad_value(command, option, value, "is not a whole number");
  }
  errno = 0;
  long long number = strtoll(value, NULL, 10);
  if (errno != 0 || number < INT32_MIN || number > INT32_MAX) {
    return bad_value(command, option, value, "is out of range");
  }
  *option->target.integer = (int32_t)number;
  return TOOL_GO_ON;
}

static int read_real(const tool_command *command, const tool_option *option, const char *value) {
  char *end = NULL;
  /* Decimal numbers only: strtod() also accepts white space, hexadecimal, "nan" and "inf". Overflow gives infinity,
   * which the library rejects. */
  double number = strtod(value, &end);
  if (end == value || *end != '\0' || value[strspn(value, "0123456789.eE+-")] != '\0') {
    return bad_value(command, option, value, "is not a number");
  }
  *option->target.real = number;
  return TOOL_GO_ON;
}

static int read_choice(const tool_command *command, const tool_option *option, const char *value) {
  char names[160] = "";
  for (int32_t i = 0; option->choices[i]; i++) {
    if (strcmp(value, option->choices[i]) == 0) {
      *option->target.integer = i;
      return TOOL_GO_ON;
    }
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ", option->choices[i]);
  }
  char why[200];
  snprintf(why, sizeof why, "is not one of: %s", names);
  return bad_value(command, option, value, why);
}

static int read_limit(const tool_command *command, const tool_option *option, const char *value) {
  if (strcmp(value, "none") == 0) {
    *option->target.limit = BOXRETRY_NO_TIMEOUT;
    return TOOL_GO_ON;
  }
  /* 0 and -1 are rejected because other tools use them with various meanings, such as "no limit". */
  if (value[strspn(value, "0")] == '\0' || value[strspn(value, "0123456789")] != '\0') {
    return bad_value(command, option, value, "is not a positive whole number or 'none'");
  }
  errno = 0;
  long long number = strtoll(value, NULL, 10);
  if (errno != 0) return bad_value(command, option, value, "is out of range");
  *option->target.limit = (int64_t)number;
  return TOOL_GO_ON;
}

/* As in curl, 0 means no limit. Rounded up to whole milliseconds, so that a small timeout does not become 0. */
static int read_seconds(const tool_command *command, const tool_option *option, const char *value) {
  char *end = NULL;
  double number = strtod(value, &end);
  if (end == value || *end != '\0' || value[strspn(value, "0123456789.eE+-")] != '\0' || number < 0) {
    return bad_value(command, option, value, "is not a number of seconds (0 or more)");
  }
  double milliseconds = number * 1000;
  if (milliseconds > 9e15) return bad_value(command, option, value, "is out of range");
  int64_t whole = (int64_t)milliseconds;
  if ((double)whole < milliseconds) whole++;
  *option->target.limit = whole == 0 ? BOXRETRY_NO_TIMEOUT : whole;
  return TOOL_GO_ON;
}

/* Copies the bytes from `start` to `end`, without white space around them. NULL: out of memory. */
static char *copy_trimmed(const char *start, const char *end, const char *white_space) {
  while (start < end && strchr(white_space, *start))
    start++;
  while (start < end && strchr(white_space, end[-1]))
    end--;
  return strndup(start, (size_t)(end - start));
}

static int read_header(const tool_command *command, const tool_option *option, const char *value) {
  const bool is_to_be_sent = option->kind == OPTION_HEADER;
  const char *colon = strchr(value, ':');
  const char *end = value + strlen(value);
  const bool is_empty = !colon && is_to_be_sent && end > value && end[-1] == ';'; /* as in curl */
  if (is_empty) colon = end - 1;
  if (!colon) return bad_value(command, option, value, "has no colon; write 'Name: value'");

  const char *white_space = is_to_be_sent ? " \t" : " \t\r\n";
  char *name = copy_trimmed(value, colon, white_space);
  char *text = copy_trimmed(colon + 1, end, white_space);
  const bool is_nameless = name && *name == '\0';
  header_list *list = option->target.headers;
  if (!header_list_add(list, name, text)) return library_error(command, BOXRETRY_ERROR_OUT_OF_MEMORY);
  if (is_to_be_sent && !is_empty && *text == '\0') {
    free(text);
    list->items[list->count - 1].value = NULL;
  }
  return is_nameless ? bad_value(command, option, value, "has no name; write 'Name: value'") : TOOL_GO_ON;
}

bool header_list_add(header_list *list, char *name, char *value) {
  boxretry_header *items = name && value ? realloc(list->items, (list->count + 1) * sizeof *items) : NULL;
  if (!items) {
    free(name);
    free(value);
    return false;
  }
  list->items = items;
  items[list->count++] = (boxretry_header){name, value};
  return true;
}

bool header_list_has(const header_list *list, const char *name) {
  for (size_t i = 0; i < list->count; i++) {
    if (strcasecmp(list->items[i].name, name) == 0) return true;
  }
  return false;
}

void header_list_free(header_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    free((char *)list->items[i].name);
    free((char *)list->items[i].value);
  }
  free(list->items);
  *list = (header_list){NULL, 0};
}

bool text_list_add(text_list *list, const char *text) {
  const char **items = realloc(list->items, (list->count + 1) * sizeof *items);
  if (!items) return false;
  list->items = items;
  items[list->count++] = text;
  return true;
}

/* The file in the value cannot be read; errno has the reason. */
static int unreadable(const tool_command *command, const tool_option *option, const char *value) {
  if (errno == ENOMEM) return library_error(command, BOXRETRY_ERROR_OUT_OF_MEMORY);
  char why[200];
  snprintf(why, sizeof why, "cannot be read: %s", strerror(errno));
  return bad_value(command, option, value, why);
}

static int read_data(const tool_command *command, const tool_option *option, const char *value) {
  return request_data_add(option->target.data, value) ? TOOL_GO_ON : unreadable(command, option, value);
}

static int read_encoded_data(const tool_command *command, const tool_option *option, const char *value) {
  return request_data_add_encoded(option->target.data, value) ? TOOL_GO_ON : unreadable(command, option, value);
}

static int read_form(const tool_command *command, const tool_option *option, const char *value) {
  const char *why;
  if (form_data_add(option->target.form, value, &why)) return TOOL_GO_ON;
  return why ? bad_value(command, option, value, why) : unreadable(command, option, value);
}

static int read_value(const tool_command *command, const tool_option *option, char *value) {
  switch (option->kind) {
  case OPTION_FLAG:
    *option->target.integer = option->flag_writes;
    return TOOL_GO_ON;
  case OPTION_TEXT:
    *option->target.text = value;
    return TOOL_GO_ON;
  case OPTION_OPERANDS:
    return text_list_add(option->target.texts, value) ? TOOL_GO_ON
                                                      : library_error(command, BOXRETRY_ERROR_OUT_OF_MEMORY);
  case OPTION_INTEGER:
    return read_integer(command, option, value);
  case OPTION_LIMIT:
    return read_limit(command, option, value);
  case OPTION_SECONDS:
    return read_seconds(command, option, value);
  case OPTION_REAL:
    return read_real(command, option, value);
  case OPTION_CHOICE:
    return read_choice(command, option, value);
  case OPTION_HEADER:
  case OPTION_RECEIVED_HEADER:
    return read_header(command, option, value);
  case OPTION_DATA:
    return read_data(command, option, value);
  case OPTION_ENCODED_DATA:
    return read_encoded_data(command, option, value);
  case OPTION_FORM:
    return read_form(command, option, value);
  case OPTION_OWN:
    return option->target.own.read(command, option, value);
  case OPTION_GROUP:
    break;
  }
  return internal_error(command, "the option --%s has no kind", option->name);
}

/* --- The command line --- */

static const tool_option *row_of(int answer, const tool_option *table, size_t count) {
  if (answer >= FIRST_ROW) return &table[answer - FIRST_ROW];
  for (size_t i = 0; i < count; i++) {
    if (is_option(&table[i]) && table[i].letter == answer) return &table[i];
  }
  return NULL;
}

/* getopt_long() returned '?': prints why. The value is not printed, because that of a misspelled option may be a
 * secret. */
static int refuse_option(const tool_command *command, const tool_option *table, size_t count, char *word) {
  char buffer[QUOTED_SIZE];
  word[strcspn(word, "=")] = '\0';
  if (optopt == 0) return refuse_name(command, table, count, word + strspn(word, "-"));
  if (optopt == HELP_LETTER || row_of(optopt, table, count)) {
    return usage_error(command, "'%s': this option takes no value", quoted(buffer, word));
  }
  const char letter_form[] = {'-', (char)optopt, '\0'};
  return usage_error(command, "unknown option '%s'", quoted(buffer, letter_form));
}

int read_options(const tool_command *command, const tool_option *table, size_t count, int argc, char **argv) {
  struct option long_forms[count + 2];
  char short_forms[2 * count + 3];
  size_t used = 0, long_count = 0;
  short_forms[used++] = ':'; /* makes getopt_long() return ':' for a missing value */
  short_forms[used++] = HELP_LETTER;
  for (size_t i = 0; i < count; i++) {
    if (!is_option(&table[i])) continue;
    int takes_value = table[i].value ? required_argument : no_argument;
    long_forms[long_count++] = (struct option){table[i].name, takes_value, NULL, FIRST_ROW + (int)i};
    if (!table[i].letter) continue;
    short_forms[used++] = table[i].letter;
    if (table[i].value) short_forms[used++] = ':';
  }
  short_forms[used] = '\0';
  long_forms[long_count++] = (struct option){"help", no_argument, NULL, HELP_LETTER};
  long_forms[long_count] = (struct option){NULL, 0, NULL, 0};

  char buffer[QUOTED_SIZE];
  opterr = 0;
  for (;;) {
    int answer = getopt_long(argc, argv, short_forms, long_forms, NULL);
    if (answer == -1) break;
    if (answer == HELP_LETTER) {
      const char *next = optind < argc ? argv[optind] : NULL;
      return print_help(command, table, count, next && *next != '-' ? next : NULL);
    }
    if (answer == ':') return usage_error(command, "'%s' needs a value", quoted(buffer, argv[optind - 1]));
    if (answer == '?') return refuse_option(command, table, count, argv[optind - 1]);
    int result = read_value(command, row_of(answer, table, count), optarg);
    if (result != TOOL_GO_ON) return result;
  }
  const tool_option *operands = operands_of(table, count);
  if (operands && optind == argc) return usage_error(command, "no %s", operands->name);
  while (operands && optind < argc) {
    int result = read_value(command, operands, argv[optind++]);
    if (result != TOOL_GO_ON) return result;
  }
  if (optind < argc) return usage_error(command, "unexpected argument '%s'", quoted(buffer, argv[optind]));
  return TOOL_GO_ON;
}
