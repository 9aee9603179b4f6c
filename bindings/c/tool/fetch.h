/* boxretry fetch: what is asked for, and what came of it. */
#ifndef BOXRETRY_TOOL_FETCH_H
#define BOXRETRY_TOOL_FETCH_H

#include "options.h"
#include "token_options.h"

#include <stdbool.h>
#include <stdio.h>

/** What the user asks for. */
typedef struct fetch_query {
  text_list urls;
  text_list outputs; /* of -o and -O, in their order, which is that of the URLs; NULL: the name is in the URL */
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
  char *user; /* USER[:PASSWORD], overwritten when it is not needed any more */
  const char *write_out;
  request_data write_out_file; /* which -w has named */
  int32_t is_resumable;
  int32_t with_head;
  int32_t no_body_on_failure;
  int32_t as_json;
  int32_t is_silent;
  int32_t shows_error;
  int32_t is_verbose;
  int32_t preset; /* BOXRETRY_PRESET_… */
  bool has_strategy;
  int32_t retry_count;        /* of --retry */
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
  const char *certificate; /* as it was given: FILE[:PASSWORD] */
  char *certificate_file;
  const char *certificate_password; /* behind the file's name, in the same memory */
  const char *key_file;
  const char *proxy;
  const char *no_proxy;
  const char *unix_socket;
  const char *user_agent;
  token_options tokens;
  boxretry_token_source *token_source; /* which they make; NULL: none */
} fetch_query;

/** What came of a call. */
typedef struct fetch_result {
  boxretry_error error;        /* the response's own; or why there is none, or why it could not be put into its file */
  boxretry_error token_error;  /* why there is no access token, if that ended the call */
  boxretry_response *response; /* NULL if the call was not started */
  char *detail;                /* what the library had to say of `error`; NULL: nothing */
  int signal_number;           /* of the signal that cancelled it; 0 */
  int output_errno;            /* why the file of -o cannot be written, where that is known; 0 */
  int stdout_errno;            /* why the body could not be written to stdout; 0 */
  double seconds;              /* that the call took */
} fetch_result;

/** One of the calls. */
typedef struct fetch_job {
  const fetch_query *query;
  size_t number;         /* from 1 */
  const char *url_given; /* on the command line */
  char *url;             /* the same, with the query of --get and --url-query */
  char *output;          /* file for the body; NULL: stdout */
  fetch_result result;
} fetch_job;

/** What --help shows, and the second part of --help all. */
extern const basic_option fetch_basics[];
extern const char *const fetch_details[];

/** A count that is not on the command line: the preset decides. */
enum { FETCH_NOT_GIVEN = -1999999999 };

/** Checks what the options say together, and fills in what is left open. TOOL_GO_ON, or the code to exit with. */
int fetch_complete(fetch_query *query);

/** Reads the options. TOOL_GO_ON, or the code to exit with. Free the query in both cases. */
int fetch_read_options(fetch_query *query, int argc, char **argv);
void fetch_query_free(fetch_query *query);

/** Sees to the headers that are not to be sent, and drops their lines. TOOL_GO_ON, or the code to exit with. */
int fetch_leave_headers_out(fetch_query *query);

/** Makes the source of the access tokens. TOOL_GO_ON, with result->error, or the code to exit with. */
int fetch_take_tokens(fetch_query *query, fetch_result *result);

/** BOXRETRY_PROXY_… */
int32_t fetch_proxy_mode(const fetch_query *query);

/** Makes an Authorization header of --user. Asks on the terminal for a password that is missing. TOOL_GO_ON, or the exit code. */
int fetch_take_user(fetch_query *query);

/** What job number `number` asks for, and where its body goes. TOOL_GO_ON, or the code to exit with. */
int fetch_job_init(fetch_job *job, const fetch_query *query, size_t number);
void fetch_job_free(fetch_job *job);

/** Makes all calls, and shows what came of each as it ends. Answers the code to exit with. */
int fetch_run(const fetch_query *query);

/** Shows what came of a call. Answers the exit code. */
int fetch_show(fetch_job *job);

/** Prints the result as one line of JSON. */
void fetch_print_json(const fetch_job *job);

/** The last attempt of a call. False: there was none. */
bool fetch_last_attempt(const boxretry_response *response, boxretry_attempt *attempt);

/** Whether the response is a redirect that was not followed, since the body of the request cannot be sent again. */
bool fetch_is_unfollowed(const boxretry_response *response);

/** Prints status and header lines. */
void fetch_print_head(const boxretry_response *response);

/** Prints the part of a body that has not gone into a sink. */
void fetch_print_body(const boxretry_response *response);

/** Says in one line, without its end, why the call failed. */
void fetch_print_failure(FILE *stream, const fetch_result *result);

#endif
