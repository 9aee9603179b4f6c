/* boxretry fetch: headers that are removed by -H 'Name:'. */
#define _POSIX_C_SOURCE 200809L

#include "fetch.h"

#include <stdlib.h>
#include <strings.h>

static bool is(const char *name, const char *other) {
  return strcasecmp(name, other) == 0;
}

/* Whether the library always sends this header, or needs it for this request. */
static bool is_needed(const fetch_query *query, const char *name) {
  if (is(name, "Accept-Encoding")) return query->is_compressed;
  if (is(name, "Content-Type")) return query->form.count > 0;
  return is(name, "Accept") || is(name, "Host") || is(name, "Content-Length") || is(name, "Transfer-Encoding");
}

static int leave_out(fetch_query *query, const char *name) {
  char buffer[QUOTED_SIZE];
  /* A header line with a value replaces the library's own. */
  if (is_needed(query, name) && !header_list_has(&query->headers, name)) {
    return usage_error(&fetch_command, "--header: '%s' cannot be removed", quoted(buffer, name));
  }
  if (is(name, "User-Agent")) query->user_agent = "";
  if (is(name, "Authorization")) query->without_authorization = true;
  if (is(name, "Idempotency-Key")) query->idempotency_key = NULL;
  return TOOL_GO_ON;
}

int fetch_leave_headers_out(fetch_query *query) {
  header_list *all = &query->headers;
  header_list left_out = {NULL, 0};
  size_t kept = 0;
  int exit_code = TOOL_GO_ON;
  left_out.items = malloc((all->count + 1) * sizeof *left_out.items);
  if (!left_out.items) return library_error(&fetch_command, BOXRETRY_ERROR_OUT_OF_MEMORY);
  for (size_t i = 0; i < all->count; i++) {
    if (all->items[i].value) {
      all->items[kept++] = all->items[i];
    } else {
      left_out.items[left_out.count++] = all->items[i];
    }
  }
  all->count = kept;
  for (size_t i = 0; i < left_out.count && exit_code == TOOL_GO_ON; i++)
    exit_code = leave_out(query, left_out.items[i].name);
  header_list_free(&left_out);
  return exit_code;
}
