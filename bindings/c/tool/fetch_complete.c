/* boxretry fetch: checks combinations of options, and sets defaults. */
#define _DEFAULT_SOURCE

#include "fetch.h"
#include "write_out.h"

#include <stdlib.h>
#include <string.h>

/* --retry N, as in curl: at most N retries in total, of any kind. */
static int take_retry_count(fetch_query *query) {
  enum { MOST = 999999 };
  boxretry_retry_options *retries = &query->retries;
  if (query->retry_count < 0 || query->retry_count > MOST) {
    return usage_error(&fetch_command, "--retry: '%ld' is not between 0 and %d", (long)query->retry_count, MOST);
  }
  query->has_strategy = true;
  query->max_total_attempts = query->retry_count + 1;
  if (retries->max_attempts == FETCH_NOT_GIVEN) retries->max_attempts = query->retry_count + 1;
  if (retries->max_retries_on_exception == FETCH_NOT_GIVEN) retries->max_retries_on_exception = query->retry_count;
  return TOOL_GO_ON;
}

static int complete_retries(fetch_query *query) {
  static const boxretry_retry_options box = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_retry_options *retries = &query->retries;
  const bool is_box = query->preset == BOXRETRY_PRESET_BOX;
  const bool has_attempts = retries->max_attempts != FETCH_NOT_GIVEN;
  const bool has_exceptions = retries->max_retries_on_exception != FETCH_NOT_GIVEN;
  if (query->retry_count != FETCH_NOT_GIVEN) return take_retry_count(query);
  query->has_strategy = is_box || has_attempts || has_exceptions;
  if (!has_attempts) retries->max_attempts = is_box ? box.max_attempts : 0;
  if (!has_exceptions) retries->max_retries_on_exception = is_box ? box.max_retries_on_exception : 0;
  return TOOL_GO_ON;
}

/* FILE[:PASSWORD]; in the file name, '\:' is a colon and '\\' a backslash. */
static int complete_certificate(fetch_query *query) {
  const char *given = query->certificate;
  if (!given) return TOOL_GO_ON;
  char *to = query->certificate_file = malloc(strlen(given) + 1);
  if (!to) return library_error(&fetch_command, BOXRETRY_ERROR_OUT_OF_MEMORY);
  for (; *given && *given != ':'; given++) {
    if (*given == '\\' && (given[1] == ':' || given[1] == '\\')) given++;
    *to++ = *given;
  }
  *to++ = '\0';
  if (*given == ':') query->certificate_password = strcpy(to, given + 1);
  return TOOL_GO_ON;
}

/* The data becomes the URL's query, so it must be text. */
static int complete_get(fetch_query *query) {
  if (!query->data_goes_into_url) return TOOL_GO_ON;
  if (query->form.count > 0 || query->upload) {
    return usage_error(&fetch_command, "--get: cannot be used with --form or --upload-file");
  }
  if (query->data.length > 0 && memchr(query->data.bytes, '\0', query->data.length)) {
    return usage_error(&fetch_command, "--get: the data contains a NUL byte");
  }
  return TOOL_GO_ON;
}

static int complete_method(fetch_query *query) {
  const bool has_data = query->data.is_given && !query->data_goes_into_url;
  const bool has_body = query->form.count > 0 || has_data || query->upload;
  if (query->is_head) {
    if (query->method || has_body)
      return usage_error(&fetch_command, "--head: cannot be used with --request or a request body");
    query->method = "HEAD";
    query->with_head = 1;
  }
  if (!query->method && has_body) query->method = query->upload ? "PUT" : "POST";
  return TOOL_GO_ON;
}

static int complete_body(fetch_query *query) {
  const bool has_form = query->form.count > 0;
  if (query->data.is_given + has_form + (query->upload != NULL) > 1) {
    return usage_error(&fetch_command, "only one of --data, --form and --upload-file can be used");
  }
  if (!query->data.is_given || query->data_goes_into_url || header_list_has(&query->headers, "Content-Type"))
    return TOOL_GO_ON;
  bool ok = header_list_add(&query->headers, strdup("Content-Type"), strdup("application/x-www-form-urlencoded"));
  return ok ? TOOL_GO_ON : library_error(&fetch_command, BOXRETRY_ERROR_OUT_OF_MEMORY);
}

static bool is_stdin(const char *path) {
  return path && strcmp(path, "-") == 0;
}

static int complete_outputs(fetch_query *query) {
  const text_list *outputs = &query->outputs;
  if (outputs->count > query->urls.count) {
    return usage_error(&fetch_command, "more --output and --remote-name options than URLs");
  }
  bool has_all = outputs->count == query->urls.count;
  for (size_t i = 0; i < outputs->count; i++)
    has_all = has_all && !is_stdin(outputs->items[i]);
  if (query->is_resumable && !has_all) {
    return usage_error(&fetch_command, "--resume: needs --output and the file to resume");
  }
  return TOOL_GO_ON;
}

static int complete_urls(fetch_query *query) {
  if (query->urls.count > 1 && is_stdin(query->upload)) {
    return usage_error(&fetch_command, "--upload-file: standard input can be sent to only one URL");
  }
  if (query->parallel_max < 1 || query->parallel_max > 100000) {
    return usage_error(&fetch_command, "--parallel-max: '%ld' is not between 1 and 100000", (long)query->parallel_max);
  }
  return query->write_out ? write_out_check(&fetch_command, query->write_out) : TOOL_GO_ON;
}

static int complete_tokens(fetch_query *query) {
  const bool is_stdin_taken = feof(stdin) || is_stdin(query->upload);
  return token_options_check(&fetch_command, &query->tokens, is_stdin_taken);
}

static int complete_rest(fetch_query *query) {
  char buffer[QUOTED_SIZE];
  if (query->no_proxy && strcmp(query->no_proxy, "*") != 0) {
    return usage_error(&fetch_command, "--noproxy: '%s' is not supported; the only value is '*' (all hosts)",
                       quoted(buffer, query->no_proxy));
  }
  /* For the library 0 means its default, and other tools use -1 for "no limit". */
  if (query->max_redirects == FETCH_NOT_GIVEN) {
    query->max_redirects = 0;
  } else if (query->max_redirects < 1) {
    return usage_error(&fetch_command, "--max-redirs: '%ld' is less than 1; --no-location turns redirects off",
                       (long)query->max_redirects);
  }
  if (!query->idempotency_key) return TOOL_GO_ON;
  if (*query->idempotency_key == '\0') return usage_error(&fetch_command, "--idempotency-key: must not be empty");
  if (strcmp(query->idempotency_key, "auto") == 0) query->idempotency_key = BOXRETRY_IDEMPOTENCY_KEY_RANDOM;
  return TOOL_GO_ON;
}

int fetch_complete(fetch_query *query) {
  int exit_code = complete_retries(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_certificate(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_get(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_method(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_body(query);
  if (exit_code == TOOL_GO_ON) exit_code = fetch_take_user(query);
  if (exit_code == TOOL_GO_ON) exit_code = fetch_leave_headers_out(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_tokens(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_outputs(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_urls(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_rest(query);
  return exit_code;
}
