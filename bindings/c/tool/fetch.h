/* boxretry fetch: its query and its results. */
#ifndef BOXRETRY_TOOL_FETCH_H
#define BOXRETRY_TOOL_FETCH_H

#include "options.h"
#include "token_options.h"

#include <stdbool.h>
#include <stdio.h>

/** What the user asks for. */
typedef struct fetch_query {
  text_list urls;
  text_list outputs; /* of -o and -O, in the order of the URLs; NULL: use the file name in the URL */
  int32_t is_parallel;
  int32_t parallel_max;
  int32_t fails_early;
  request_data url_query;
  int32_t data_goes_into_url;
  const char *method;
  int32_t is_head;
  header_list headers;
  bool without_authorization;
  request_data data;
  form_data form;
  const char *upload;
  char *user; /* USER[:PASSWORD], overwritten after its last use */
  const char *write_out;
  request_data write_out_file; /* the file of -w */
  int32_t is_resumable;
  int32_t with_head;
  int32_t no_body_on_failure;
  int32_t as_json;
  int32_t is_silent;
  int32_t shows_error;
  int32_t is_verbose;
  int32_t preset; /* BOXRETRY_PRESET_… */
  bool has_strategy;
  int32_t retry_count;        /* from --retry */
  int32_t max_total_attempts; /* 0: the library's default */
  int32_t shares_retry_after;
  boxretry_retry_options retries;
  const char *idempotency_key;
  boxretry_timeouts timeouts;
  int64_t deadline_ms;
  int64_t connect_timeout_ms;
  int64_t body_limit;
  int32_t follows_redirects;
  int32_t max_redirects;
  int32_t is_compressed;
  int32_t http_version; /* BOXRETRY_HTTP_… */
  int32_t is_insecure;
  const char *ca_file;
  const char *ca_path;
  const char *certificate; /* as given: FILE[:PASSWORD] */
  char *certificate_file;
  const char *certificate_password; /* points into certificate_file's memory, after the file name */
  const char *key_file;
  const char *proxy;
  const char *no_proxy;
  const char *unix_socket;
  const char *user_agent;
  token_options tokens;
  boxretry_token_source *token_source; /* made from `tokens`; NULL: none */
} fetch_query;

/** The result of a call. */
typedef struct fetch_result {
  boxretry_error error;        /* the response's error, or why there is no response or no output file */
  boxretry_error token_error;  /* why there is no access token, if that ended the call */
  boxretry_response *response; /* NULL if the call was not started */
  char *detail;                /* the library's detail of `error`; NULL: none */
  int signal_number;           /* of the signal that canceled it; 0: none */
  int output_errno;            /* why the file of -o cannot be written, if known; 0 */
  int stdout_errno;            /* why the body could not be written to stdout; 0 */
  double seconds;              /* duration of the call */
} fetch_result;

/** One call. */
typedef struct fetch_job {
  const fetch_query *query;
  size_t number;         /* counted from 1 */
  const char *url_given; /* as given on the command line */
  char *url;             /* the same, with the query of --get and --url-query added */
  char *output;          /* file for the body; NULL: stdout */
  fetch_result result;
} fetch_job;

/** What --help prints, and the second part of --help all. */
extern const basic_option fetch_basics[];
extern const char *const fetch_details[];

/** A count that was not given on the command line: the preset decides. */
enum { FETCH_NOT_GIVEN = -1999999999 };

/** Checks combinations of options, and sets defaults. Returns TOOL_GO_ON or the exit code. */
int fetch_complete(fetch_query *query);

/** Reads the options. Returns TOOL_GO_ON or the exit code. Free the query in both cases. */
int fetch_read_options(fetch_query *query, int argc, char **argv);
void fetch_query_free(fetch_query *query);

/** Handles headers that must not be sent, and removes their lines. Returns TOOL_GO_ON or the exit code. */
int fetch_leave_headers_out(fetch_query *query);

/** Creates the source of access tokens. Returns TOOL_GO_ON and sets result->error, or returns the exit code. */
int fetch_take_tokens(fetch_query *query, fetch_result *result);

/** Returns a BOXRETRY_PROXY_ constant. */
int32_t fetch_proxy_mode(const fetch_query *query);

/** Turns --user into an Authorization header. Asks for a missing password on the terminal. Returns TOOL_GO_ON or the
 * exit code. */
int fetch_take_user(fetch_query *query);

/** Prepares job number `number`: its URL and its output file. Returns TOOL_GO_ON or the exit code. */
int fetch_job_init(fetch_job *job, const fetch_query *query, size_t number);
void fetch_job_free(fetch_job *job);

/** Runs all calls, and shows the result of each when it ends. Returns the exit code. */
int fetch_run(const fetch_query *query);

/** Shows the result of a call. Returns the exit code. */
int fetch_show(fetch_job *job);

/** Prints the result as one line of JSON. */
void fetch_print_json(const fetch_job *job);

/** Gets the last attempt of a call. Returns false if there was none. */
bool fetch_last_attempt(const boxretry_response *response, boxretry_attempt *attempt);

/** Whether the response is a redirect that was not followed because the request's body cannot be sent again. */
bool fetch_is_unfollowed(const boxretry_response *response);

/** Prints status and header lines. */
void fetch_print_head(const boxretry_response *response);

/** Prints the body, except what went to a sink. */
void fetch_print_body(const boxretry_response *response);

/** Prints why the call failed, without a newline. */
void fetch_print_failure(FILE *stream, const fetch_result *result);

#endif
