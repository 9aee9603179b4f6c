/* boxretry fetch: its options. */
#define _POSIX_C_SOURCE 200809L

#include "fetch.h"

#include <stdlib.h>
#include <string.h>

static const char *const preset_names[] = {
    [BOXRETRY_PRESET_BOX] = "box", [BOXRETRY_PRESET_JANUARY] = "january", [BOXRETRY_PRESET_JANUARY + 1] = NULL};

/* A count that nobody asks for: the preset decides. */
static const int32_t not_given = -1999999999;

/* --- What is asked for: what the user has left open is filled in. TOOL_GO_ON, or the code to exit with. --- */

static int complete_retries(fetch_query *query) {
  static const boxretry_retry_options box = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_retry_options *retries = &query->retries;
  const bool is_box = query->preset == BOXRETRY_PRESET_BOX;
  const bool has_attempts = retries->max_attempts != not_given;
  const bool has_exceptions = retries->max_retries_on_exception != not_given;
  query->has_strategy = is_box || has_attempts || has_exceptions;
  if (!has_attempts) retries->max_attempts = is_box ? box.max_attempts : 0;
  if (!has_exceptions) retries->max_retries_on_exception = is_box ? box.max_retries_on_exception : 0;
  return TOOL_GO_ON;
}

/* FILE[:PASSWORD]; a colon in the file's name stands as '\:', a backslash as '\\'. */
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

static int complete_method(fetch_query *query) {
  const bool has_body = query->form.count > 0 || query->data.is_given || query->upload;
  if (query->is_head) {
    if (query->method || has_body) return usage_error(&fetch_command, "--head: is a method, and without a body");
    query->method = "HEAD";
    query->with_head = 1;
  }
  if (!query->method && has_body) query->method = query->upload ? "PUT" : "POST";
  return TOOL_GO_ON;
}

static int complete_body(fetch_query *query) {
  const bool has_form = query->form.count > 0;
  if (query->data.is_given + has_form + (query->upload != NULL) > 1) {
    return usage_error(&fetch_command, "only one of --data, --form and --upload-file can be the body");
  }
  if (!query->data.is_given || header_list_has(&query->headers, "Content-Type")) return TOOL_GO_ON;
  bool ok = header_list_add(&query->headers, strdup("Content-Type"), strdup("application/x-www-form-urlencoded"));
  return ok ? TOOL_GO_ON : library_error(&fetch_command, BOXRETRY_ERROR_OUT_OF_MEMORY);
}

static bool is_stdin(const char *path) {
  return path && strcmp(path, "-") == 0;
}

static int complete_tokens(fetch_query *query) {
  const bool is_stdin_taken = feof(stdin) || is_stdin(query->upload);
  return token_options_check(&fetch_command, &query->tokens, is_stdin_taken);
}

static int complete_rest(fetch_query *query) {
  char buffer[QUOTED_SIZE];
  if (query->no_proxy && strcmp(query->no_proxy, "*") != 0) {
    return usage_error(&fetch_command, "--noproxy: '%s' is not '*', which stands for all hosts",
                       quoted(buffer, query->no_proxy));
  }
  if (query->output && strcmp(query->output, "-") == 0) query->output = NULL;
  if (query->is_resumable && !query->output) {
    return usage_error(&fetch_command, "--resume: there is no --output file to go on with");
  }
  /* To the library 0 is its default, and to other tools -1 is no limit. */
  if (query->max_redirects == not_given) {
    query->max_redirects = 0;
  } else if (query->max_redirects < 1) {
    return usage_error(&fetch_command, "--max-redirs: '%ld' is not from 1 on; --no-location follows none",
                       (long)query->max_redirects);
  }
  if (!query->idempotency_key) return TOOL_GO_ON;
  if (*query->idempotency_key == '\0') return usage_error(&fetch_command, "--idempotency-key: there is nothing in ''");
  if (strcmp(query->idempotency_key, "auto") == 0) query->idempotency_key = BOXRETRY_IDEMPOTENCY_KEY_RANDOM;
  return TOOL_GO_ON;
}

