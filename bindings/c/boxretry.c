/* The command-line tool boxretry: finds the command, prints help and version, and reports errors. Its commands are in
 * tool/. */
#define _DEFAULT_SOURCE

#include "tool/output.h"
#include "tool/tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tool_command *const commands[] = {&delays_command, &explain_command, &fetch_command, &simulate_command};
static const size_t command_count = sizeof commands / sizeof commands[0];

static void print_message(const tool_command *command, const char *format, va_list arguments) {
  fprintf(stderr, "boxretry%s%s: ", command ? " " : "", command ? command->name : "");
  vfprintf(stderr, format, arguments);
}

int usage_error(const tool_command *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_message(command, format, arguments);
  va_end(arguments);
  fprintf(stderr, " (try 'boxretry%s%s --help')\n", command ? " " : "", command ? command->name : "");
  return TOOL_USAGE;
}

int internal_error(const tool_command *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_message(command, format, arguments);
  va_end(arguments);
  fputs(". This is a bug in boxretry: please report it.\n", stderr);
  return TOOL_INTERNAL;
}

int library_error(const tool_command *command, boxretry_error error) {
  /* The library's detail says which argument was wrong and why: only the library knows the ranges. */
  if (error == BOXRETRY_ERROR_INVALID_ARGUMENT) return usage_error(command, "%s", boxretry_last_error_detail());
  if (error == BOXRETRY_ERROR_OUT_OF_MEMORY) {
    fprintf(stderr, "boxretry %s: %s\n", command->name, boxretry_error_text(error));
    return TOOL_FAILED;
  }
  return internal_error(command, "%s: %s", boxretry_error_name(error), boxretry_last_error_detail());
}

const char *quoted(char buffer[QUOTED_SIZE], const char *text) {
  static const char cut[] = "...";
  const size_t room = QUOTED_SIZE - 1;
  size_t length = strlen(text);
  size_t shown = length <= room ? length : room - (sizeof cut - 1);
  for (size_t i = 0; i < shown; i++)
    buffer[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
  buffer[shown] = '\0';
  if (shown < length) strcat(buffer, cut);
  return buffer;
}

void forget(char *secret) {
  if (secret) explicit_bzero(secret, strlen(secret));
  free(secret);
}

const char *public_part(char buffer[QUOTED_SIZE], const char *url) {
  char part[QUOTED_SIZE + 1];
  const char *authority = strstr(url, "://");
  authority = authority ? authority + 3 : url;
  const int scheme = (int)(authority - url);
  for (size_t host = strcspn(authority, "/?#"), i = 0; i < host; i++) {
    if (authority[i] != '@') continue;
    authority += i + 1;
    host -= i + 1;
    i = (size_t)-1;
  }
  snprintf(part, sizeof part, "%.*s%.*s", scheme, url, (int)strcspn(authority, "?#"), authority);
  return quoted(buffer, part);
}

static void print_help(void) {
  puts("Usage: boxretry COMMAND [OPTION]...\n"
       "\n"
       "Sends HTTP requests with libboxretry and shows how they are retried.\n"
       "\n"
       "Commands:");
  for (size_t i = 0; i < command_count; i++)
    printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
  puts("\n"
       "Options:\n"
       "  -h, --help     print this help; for a command: 'boxretry COMMAND --help' or\n"
       "                 'boxretry help COMMAND'\n"
       "  -V, --version  print the versions of the library and of its header\n"
       "\n"
       "Exit codes:\n"
       "  0  success\n"
       "  1  the output could not be written, or out of memory\n"
       "  2  an option or its value is invalid; see stderr\n"
       "  3  internal error in boxretry");
}

static const tool_command *find_command(const char *name) {
  for (size_t i = 0; i < command_count; i++) {
    if (strcmp(name, commands[i]->name) == 0) return commands[i];
  }
  return NULL;
}

/* boxretry help [COMMAND [GROUP]]. `argv` begins with "help". */
static int help(int argc, char **argv) {
  char buffer[QUOTED_SIZE];
  if (argc > 3) return usage_error(NULL, "unexpected argument '%s'", quoted(buffer, argv[3]));
  if (argc < 2) {
    print_help();
    return TOOL_OK;
  }
  const tool_command *command = find_command(argv[1]);
  if (!command) return usage_error(NULL, "unknown command '%s'", quoted(buffer, argv[1]));
  char option[] = "--help";
  char *arguments[] = {argv[1], option, argc > 2 ? argv[2] : NULL, NULL};
  return command->run(argc, arguments);
}

static int run(int argc, char **argv) {
  char buffer[QUOTED_SIZE];
  if (argc < 2) return usage_error(NULL, "no command");
  const char *word = argv[1];
  if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
    print_help();
    return TOOL_OK;
  }
  if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0) {
    printf("boxretry: library %s, header %s, libcurl %s\n", boxretry_version(), BOXRETRY_VERSION,
           boxretry_libcurl_version());
    return TOOL_OK;
  }
  if (word[0] == '-') return usage_error(NULL, "unknown option '%s'", quoted(buffer, word));
  if (strcmp(word, "help") == 0) return help(argc - 1, argv + 1);
  const tool_command *command = find_command(word);
  if (!command) return usage_error(NULL, "unknown command '%s'", quoted(buffer, word));
  return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
  /* No setlocale(): numbers are read and written as in the C locale, regardless of the user's locale. */
  int exit_code = run(argc, argv);
  const int output_errno = output_finish();
  if (output_errno != 0) {
    fprintf(stderr, "boxretry: the output could not be written: %s\n", strerror(output_errno));
    if (exit_code == TOOL_OK) exit_code = TOOL_FAILED;
  }
  return exit_code;
}
