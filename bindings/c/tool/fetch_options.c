/* boxretry fetch: its options. */
#define _DEFAULT_SOURCE

#include "fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const preset_names[] = {
    [BOXRETRY_PRESET_BOX] = "box", [BOXRETRY_PRESET_JANUARY] = "january", [BOXRETRY_PRESET_JANUARY + 1] = NULL};

/* --- Values with their own format --- */

/* The value may contain a password, so it is erased from the command line. */
static int read_user(const tool_command *command, const tool_option *option, char *value) {
  fetch_query *query = option->target.own.variable;
  char *copy = strdup(value);
  explicit_bzero(value, strlen(value));
  if (!copy) return library_error(command, BOXRETRY_ERROR_OUT_OF_MEMORY);
  forget(query->user);
  query->user = copy;
  return TOOL_GO_ON;
}

static int add_output(const tool_command *command, fetch_query *query, const char *name) {
  return text_list_add(&query->outputs, name) ? TOOL_GO_ON : library_error(command, BOXRETRY_ERROR_OUT_OF_MEMORY);
}

static int read_output(const tool_command *command, const tool_option *option, char *value) {
  return add_output(command, option->target.own.variable, value);
}

static int read_remote_name(const tool_command *command, const tool_option *option, char *value) {
  (void)value;
  return add_output(command, option->target.own.variable, NULL);
}

/* FORMAT or @FILE. */
static int read_write_out(const tool_command *command, const tool_option *option, char *value) {
  fetch_query *query = option->target.own.variable;
  char buffer[QUOTED_SIZE];
  if (*value != '@') {
    query->write_out = value;
    return TOOL_GO_ON;
  }
  if (!request_data_add_file(&query->write_out_file, value + 1)) {
    if (errno == ENOMEM) return library_error(command, BOXRETRY_ERROR_OUT_OF_MEMORY);
    return usage_error(command, "--%s: '%s' cannot be read: %s", option->name, quoted(buffer, value), strerror(errno));
  }
  query->write_out = query->write_out_file.length > 0 ? query->write_out_file.bytes : "";
  return TOOL_GO_ON;
}

/* Data for a URL's query, encoded as by --data-urlencode; after a '+', unchanged. */
static int read_url_query(const tool_command *command, const tool_option *option, char *value) {
  request_data *query = option->target.own.variable;
  char buffer[QUOTED_SIZE];
  const bool ok = *value == '+' ? request_data_add_text(query, value + 1) : request_data_add_encoded(query, value);
  if (ok) return TOOL_GO_ON;
  if (errno == ENOMEM) return library_error(command, BOXRETRY_ERROR_OUT_OF_MEMORY);
  return usage_error(command, "--%s: '%s' cannot be read: %s", option->name, quoted(buffer, value), strerror(errno));
}

