/* boxretry fetch: its options. */
#define _DEFAULT_SOURCE

#include "fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const preset_names[] = {
    [BOXRETRY_PRESET_BOX] = "box", [BOXRETRY_PRESET_JANUARY] = "january", [BOXRETRY_PRESET_JANUARY + 1] = NULL};

/* --- Values of the command's own --- */

/* The value may have a password in it: it is taken off the command line. */
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

/* FORMAT, or @FILE with it. */
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

/* A URL's query, which is text as --data-urlencode has it; after a '+', unchanged. */
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
      TEXT('X', "request", "METHOD", &query->method, "method (default GET; with a body POST, with -T PUT)"),
      FLAG('I', "head", &query->is_head, "a HEAD; status and header lines on stdout, as with -i"),
      HEADERS('H', "header", &query->headers,
              "header line, 'Name: value'. 'Name:' sends none of that name, 'Name;' an empty one. May be given again"),
      TEXT('A', "user-agent", "TEXT", &query->user_agent, "User-Agent (default boxretry/ and the version)"),
      OWN("url-query", "DATA", read_url_query, &query->url_query,
          "add this to the query of each URL, encoded as with --data-urlencode; '+TEXT' is added unchanged. May be "
          "given "
          "again"),
      FLAG('G', "get", &query->data_goes_into_url, "add what --data gives to the query of each URL, and send a GET"),
      TEXT(0, "idempotency-key", "KEY", &query->idempotency_key,
           "the header Idempotency-Key, the same in all attempts; auto: one is made. Makes a POST safe to retry"),
      FLAG('L', "location", &query->follows_redirects, "follow redirects (default)"),
      FLAG_OFF("no-location", &query->follows_redirects, "do not: the response that redirects is the last"),
      INTEGER("max-redirs", &query->max_redirects, "redirects that are followed in an attempt (default 20)"),
      FLAG(0, "compressed", &query->is_compressed, "ask for a compressed response, and unpack it"),
      FLAG_AS(0, "http1.1", BOXRETRY_HTTP_1_1, &query->http_version, "speak HTTP/1.1 alone"),
      FLAG_AS(0, "http2", BOXRETRY_HTTP_2, &query->http_version,
              "speak HTTP/2 over TLS where the server offers it (default)"),
      FLAG_AS(0, "http2-prior-knowledge", BOXRETRY_HTTP_2_PRIOR_KNOWLEDGE, &query->http_version,
              "speak HTTP/2 at once, without TLS too"),
      GROUP("post", "the body of the request"),
      DATA('d', "data", &query->data,
           "body, or @FILE: what is in it, as it is (@-: stdin). Given again, it is added after a '&'"),
      ENCODED_DATA("data-urlencode", &query->data,
                   "the same, percent-encoded: 'content', '=content', 'name=content', '@FILE' or 'name@FILE'"),
      FORM('F', "form", &query->form,
           "field of a form with files: 'name=text', 'name=@FILE' (the file), 'name=<FILE' (what is in it); "
           "';type=TYPE' and ';filename=NAME' may follow. May be given again"),
      TEXT('T', "upload-file", "FILE", &query->upload,
           "body, read while it is sent (-: stdin). What is no ordinary file, a pipe say, can be sent only once"),
      GROUP("output", "where it goes, and what is shown"),
      OWN_LETTER(
          'o', "output", "FILE", read_output, query,
          "where the body of a 2xx response goes, instead of to stdout (-). Given again, it is for the next URL"),
      OWN_LETTER('O', "remote-name", NULL, read_remote_name, query,
                 "the same, with the last part of the URL's path as the name"),
      FLAG(0, "resume", &query->is_resumable,
           "a download to a file that breaks off goes on where it was, if the server gave a strong ETag"),
      LIMIT("body-limit", &query->body_limit,
            "largest body of a 2xx response, in bytes, or none (default: none; with -i and -Z 256 MiB)"),
      FLAG('i', "include", &query->with_head, "status and header lines on stdout, before the body"),
      FLAG('f', "fail", &query->no_body_on_failure, "no body on stdout if the call fails"),
      FLAG(0, "json", &query->as_json, "one line of JSON for each URL on stdout, and no body"),
      OWN_LETTER('w', "write-out", "FORMAT", read_write_out, query,
                 "print this on stdout after each URL, with %{variables} replaced; @FILE: read it from a file"),
      FLAG('v', "verbose", &query->is_verbose, "the table of attempts on stderr, also if that is no terminal"),
      FLAG('s', "silent", &query->is_silent, "nothing on stderr but what is wrong with the options"),
      FLAG('S', "show-error", &query->shows_error, "with -s: if the call fails, why"),
      FLAG('Z', "parallel", &query->is_parallel,
           "fetch the URLs at the same time. Each body is printed when it is whole"),
      INTEGER("parallel-max", &query->parallel_max, "URLs that are fetched at the same time (default 50)"),
      FLAG(0, "fail-early", &query->fails_early, "do not begin with a further URL after one has failed"),
      GROUP("retry", "when it is sent again"),
      CHOICE("preset", "NAME", &query->preset, preset_names,
             "box (default), or january: only the retries that the options below ask for"),
      INTEGER("retry", &query->retry_count, "at most N retries, of any kind (default: as the next two options say)"),
      BACKOFF_OPTIONS(&query->retries),
      BEYOND_OPTIONS(&query->retries),
      GROUP("timeout", "how long it may take"),
      SECONDS('m', "max-time", &query->deadline_ms,
              "longest time of the call, with all attempts and waits; 0: no limit (default)"),
      LIMIT("deadline-ms", &query->deadline_ms, "the same in milliseconds, or none"),
      SECONDS(0, "connect-timeout", &query->connect_timeout_ms,
              "longest time of an attempt to look up the name and to connect, TLS included; 0: no limit (default)"),
      LIMIT("timeout-interval-for-request-ms", &query->timeouts.timeout_interval_for_request_ms,
            "longest time of an attempt with nothing moving (default 60000), or none"),
      LIMIT("timeout-interval-for-resource-ms", &query->timeouts.timeout_interval_for_resource_ms,
            "longest time of an attempt in all (default 21600000), or none"),
      GROUP("auth", "who sends it"),
      OWN_LETTER(
          'u', "user", "USER", read_user, query,
          "user and password, 'USER:PASSWORD', sent as 'Authorization: Basic'. Without a ':', the password is asked "
          "for on the terminal"),
      TOKEN_OPTIONS(&query->tokens),
      GROUP("tls", "certificates"),
      FLAG('k', "insecure", &query->is_insecure,
           "accept any certificate: anyone on the way can read and change what is sent, passwords and tokens included"),
      TEXT(0, "cacert", "FILE", &query->ca_file, "certificates (PEM) to trust instead of the system's"),
      TEXT(0, "capath", "DIR", &query->ca_path, "a directory of such certificates, as 'openssl rehash' makes it"),
      TEXT(0, "cert", "FILE", &query->certificate,
           "certificate (PEM) to show to the server; FILE:PASSWORD for its key"),
      TEXT(0, "key", "FILE", &query->key_file, "the certificate's key (PEM), if it is in a file of its own"),
      GROUP("proxy", "the way to the server"),
      TEXT(0, "unix-socket", "PATH", &query->unix_socket, "connect to this socket, whatever the URL's host"),
      TEXT('x', "proxy", "URL", &query->proxy, "proxy (default: as http_proxy and the like say)"),
      TEXT(0, "noproxy", "HOSTS", &query->no_proxy, "'*': no proxy, whatever --proxy and the environment say"),
  };
  int exit_code = read_options(&fetch_command, table, sizeof table / sizeof table[0], argc, argv);
  return exit_code == TOOL_GO_ON ? fetch_complete(query) : exit_code;
}

/* Passwords, which the list of headers may have in them. */
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
