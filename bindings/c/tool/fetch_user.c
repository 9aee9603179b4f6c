/* boxretry fetch: user and password from the option -u. */
#define _DEFAULT_SOURCE

#include "fetch.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { PASSWORD_ROOM = 1024 };

/* Reads a line from the terminal without echo. Returns false if there is no terminal, or at the end of input. */
static bool ask(const char *user, char line[PASSWORD_ROOM]) {
  char buffer[QUOTED_SIZE];
  int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
  struct termios before, silent;
  if (terminal < 0) return false;
  if (tcgetattr(terminal, &before) != 0) {
    close(terminal);
    return false;
  }
  silent = before;
  silent.c_lflag &= ~(tcflag_t)ECHO;
  tcsetattr(terminal, TCSAFLUSH, &silent); /* this also discards typed-ahead input */
  dprintf(terminal, "Enter host password for user '%s':", quoted(buffer, user));
  size_t length = 0;
  ssize_t count = 0;
  while (length < PASSWORD_ROOM - 1 && (count = read(terminal, line + length, 1)) == 1 && line[length] != '\n')
    length++;
  line[length] = '\0';
  tcsetattr(terminal, TCSAFLUSH, &before);
  dprintf(terminal, "\n");
  close(terminal);
  return count == 1;
}

static int add_password(fetch_query *query) {
  char password[PASSWORD_ROOM];
  if (!ask(query->user, password)) {
    return usage_error(&fetch_command, "--user: no password given, and no terminal to ask for one; write "
                                       "'user:password', or 'user:' for an empty one");
  }
  char *both = malloc(strlen(query->user) + strlen(password) + 2);
  if (both) sprintf(both, "%s:%s", query->user, password);
  explicit_bzero(password, sizeof password);
  if (!both) return library_error(&fetch_command, BOXRETRY_ERROR_OUT_OF_MEMORY);
  forget(query->user);
  query->user = both;
  return TOOL_GO_ON;
}

/* "Basic " and the text in base64 (RFC 7617); NULL: out of memory. */
static char *basic_of(const char *text) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t length = strlen(text);
  char *made = malloc(sizeof "Basic " + (length + 2) / 3 * 4);
  if (!made) return NULL;
  char *to = stpcpy(made, "Basic ");
  for (size_t i = 0; i < length; i += 3) {
    const size_t left = length - i;
    const uint32_t bits = (uint32_t)(unsigned char)text[i] << 16 |
                          (left > 1 ? (uint32_t)(unsigned char)text[i + 1] << 8 : 0) |
                          (left > 2 ? (uint32_t)(unsigned char)text[i + 2] : 0);
    *to++ = digits[bits >> 18];
    *to++ = digits[bits >> 12 & 63];
    *to++ = left > 1 ? digits[bits >> 6 & 63] : '=';
    *to++ = left > 2 ? digits[bits & 63] : '=';
  }
  *to = '\0';
  return made;
}

int fetch_take_user(fetch_query *query) {
  if (!query->user) return TOOL_GO_ON;
  if (query->tokens.token || query->tokens.url) {
    return usage_error(&fetch_command, "--user: cannot be used with a token");
  }
  /* As in curl, the user's own Authorization header replaces it. */
  if (header_list_has(&query->headers, "Authorization")) return TOOL_GO_ON;
  if (!strchr(query->user, ':')) {
    int exit_code = add_password(query);
    if (exit_code != TOOL_GO_ON) return exit_code;
  }
  bool ok = header_list_add(&query->headers, strdup("Authorization"), basic_of(query->user));
  forget(query->user);
  query->user = NULL;
  return ok ? TOOL_GO_ON : library_error(&fetch_command, BOXRETRY_ERROR_OUT_OF_MEMORY);
}