int fetch_read_options(fetch_query *query, int argc, char **argv) {
  *query = (fetch_query){
      .retries = BOXRETRY_RETRY_OPTIONS_INIT,
      .timeouts = BOXRETRY_TIMEOUTS_INIT,
      .deadline_ms = BOXRETRY_NO_TIMEOUT,
      .connect_timeout_ms = BOXRETRY_NO_TIMEOUT,
      .follows_redirects = 1,
      .max_redirects = FETCH_NOT_GIVEN,
      .retry_count = FETCH_NOT_GIVEN,
      .parallel_max = 50,
  };
  query->retries.max_attempts = FETCH_NOT_GIVEN;
  query->retries.max_retries_on_exception = FETCH_NOT_GIVEN;
  const tool_option table[] = {
      OPERANDS("URL", &query->urls),
      GROUP("http", "the request"),
      TEXT('X', "request", "METHOD", &query->method, "method (default GET; POST with a body, PUT with -T)"),
      FLAG('I', "head", &query->is_head, "send HEAD, and print the status and headers"),
      HEADERS('H', "header", &query->headers,
              "header, 'Name: value'. 'Name:' removes a header, 'Name;' sends it without a value. May be repeated"),
      TEXT('A', "user-agent", "TEXT", &query->user_agent, "User-Agent (default boxretry/VERSION)"),
      OWN("url-query", "DATA", read_url_query, &query->url_query,
          "add DATA to the query of each URL, encoded as by --data-urlencode; '+TEXT' is added as is. May be repeated"),
      FLAG('G', "get", &query->data_goes_into_url, "add the --data to the query of each URL, and send GET"),
      TEXT(0, "idempotency-key", "KEY", &query->idempotency_key,
           "send this Idempotency-Key in all attempts, which makes a POST safe to retry; auto: generate one"),
      FLAG('L', "location", &query->follows_redirects, "follow redirects (default)"),
      FLAG_OFF("no-location", &query->follows_redirects, "do not follow redirects"),
      INTEGER("max-redirs", &query->max_redirects, "maximum number of redirects in one attempt (default 20)"),
      FLAG(0, "compressed", &query->is_compressed, "request a compressed response, and decompress it"),
      FLAG_AS(0, "http1.1", BOXRETRY_HTTP_1_1, &query->http_version, "use HTTP/1.1"),
      FLAG_AS(0, "http2", BOXRETRY_HTTP_2, &query->http_version,
              "use HTTP/2 over TLS if the server offers it (default)"),
      FLAG_AS(0, "http2-prior-knowledge", BOXRETRY_HTTP_2_PRIOR_KNOWLEDGE, &query->http_version,
              "use HTTP/2 without asking the server, also over plain http"),
      GROUP("post", "the request body"),
      DATA('d', "data", &query->data,
           "request body, or @FILE to read it from a file unchanged (@-: stdin). Repeated data is joined with '&'"),
      ENCODED_DATA("data-urlencode", &query->data,
                   "the same, URL-encoded: 'content', '=content', 'name=content', '@FILE' or 'name@FILE'"),
      FORM('F', "form", &query->form,
           "multipart form field: 'name=text', 'name=@FILE' (upload a file) or 'name=<FILE' (text from a file), "
           "optionally with ';type=TYPE' and ';filename=NAME'. May be repeated"),
      TEXT('T', "upload-file", "FILE", &query->upload,
           "upload this file (-: stdin). A pipe can be sent only once, so it is not retried after it was read"),
      GROUP("output", "what is written, and where"),
      OWN_LETTER('o', "output", "FILE", read_output, query,
                 "write the body of a 2xx response to FILE instead of stdout (-). Repeat it for further URLs"),
      OWN_LETTER('O', "remote-name", NULL, read_remote_name, query,
                 "the same, to a file named like the last part of the URL's path"),
      FLAG(0, "resume", &query->is_resumable,
           "if a download breaks off, continue it from where it stopped; needs a strong ETag from the server"),
      LIMIT("body-limit", &query->body_limit,
            "maximum size of a 2xx response's body in bytes, or none (default none; 256 MiB with -i and -Z)"),
      FLAG('i', "include", &query->with_head, "print the status and headers before the body"),
      FLAG('f', "fail", &query->no_body_on_failure, "do not print the body of a failed call"),
      FLAG(0, "json", &query->as_json, "print one line of JSON about each call instead of the body"),
      OWN_LETTER('w', "write-out", "FORMAT", read_write_out, query,
                 "print FORMAT after each URL, with its %{variables} replaced; @FILE: read it from a file"),
      FLAG('v', "verbose", &query->is_verbose, "print the table of attempts on stderr, even if it is not a terminal"),
      FLAG('s', "silent", &query->is_silent, "print nothing on stderr, except errors in the options"),
      FLAG('S', "show-error", &query->shows_error, "with -s, still print why a call failed"),
      FLAG('Z', "parallel", &query->is_parallel,
           "fetch the URLs in parallel; each body is printed once it is complete"),
      INTEGER("parallel-max", &query->parallel_max, "maximum number of parallel transfers (default 50)"),
      FLAG(0, "fail-early", &query->fails_early, "do not start further URLs after one failed"),
      GROUP("retry", "retries"),
      CHOICE("preset", "NAME", &query->preset, preset_names,
             "box (default), or january: no retries except those that the options below set"),
      INTEGER("retry", &query->retry_count, "at most N retries in all (default: set by the next two options)"),
      BACKOFF_OPTIONS(&query->retries),
      BEYOND_OPTIONS(&query->retries),
      FLAG(
          0, "share-retry-after", &query->shares_retry_after,
          "with -Z: a 429 or 503 with Retry-After holds the other requests to its server too; then they go one by one, "
          "and more of them while it answers well"),
      GROUP("timeout", "timeouts"),
      SECONDS('m', "max-time", &query->deadline_ms,
              "maximum time for the call, with all attempts and waits; 0: no limit (default)"),
      LIMIT("deadline-ms", &query->deadline_ms, "the same in milliseconds, or none"),
      SECONDS(0, "connect-timeout", &query->connect_timeout_ms,
              "maximum time for an attempt to resolve the name and to connect, TLS included; 0: no limit (default)"),
      LIMIT("timeout-interval-for-request-ms", &query->timeouts.timeout_interval_for_request_ms,
            "maximum time in an attempt without any data (default 60000), or none"),
      LIMIT("timeout-interval-for-resource-ms", &query->timeouts.timeout_interval_for_resource_ms,
            "maximum time for an attempt (default 21600000), or none"),
      GROUP("auth", "authentication"),
      OWN_LETTER(
          'u', "user", "USER", read_user, query,
          "user and password, 'USER:PASSWORD', for HTTP Basic authentication. Without ':', the tool asks for the "
          "password on the terminal"),
      TOKEN_OPTIONS(&query->tokens),
      GROUP("tls", "TLS certificates"),
      FLAG(
          'k', "insecure", &query->is_insecure,
          "accept any certificate: anyone on the network can read and change all data, including passwords and tokens"),
      TEXT(0, "cacert", "FILE", &query->ca_file, "CA certificates (PEM) to trust instead of the system's"),
      TEXT(0, "capath", "DIR", &query->ca_path, "directory of such certificates, prepared by 'openssl rehash'"),
      TEXT(0, "cert", "FILE", &query->certificate, "client certificate (PEM); FILE:PASSWORD if its key has a password"),
      TEXT(0, "key", "FILE", &query->key_file,
           "private key (PEM) of the client certificate, if it is in a separate file"),
      GROUP("proxy", "proxies and sockets"),
      TEXT(0, "unix-socket", "PATH", &query->unix_socket, "connect to this Unix socket instead of the URL's host"),
      TEXT('x', "proxy", "URL", &query->proxy, "proxy (default: from http_proxy, https_proxy and all_proxy)"),
      TEXT(0, "noproxy", "HOSTS", &query->no_proxy, "'*': no proxy, regardless of --proxy and the environment"),
  };
  int exit_code = read_options(&fetch_command, table, sizeof table / sizeof table[0], argc, argv);
  return exit_code == TOOL_GO_ON ? fetch_complete(query) : exit_code;
}

/* The headers may contain passwords. */
static void forget_headers(fetch_query *query) {
  for (size_t i = 0; i < query->headers.count; i++) {
    char *value = (char *)query->headers.items[i].value;
    if (value) explicit_bzero(value, strlen(value));
  }
  header_list_free(&query->headers);
}

void fetch_query_free(fetch_query *query) {
  free(query->urls.items);
  free(query->outputs.items);
  request_data_free(&query->url_query);
  request_data_free(&query->write_out_file);
  forget(query->user);
  forget_headers(query);
  request_data_free(&query->data);
  form_data_free(&query->form);
  free(query->certificate_file);
  token_options_forget(&query->tokens);
  boxretry_token_source_free(query->token_source);
}
