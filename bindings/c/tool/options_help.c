/* The help of a command, made from the table of its options. */
#include "options_table.h"
#include "output.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 38, SHORT_HELP_COLUMN = 28 };

static void print_option(int help_column, char letter, const char *name, const char *value, const char *help) {
  char short_form[] = "    ";
  if (letter) snprintf(short_form, sizeof short_form, "-%c, ", letter);
  int column = printf("  %s--%s%s%s  ", short_form, name, value ? " " : "", value ? value : "");
  if (column < help_column) column += printf("%*s", help_column - column, "");
  print_wrapped(column, help_column, help);
}

const tool_option *operands_of(const tool_option *table, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (table[i].kind == OPTION_OPERANDS) return &table[i];
  }
  return NULL;
}

bool is_option(const tool_option *row) {
  return row->kind != OPTION_OPERANDS && row->kind != OPTION_GROUP;
}

/* The rows of a group, from `first` to before `end`. Returns false if the table has no group with that name. */
static bool find_group(const tool_option *table, size_t count, const char *name, size_t *first, size_t *end) {
  for (size_t i = 0; i < count; i++) {
    if (table[i].kind != OPTION_GROUP || strcmp(table[i].name, name) != 0) continue;
    *first = i;
    for (*end = i + 1; *end < count && table[*end].kind != OPTION_GROUP; ++*end)
      continue;
    return true;
  }
  return false;
}

static void print_rows(const tool_option *table, size_t first, size_t end) {
  for (size_t i = first; i < end; i++) {
    if (table[i].kind == OPTION_GROUP) printf("%s%s: %s\n", i == first ? "" : "\n", table[i].name, table[i].help);
    if (is_option(&table[i])) print_option(HELP_COLUMN, table[i].letter, table[i].name, table[i].value, table[i].help);
  }
}

static void print_usage(const tool_command *command, const tool_option *table, size_t count) {
  const tool_option *operands = operands_of(table, count);
  printf("Usage: boxretry %s [OPTION]...%s%s%s\n\n", command->name, operands ? " " : "", operands ? operands->name : "",
         operands ? "..." : "");
  printf("%c%s.\n\nOptions:\n", toupper((unsigned char)command->summary[0]), command->summary + 1);
}

/* One line for each of the most used options. */
static void print_basics(const tool_command *command, const tool_option *table, size_t count) {
  print_usage(command, table, count);
  for (const basic_option *basic = command->basics; basic->name; basic++) {
    for (size_t i = 0; i < count; i++) {
      if (!is_option(&table[i]) || strcmp(table[i].name, basic->name) != 0) continue;
      print_option(SHORT_HELP_COLUMN, table[i].letter, table[i].name, table[i].value, basic->help);
    }
  }
  printf("\n'boxretry %s --help all' prints all options, examples and exit codes.\nGroups for --help:", command->name);
  const char *comma = " ";
  for (size_t i = 0; i < count; i++) {
    if (table[i].kind != OPTION_GROUP) continue;
    printf("%s%s", comma, table[i].name);
    comma = ", ";
  }
  puts(".");
}

static void print_all(const tool_command *command, const tool_option *table, size_t count) {
  const char *help =
      command->basics ? "print the most used options; 'all' or the name of a group may follow" : "print this";
  print_usage(command, table, count);
  if (!command->basics) print_rows(table, 0, count);
  print_option(HELP_COLUMN, HELP_LETTER, "help", NULL, help);
  if (command->basics) print_rows(table, 0, count);
  putchar('\n');
  for (const char *const *part = command->details; *part; part++)
    fputs(*part, stdout);
}

int print_help(const tool_command *command, const tool_option *table, size_t count, const char *topic) {
  size_t first, end;
  char buffer[QUOTED_SIZE];
  if (!topic && command->basics) {
    print_basics(command, table, count);
  } else if (!topic || strcmp(topic, "all") == 0) {
    print_all(command, table, count);
  } else if (find_group(table, count, topic, &first, &end)) {
    print_rows(table, first, end);
  } else {
    return usage_error(command, "--help: '%s' is not 'all'%s", quoted(buffer, topic),
                       command->basics ? " or the name of a group" : "");
  }
  return TOOL_OK;
}