static int complete_query(fetch_query *query) {
  int exit_code = complete_retries(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_certificate(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_method(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_body(query);
  if (exit_code == TOOL_GO_ON) exit_code = fetch_leave_headers_out(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_tokens(query);
  if (exit_code == TOOL_GO_ON) exit_code = complete_rest(query);
  return exit_code;
}

int fetch_read_options(fetch_query *query, int argc, char **argv) {
  *query = (fetch_query){
      .retries = BOXRETRY_RETRY_OPTIONS_INIT,
      .timeouts = BOXRETRY_TIMEOUTS_INIT,
      .deadline_ms = BOXRETRY_NO_TIMEOUT,
      .follows_redirects = 1,
      .max_redirects = not_given,
  };
  query->retries.max_attempts = not_given;
  query->retries.max_retries_on_exception = not_given;
  const tool_option table[] = {
      OPERAND("URL", &query->url),
      TEXT('X', "request", "METHOD", &query->method, "method (default GET; with a body POST, with -T PUT)"),
      FLAG('I', "head", &query->is_head, "a HEAD; status and header lines on stdout, as with -i"),
      HEADERS('H', "header", &query->headers,
              "header line, 'Name: value'. 'Name:' sends none of that name, 'Name;' an empty one. May be given again"),
      DATA('d', "data", &query->data,
           "body, or @FILE: what is in it, as it is (@-: stdin). Given again, it is added after a '&'"),
      FORM('F', "form", &query->form,
           "field of a form with files: 'name=text', 'name=@FILE' (the file), 'name=<FILE' (what is in it); "
           "';type=TYPE' and ';filename=NAME' may follow. May be given again"),
      TEXT('T', "upload-file", "FILE", &query->upload,
           "body, read while it is sent (-: stdin). What is no ordinary file, a pipe say, can be sent only once"),
      TEXT(0, "idempotency-key", "KEY", &query->idempotency_key,
           "the header Idempotency-Key, the same in all attempts; auto: one is made. Makes a POST safe to retry"),
      TEXT('A', "user-agent", "TEXT", &query->user_agent, "User-Agent (default boxretry/ and the version)"),
      TEXT('o', "output", "FILE", &query->output, "where the body of a 2xx response goes, instead of to stdout"),
      FLAG(0, "resume", &query->is_resumable,
           "a download to a file that breaks off goes on where it was, if the server gave a strong ETag"),
      FLAG('i', "include", &query->with_head, "status and header lines on stdout, before the body"),
      FLAG('f', "fail", &query->no_body_on_failure, "no body on stdout if the call fails"),
      FLAG(0, "json", &query->as_json, "one line of JSON on stdout, and no body"),
      FLAG('v', "verbose", &query->is_verbose, "the table of attempts on stderr, also if that is no terminal"),
      FLAG('s', "silent", &query->is_silent, "nothing on stderr but what is wrong with the options"),
      FLAG('S', "show-error", &query->shows_error, "with -s: if the call fails, why"),
      TOKEN_OPTIONS(&query->tokens),
      CHOICE("preset", "NAME", &query->preset, preset_names,
             "box (default), or january: no retries but those that are asked for by the options below"),
      BACKOFF_OPTIONS(&query->retries),
      BEYOND_OPTIONS(&query->retries),
      LIMIT("timeout-interval-for-request-ms", &query->timeouts.timeout_interval_for_request_ms,
            "longest time of an attempt with nothing moving (default 60000), or none"),
      LIMIT("timeout-interval-for-resource-ms", &query->timeouts.timeout_interval_for_resource_ms,
            "longest time of an attempt in all (default 21600000), or none"),
      LIMIT("deadline-ms", &query->deadline_ms, "longest time of the call, with all attempts and waits (default none)"),
      LIMIT("body-limit", &query->body_limit,
            "largest body of a 2xx response, in bytes, or none (default: none; with -i 256 MiB)"),
      FLAG('L', "location", &query->follows_redirects, "follow redirects (default)"),
      FLAG_OFF("no-location", &query->follows_redirects, "do not: the response that redirects is the last"),
      INTEGER("max-redirs", &query->max_redirects, "redirects that are followed in an attempt (default 20)"),
      FLAG(0, "compressed", &query->is_compressed, "ask for a compressed response, and unpack it"),
      FLAG_AS(0, "http1.1", BOXRETRY_HTTP_1_1, &query->http_version, "speak HTTP/1.1 alone"),
      FLAG_AS(0, "http2", BOXRETRY_HTTP_2, &query->http_version,
              "speak HTTP/2 over TLS where the server offers it (default)"),
      FLAG_AS(0, "http2-prior-knowledge", BOXRETRY_HTTP_2_PRIOR_KNOWLEDGE, &query->http_version,
              "speak HTTP/2 at once, without TLS too"),
      TEXT(0, "cacert", "FILE", &query->ca_file, "certificates (PEM) to trust instead of the system's"),
      TEXT(0, "cert", "FILE", &query->certificate,
           "certificate (PEM) to show to the server; FILE:PASSWORD for its key"),
      TEXT(0, "key", "FILE", &query->key_file, "the certificate's key (PEM), if it is in a file of its own"),
      TEXT(0, "unix-socket", "PATH", &query->unix_socket, "connect to this socket, whatever the URL's host"),
      TEXT('x', "proxy", "URL", &query->proxy, "proxy (default: as http_proxy and the like say)"),
      TEXT(0, "noproxy", "HOSTS", &query->no_proxy, "'*': no proxy, whatever --proxy and the environment say"),
  };
  int exit_code = read_options(&fetch_command, table, sizeof table / sizeof table[0], argc, argv);
  return exit_code == TOOL_GO_ON ? complete_query(query) : exit_code;
}

void fetch_query_free(fetch_query *query) {
  header_list_free(&query->headers);
  request_data_free(&query->data);
  form_data_free(&query->form);
  free(query->certificate_file);
  token_options_forget(&query->tokens);
  boxretry_token_source_free(query->token_source);
}
