/* The sources of access tokens: the options --token…. */
#define _DEFAULT_SOURCE

#include "token_options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Maximum size of a file in bytes: more than any token, key or assertion has. */
enum { FILE_ROOM = 65536 };

static int no_memory(const tool_command *command) {
  return library_error(command, BOXRETRY_ERROR_OUT_OF_MEMORY);
}

/* --- Files --- */

typedef enum file_part { FIRST_LINE, WHOLE } file_part;

/* Reads a line, or all up to the maximum. Returns the number of bytes, or -1 and errno. */
static ssize_t read_bytes(int descriptor, file_part part, char bytes[FILE_ROOM + 1]) {
  size_t length = 0;
  while (length <= FILE_ROOM) {
    ssize_t count = read(descriptor, bytes + length, FILE_ROOM + 1 - length);
    if (count < 0) return -1;
    if (count == 0) break;
    length += (size_t)count;
    /* on a terminal, one line is enough: no end of file is needed */
    if (part == FIRST_LINE && memchr(bytes, '\n', length)) break;
  }
  return (ssize_t)length;
}

/* Copies that part of the bytes. On failure returns NULL and sets *why or else errno. */
static char *copy_part(file_part part, const char *bytes, size_t length, const char **why) {
  const char *line_end = memchr(bytes, '\n', length);
  if (part == FIRST_LINE && line_end) length = (size_t)(line_end - bytes);
  if (length > FILE_ROOM) {
    *why = "is longer than 65536 bytes";
    return NULL;
  }
  if (memchr(bytes, '\0', length)) {
    *why = "contains a NUL byte";
    return NULL;
  }
  if (length > 0 && bytes[length - 1] == '\n') length -= length > 1 && bytes[length - 2] == '\r' ? 2 : 1;
  return strndup(bytes, length);
}

/* On failure returns NULL and sets *why or else errno. Does not use stdio, which would leave a copy in its buffer. */
static char *read_file(token_options *tokens, file_part part, const char *path, const char **why) {
  const bool is_stdin = strcmp(path, "-") == 0;
  char *text = NULL;
  *why = NULL;
  if (is_stdin) tokens->stdin_count++;
  char *bytes = malloc(FILE_ROOM + 1);
  int descriptor = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  ssize_t length = bytes && descriptor >= 0 ? read_bytes(descriptor, part, bytes) : -1;
  if (length >= 0) text = copy_part(part, bytes, (size_t)length, why);
  int number = errno;
  if (descriptor >= 0 && !is_stdin) close(descriptor);
  if (bytes) explicit_bzero(bytes, FILE_ROOM + 1);
  free(bytes);
  errno = number;
  return text;
}

/* `field`: the form field that the file is for; NULL: the file is for the token. */
static int refuse_file(const tool_command *command, const tool_option *option, const char *field, const char *why) {
  char buffer[QUOTED_SIZE];
  if (!why && errno == ENOMEM) return no_memory(command);
  const char *number = why ? "" : strerror(errno);
  if (!why) why = "cannot be read: ";
  if (!field) return usage_error(command, "--%s: the file %s%s", option->name, why, number);
  return usage_error(command, "--%s: the file for '%s' %s%s", option->name, quoted(buffer, field), why, number);
}

/* --- A token --- */

static int refuse_several(const tool_command *command) {
  return usage_error(command, "only one of --token, --token-file, --token-env and --token-url can be given");
}

/* Takes ownership of `token`, which was allocated; NULL: out of memory. */
static int take_token(const tool_command *command, const tool_option *option, char *token) {
  token_options *tokens = option->target.own.variable;
  if (!token) return no_memory(command);
  forget(tokens->token);
  tokens->token = token;
  if (tokens->token_option && strcmp(tokens->token_option, option->name) != 0) return refuse_several(command);
  tokens->token_option = option->name;
  return TOOL_GO_ON;
}

int token_read_text(const tool_command *command, const tool_option *option, char *value) {
  char *token = strdup(value);
  explicit_bzero(value, strlen(value));
  return take_token(command, option, token);
}

int token_read_file(const tool_command *command, const tool_option *option, char *value) {
  const char *why;
  char *token = read_file(option->target.own.variable, FIRST_LINE, value, &why);
  return token ? take_token(command, option, token) : refuse_file(command, option, NULL, why);
}

int token_read_environment(const tool_command *command, const tool_option *option, char *value) {
  const char *token = getenv(value);
  if (!token) return usage_error(command, "--%s: the environment variable is not set", option->name);
  return take_token(command, option, strdup(token));
}

/* --- The form --- */

/* Takes ownership of both, which were allocated; NULL: out of memory. */
static int take_field(const tool_command *command, const tool_option *option, char *name, char *text) {
  token_options *tokens = option->target.own.variable;
  return header_list_add(&tokens->fields, name, text) ? TOOL_GO_ON : no_memory(command);
}

/* Copies the name before the '='. On failure returns NULL and sets *exit_code. */
static char *copy_name(const tool_command *command, const tool_option *option, char *value, int *exit_code) {
  const size_t length = strcspn(value, "=");
  if (length == 0 || value[length] == '\0') {
    *exit_code = usage_error(command, "--%s: a field has no name; write 'name=value'", option->name);
    return NULL;
  }
  char *name = strndup(value, length);
  if (!name) *exit_code = no_memory(command);
  return name;
}

int token_read_field(const tool_command *command, const tool_option *option, char *value) {
  int exit_code;
  const char *why;
  char *name = copy_name(command, option, value, &exit_code);
  if (!name) return exit_code;
  char *text = strchr(value, '=') + 1;
  if (*text != '@') {
    char *copy = strdup(text);
    explicit_bzero(text, strlen(text));
    return take_field(command, option, name, copy);
  }
  char *content = read_file(option->target.own.variable, WHOLE, text + 1, &why);
  if (content) return take_field(command, option, name, content);
  exit_code = refuse_file(command, option, name, why);
  free(name);
  return exit_code;
}

int token_read_field_environment(const tool_command *command, const tool_option *option, char *value) {
  int exit_code;
  char buffer[QUOTED_SIZE];
  char *name = copy_name(command, option, value, &exit_code);
  if (!name) return exit_code;
  const char *text = getenv(strchr(value, '=') + 1);
  if (text) return take_field(command, option, name, strdup(text));
  exit_code =
      usage_error(command, "--%s: the environment variable for '%s' is not set", option->name, quoted(buffer, name));
  free(name);
  return exit_code;
}

/* --- Combinations --- */

int token_options_check(const tool_command *command, const token_options *tokens, bool is_stdin_taken) {
  if (tokens->token && tokens->url) return refuse_several(command);
  if (tokens->fields.count > 0 && !tokens->url) {
    return usage_error(command, "--token-form: needs --token-url");
  }
  if (tokens->stdin_count + is_stdin_taken > 1 && tokens->stdin_count > 0) {
    return usage_error(command, "only one option can read standard input if one of them is for tokens");
  }
  return TOOL_GO_ON;
}

void token_options_forget(token_options *tokens) {
  forget(tokens->token);
  tokens->token = NULL;
  for (size_t i = 0; i < tokens->fields.count; i++) {
    char *text = (char *)tokens->fields.items[i].value;
    explicit_bzero(text, strlen(text));
  }
  header_list_free(&tokens->fields);
}
