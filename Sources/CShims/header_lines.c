#include "shim_curl.h"
#include "shim_memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

shim_lines *shim_lines_append(shim_lines *lines, const char *line) {
  return curl_slist_append(lines, line);
}

void shim_lines_free(shim_lines *lines) {
  curl_slist_free_all(lines);
}

shim_lines *shim_header_add_secret(const char *start, const char *secret, shim_lines *others) {
  const size_t length = strlen(start) + strlen(secret);
  shim_lines *first = malloc(sizeof *first);
  char *line = malloc(length + 1);
  if (!first || !line) {
    free(first);
    free(line);
    return NULL;
  }
  memcpy(line, start, strlen(start));
  memcpy(line + strlen(start), secret, strlen(secret) + 1);
  *first = (shim_lines){line, others};
  return first;
}

void shim_header_free_secret(shim_lines *first) {
  if (!first) return;
  shim_wipe(first->data, strlen(first->data));
  free(first->data);
  free(first);
}

/* Prevents libcurl's message about a missing 100 response; has no effect without a body. */
static shim_lines no_lines = {(char[]){"Expect:"}, NULL};

shim_lines *shim_header_no_lines(void) {
  return &no_lines;
}

void shim_header_free_lines(shim_lines *lines) {
  if (lines != &no_lines) curl_slist_free_all(lines);
}

bool shim_header_has_authorization(const shim_lines *lines) {
  for (; lines; lines = lines->next)
    if (strncasecmp(lines->data, "Authorization:", 14) == 0 || strncasecmp(lines->data, "Authorization;", 14) == 0)
      return true;
  return false;
}
