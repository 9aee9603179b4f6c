/*
 * boxretry.h: retries, timeouts and access tokens for HTTP APIs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BOXRETRY_H
#define BOXRETRY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* =====================================================================================================================
 * Introduction
 *
 * libboxretry sends HTTP requests over libcurl and retries them by two published sets of rules: Box's retry strategy
 * and January's token lifecycle. Clause numbers such as (B3) or (T5) in this file refer to docs/semantics.md, which
 * states each rule.
 *
 * A client sends requests (docs/programs/first_request.c is the whole program, with its error checks):
 *
 *     boxretry_client *client;
 *     boxretry_response *response;
 *     boxretry_request request = BOXRETRY_REQUEST_INIT;
 *     request.url = "https://example.org/";
 *     boxretry_client_new(NULL, &client);                      // NULL: the documented defaults
 *     boxretry_client_perform(client, &request, &response);    // blocks; boxretry_client_submit() does not
 *     printf("%d\n", (int)boxretry_response_status(response));
 *     boxretry_response_free(response);
 *     boxretry_client_free(client);
 *
 * A program with its own transport asks a retry loop instead (the whole program is bindings/c/quickstart.c):
 *
 *     boxretry_strategy *strategy;
 *     boxretry_retry_loop *loop;
 *     boxretry_strategy_new(NULL, &strategy);                  // the documented defaults
 *     boxretry_retry_loop_new(strategy, NULL, &loop);          // one loop for each call
 *     for (;;) {
 *       boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
 *       boxretry_decision decision = BOXRETRY_DECISION_INIT;
 *       send_the_request(&outcome);                            // yours: fills in status and headers, or a cause
 *       boxretry_retry_loop_next(loop, &outcome, &decision);
 *       if (decision.action == BOXRETRY_ACTION_STOP || decision.action == BOXRETRY_ACTION_SUCCEED) break;
 *       boxretry_clock_sleep(NULL, decision.delay);
 *     }
 *
 * The header is C99 and C++11.
 *
 * Conventions
 *
 * 1. Handles are opaque. x_new() makes one, x_free() frees it. x_free() accepts NULL, may be called anywhere,
 *    including in callbacks, and never waits for user code. An object keeps the handles that it is given (it retains
 *    them), so you can free them in any order.
 * 2. A function that can fail returns a boxretry_error. It writes its results through its last parameter, and only on
 *    success. boxretry_last_error_detail() returns which argument was wrong, and why.
 * 3. Structs begin with struct_size. Initialize each with its _INIT macro, or with its _init() function in languages
 *    without macros: both set the size and all defaults. A newer library accepts an older, shorter struct. It accepts
 *    a longer one if the part that it does not know is zero. Fields called "reserved" must be 0.
 *    (boxretry_header, boxretry_delay_header and boxretry_part are elements of arrays and have no struct_size.)
 * 4. Delays are seconds (double). Times whose names end in _ms are milliseconds (int64_t). BOXRETRY_NO_TIMEOUT means no
 *    limit; a wait of 0 returns immediately. Flags are int32_t: 0 is false, any other value is true.
 * 5. Strings end in NUL. The library copies what it keeps during the call. Header names and values are bytes, as
 *    servers send them.
 * 6. A callback gets its context first and returns nothing. It answers through a pointer to an answer that the library
 *    has preset to "failed". It must return: do not leave it by longjmp() or by an exception. Functions that block
 *    return BOXRETRY_ERROR_IN_CALLBACK inside a callback. A callback that "runs on the loop" runs on the thread that
 *    drives the client's transfers at that moment, one at a time; it must not block.
 * 7. Memory: if memory for data that you pass in cannot be allocated, the function returns
 *    BOXRETRY_ERROR_OUT_OF_MEMORY. If even the few kilobytes for a handle cannot be allocated, the process aborts.
 * 8. An invalid argument (NULL, a number out of range, NaN, a wrong struct_size) never crashes the library: the
 *    function returns BOXRETRY_ERROR_INVALID_ARGUMENT and changes nothing. A dangling pointer, or a pointer to an
 *    object of another type, is undefined behavior, as everywhere in C.
 * 9. Threads: each section says who may use its handles at the same time. After fork() the child may only free the
 *    handles of its parent; all other functions return BOXRETRY_ERROR_FORKED for them. Handles made in the child work.
 *    Do not use _Fork(): it skips the fork handlers that the library relies on. No function is a cancellation point:
 *    pthread_cancel() takes effect after the function returns. Once exit() begins, calls end as canceled, and the
 *    library's threads call no more callbacks.
 * 10. Paths: the function that takes a relative path resolves it, so a later chdir() does not change its meaning. Only
 *    `unix_socket` is resolved for each connection, because its length is limited.
 * ================================================================================================================== */

/** No limit, for any time in milliseconds. */
#define BOXRETRY_NO_TIMEOUT INT64_MAX

/* =====================================================================================================================
 * Version
 * ================================================================================================================== */

#define BOXRETRY_VERSION_MAJOR 0
#define BOXRETRY_VERSION_MINOR 2
#define BOXRETRY_VERSION_PATCH 0

/** The version of this header as text. */
#define BOXRETRY_VERSION "0.2.0"

/** A version as one number: 1.2.3 is 10203. Minor and patch stay below 100, so newer versions are larger. */
#define BOXRETRY_VERSION_MAKE_NUMBER(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))

/** The version of this header as one number. */
#define BOXRETRY_VERSION_NUMBER                                                                                        \
  BOXRETRY_VERSION_MAKE_NUMBER(BOXRETRY_VERSION_MAJOR, BOXRETRY_VERSION_MINOR, BOXRETRY_VERSION_PATCH)

/** Whether this header is at least that version; for #if. */
#define BOXRETRY_VERSION_AT_LEAST(major, minor, patch)                                                                 \
  (BOXRETRY_VERSION_NUMBER >= BOXRETRY_VERSION_MAKE_NUMBER(major, minor, patch))

/** The version of the library at run time, such as "0.2.0". Static; never NULL. Any thread. */
const char *boxretry_version(void);

/** The version of the library at run time, in the form of BOXRETRY_VERSION_NUMBER. Any thread. */
int32_t boxretry_version_number(void);

/**
 * The version of the libcurl that the library uses in this process, such as "8.14.1". Static; never NULL. Any thread.
 * (Since 0.2.0.)
 */
const char *boxretry_libcurl_version(void);

/* =====================================================================================================================
 * Errors
 * ================================================================================================================== */

/** The result of a function: BOXRETRY_OK, or the reason for its failure. */
typedef int32_t boxretry_error;

/**
 * The network exceptions (B2): cause and its value, error and its value, name, text. An attempt that fails in this way
 * has the cause; a call that ends with it has the error.
 */
/* clang-format off */
#define BOXRETRY_EXCEPTION_MAP(ROW, X)                                                                                 \
  ROW(X, BOXRETRY_CAUSE_RESOLVE, 1, BOXRETRY_ERROR_RESOLVE, 13, "resolve", "the host name could not be resolved")      \
  ROW(X, BOXRETRY_CAUSE_CONNECT, 2, BOXRETRY_ERROR_CONNECT, 14, "connect", "could not connect")                        \
  ROW(X, BOXRETRY_CAUSE_TLS, 3, BOXRETRY_ERROR_TLS, 15, "tls", "the TLS handshake or the certificate check failed")    \
  ROW(X, BOXRETRY_CAUSE_SEND, 4, BOXRETRY_ERROR_SEND, 16, "send", "the request could not be sent")                     \
  ROW(X, BOXRETRY_CAUSE_RECEIVE, 5, BOXRETRY_ERROR_RECEIVE, 17, "receive",                                             \
      "the response broke off, or there was none")                                                                     \
  ROW(X, BOXRETRY_CAUSE_PROTOCOL, 6, BOXRETRY_ERROR_PROTOCOL, 18, "protocol",                                          \
      "the server's response is not valid HTTP")                                                                       \
  ROW(X, BOXRETRY_CAUSE_TIMEOUT_IDLE, 7, BOXRETRY_ERROR_TIMEOUT_IDLE, 19, "timeout_idle",                              \
      "no data was transferred within the request timeout")                                                            \
  ROW(X, BOXRETRY_CAUSE_TIMEOUT_RESOURCE, 8, BOXRETRY_ERROR_TIMEOUT_RESOURCE, 20, "timeout_resource",                  \
      "the attempt took longer than the resource timeout")
#define BOXRETRY_CAUSE_ROW(X, cause, cause_value, error, error_value, name, text) X(cause, cause_value, name, text)
#define BOXRETRY_ERROR_ROW(X, cause, cause_value, error, error_value, name, text) X(error, error_value, name, text)

/** The causes of network exceptions: constant, value, name, text. */
#define BOXRETRY_CAUSE_MAP(X)                                                                                          \
  X(BOXRETRY_CAUSE_NONE, 0, "none", "no network exception, or one of unknown cause")                                   \
  BOXRETRY_EXCEPTION_MAP(BOXRETRY_CAUSE_ROW, X)

/**
 * All errors: constant, value, name, text. This table defines the constants, boxretry_error_name() and
 * boxretry_error_text(). Values are never reused; new ones are added at the end.
 */
#define BOXRETRY_ERROR_MAP(X)                                                                                          \
  X(BOXRETRY_OK, 0, "ok", "no error")                                                                                  \
  X(BOXRETRY_ERROR_INVALID_ARGUMENT, 1, "invalid_argument", "invalid argument")                                        \
  X(BOXRETRY_ERROR_OUT_OF_MEMORY, 2, "out_of_memory", "out of memory")                                                 \
  X(BOXRETRY_ERROR_NOT_USABLE, 3, "not_usable", "not a valid delay")                                                   \
  X(BOXRETRY_ERROR_CALLBACK_FAILED, 4, "callback_failed", "a callback returned no answer or an invalid answer")        \
  X(BOXRETRY_ERROR_IN_CALLBACK, 5, "in_callback", "not allowed inside a callback of the library")                      \
  X(BOXRETRY_ERROR_FORKED, 6, "forked", "the handle was made before fork(), in the parent process")                    \
  X(BOXRETRY_ERROR_CLOSED, 7, "closed", "the object was closed or freed")                                              \
  X(BOXRETRY_ERROR_ENDED, 8, "ended", "the retry loop has already made its last decision")                             \
  X(BOXRETRY_ERROR_WAIT_TIMEOUT, 9, "wait_timeout", "the wait timed out")                                              \
  X(BOXRETRY_ERROR_EXHAUSTED, 10, "exhausted", "no file descriptors or threads are left")                              \
  X(BOXRETRY_ERROR_CANCELLED, 11, "cancelled", "the call was canceled")                                                \
  X(BOXRETRY_ERROR_DEADLINE, 12, "deadline", "the call's deadline passed")                                             \
  BOXRETRY_EXCEPTION_MAP(BOXRETRY_ERROR_ROW, X)                                                                        \
  X(BOXRETRY_ERROR_RESPONSE_TOO_LARGE, 21, "response_too_large", "the response exceeds a size limit")                  \
  X(BOXRETRY_ERROR_SETTING, 22, "setting", "a setting, such as a CA file, does not work on this machine")              \
  X(BOXRETRY_ERROR_SOURCE, 23, "source", "the request body could not be read")                                         \
  X(BOXRETRY_ERROR_SINK, 24, "sink", "the response body could not be written")                                         \
  X(BOXRETRY_ERROR_TOO_MANY_REDIRECTS, 25, "too_many_redirects", "too many redirects")                                 \
  X(BOXRETRY_ERROR_INVALID_CLIENT_TOKEN, 26, "invalid_client_token", "the token provider returned an invalid token")   \
  X(BOXRETRY_ERROR_INVALID_CLIENT_TOKEN_EXPIRATION, 27, "invalid_client_token_expiration",                             \
    "the token provider returned a token with an invalid or too short lifetime")                                       \
  X(BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED, 28, "client_token_provider_failed", "the token provider failed")      \
  X(BOXRETRY_ERROR_TOKEN_REQUEST_ENDED, 29, "token_request_ended",                                                     \
    "the token request was answered already, timed out, or its source was freed")
/* clang-format on */

/** Makes an enum constant from a row of one of the tables. */
#define BOXRETRY_MAP_CONSTANT(constant, value, name, text) constant = value,

enum { BOXRETRY_CAUSE_MAP(BOXRETRY_MAP_CONSTANT) };
enum { BOXRETRY_ERROR_MAP(BOXRETRY_MAP_CONSTANT) };

/**
 * The stable name, such as "invalid_argument" or "timeout_idle"; "unknown" for any other number. Static. Any thread.
 */
const char *boxretry_error_name(boxretry_error error);
const char *boxretry_cause_name(int32_t cause);

/** The meaning of an error, as text for people. Static; never NULL. Any thread. */
const char *boxretry_error_text(boxretry_error error);

/**
 * Details of the last failure on this thread: which argument was wrong, and why. Empty if nothing has failed yet.
 * Only meaningful right after a failure: a call that succeeds leaves it unchanged. Valid until the thread's next call.
 */
const char *boxretry_last_error_detail(void);

/* =====================================================================================================================
 * Types: the handles, and the structs that other structs refer to
 * ================================================================================================================== */

/** Sends requests. Any number of threads may use it at once. */
typedef struct boxretry_client boxretry_client;
/** The result of a call. One thread at a time. */
typedef struct boxretry_response boxretry_response;
/** A call in progress. Any number of threads may use it at once. */
typedef struct boxretry_call boxretry_call;
/** Collects ended calls for an event loop. Any number of threads may use it at once. */
typedef struct boxretry_queue boxretry_queue;
/** A switch that cancels calls and waits. Any number of threads may use it at once. */
typedef struct boxretry_cancel boxretry_cancel;
/** A request just before it is sent, in a `before_attempt` hook. Only valid inside the hook, on its thread. */
typedef struct boxretry_sending boxretry_sending;
/** Decides whether and when an attempt is retried. It never changes: any number of threads may use it at once. */
typedef struct boxretry_strategy boxretry_strategy;
/** The state of one call's retries, for your own transport. One thread at a time. */
typedef struct boxretry_retry_loop boxretry_retry_loop;
/** Limits the retries of many calls. Any number of threads may use it at once. */
typedef struct boxretry_budget boxretry_budget;
/** Supplies access tokens. Any number of threads may use it at once. */
typedef struct boxretry_token_source boxretry_token_source;
/** An access token. It never changes: any number of threads may read it at once. */
typedef struct boxretry_token boxretry_token;
/** One call of a token provider, which must answer it once. Any number of threads may use it at once. */
typedef struct boxretry_token_request boxretry_token_request;
/** A clock that moves only when told, for tests. Any number of threads may use it at once. */
typedef struct boxretry_clock boxretry_clock;

typedef struct boxretry_body_source boxretry_body_source;
typedef struct boxretry_sink boxretry_sink;
typedef struct boxretry_progress boxretry_progress;
typedef struct boxretry_event boxretry_event;
typedef struct boxretry_request boxretry_request;

/** A header line. Both strings are required; they are bytes and end in NUL. An element of arrays: no struct_size. */
typedef struct boxretry_header {
  const char *name;
  const char *value;
} boxretry_header;

/** A setting with a default that is stated where it is used. */
enum { BOXRETRY_SWITCH_DEFAULT = 0, BOXRETRY_SWITCH_ON = 1, BOXRETRY_SWITCH_OFF = -1 };

/* =====================================================================================================================
 * Client: sends requests, with the documented retries and timeouts
 *
 * Any number of threads may use a client at once. One client for the whole program is usual, since it keeps
 * connections open. A client runs a thread only while calls are in progress that no thread waits for; with
 * BOXRETRY_THREADS_NONE it never does.
 * ================================================================================================================== */

/** Which of the two sources a client follows. */
enum {
  BOXRETRY_PRESET_BOX = 0,    /* Box's retry strategy with its defaults; a new token after any 401 (B8) */
  BOXRETRY_PRESET_JANUARY = 1 /* no retry strategy; replay after a 401 with token_expired (R) */
};

/** Which versions of HTTP are used. */
enum {
  BOXRETRY_HTTP_DEFAULT = 0,          /* of a request: the client's; of a client: HTTP_2 */
  BOXRETRY_HTTP_1_1 = 1,              /* HTTP/1.1 */
  BOXRETRY_HTTP_2 = 2,                /* HTTP/2 over TLS if the server offers it, else HTTP/1.1 */
  BOXRETRY_HTTP_2_PRIOR_KNOWLEDGE = 3 /* HTTP/2 without asking the server, even without TLS */
};

/** Which proxy is used. */
enum {
  BOXRETRY_PROXY_ENVIRONMENT = 0, /* from http_proxy, https_proxy, all_proxy and no_proxy when the client is made */
  BOXRETRY_PROXY_NONE = 1,        /* none */
  BOXRETRY_PROXY_GIVEN = 2        /* `proxy` */
};

/** Whether the library starts threads for a client. */
enum {
  BOXRETRY_THREADS_OWN = 0, /* yes, when they are needed */
  BOXRETRY_THREADS_NONE = 1 /* no: your program drives the client (see boxretry_client_drive()) */
};

/** For max_redirects: follow no redirects; the redirect itself is the call's response. */
#define BOXRETRY_NO_REDIRECTS (-1)

/** How long one attempt may take (M1, M2). You can set one field; the other keeps its default. */
typedef struct boxretry_timeouts {
  size_t struct_size;
  int64_t timeout_interval_for_request_ms;  /* the longest time without any data; 1 or more; default 60000 */
  int64_t timeout_interval_for_resource_ms; /* the whole attempt; 1 or more; default 21600000 (6 hours) */
} boxretry_timeouts;

#define BOXRETRY_TIMEOUTS_INIT                                                                                         \
  { sizeof(boxretry_timeouts), 60000, 21600000 }

/** Does what BOXRETRY_TIMEOUTS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_timeouts_init(boxretry_timeouts *timeouts, size_t struct_size);

/**
 * The settings of a client. 0 or NULL is the default of every field; the comments say what it stands for:
 *
 *     strategy, preset               Box's retry strategy, BOXRETRY_PRESET_BOX
 *     timeouts                       60 s without data, 6 h for an attempt
 *     deadline_ms, connect_timeout_ms  none
 *     max_total_attempts             none for Box's strategy, 1000 for a custom one
 *     max_transfers                  512; max_transfers_per_host: no limit; max_lookups: 64
 *     max_response_headers           1000; max_response_header_bytes: 262144
 *     body_limit                     256 MiB; error_body_limit: 1 MiB
 *     max_redirects                  20
 *     http_version                   HTTP/2 over TLS if the server offers it, else HTTP/1.1
 *     compression                    off; tls_verify: on
 *     reconnect                      on for Box's preset, off for January's
 *     ca_file, ca_path               the system's certificates
 *     proxy_mode                     the environment's proxy
 *     threads                        BOXRETRY_THREADS_OWN
 *     user_agent                     "boxretry/" and the version
 *     idempotency_key_header         "Idempotency-Key"
 *     everything else                none
 */
typedef struct boxretry_client_options {
  size_t struct_size;

  /* Decides on retries. Retained. NULL: the preset's. */
  const boxretry_strategy *strategy;

  /* Time limits of each attempt. NULL: the defaults. */
  const boxretry_timeouts *timeouts;

  /* Time limit of each call, with all attempts and waits: milliseconds, 0 or more; 0 or BOXRETRY_NO_TIMEOUT: none. */
  int64_t deadline_ms;

  /* The header User-Agent: no control character except the tab. NULL: "boxretry/" and the version. */
  const char *user_agent;

  /* A file with CA certificates in PEM form, to trust instead of the system's. It does not apply to an https proxy,
     which is always checked against the system's. NULL: the system's. */
  const char *ca_file;

  /* The proxy's URL, for BOXRETRY_PROXY_GIVEN; otherwise NULL. Its scheme is http (default), https, socks4, socks4a,
     socks5 or socks5h. */
  const char *proxy;

  /* BOXRETRY_PROXY_…. */
  int32_t proxy_mode;

  /* Maximum number of attempts in a call, reconnects included: 1 to 1000000; 0: 1000 for a custom strategy, no limit
     for Box's, which has max_attempts (B14). */
  int32_t max_total_attempts;

  /* Maximum number of attempts in progress; further ones wait: 1 to 100000; 0: 512. */
  int32_t max_transfers;

  /* Maximum number of header lines in a response: 1 to 65536; 0: 1000. */
  int32_t max_response_headers;

  /* Maximum size of all header lines of a response, in bytes: 1 to 262144; 0: 262144. Status lines, the 1xx responses
     before it and trailers count, too. */
  size_t max_response_header_bytes;

  /* Maximum size of a 2xx response's body in memory, in bytes; a larger one ends the call (RESPONSE_TOO_LARGE).
     0: 256 MiB. */
  size_t body_limit;

  /* Maximum size of any other response's body, in bytes; the rest is truncated. 0: 1 MiB (B15). */
  size_t error_body_limit;

  /* Called for each event of each call. Runs on the loop, and must not block. NULL: none. */
  void (*on_event)(void *context, const boxretry_event *event);
  void *on_event_context; /* yours */

  /* BOXRETRY_PRESET_…. */
  int32_t preset;

  /* BOXRETRY_HTTP_…. */
  int32_t http_version;

  /* Maximum number of redirects that an attempt follows: 1 to 1000; or BOXRETRY_NO_REDIRECTS; 0: 20. A redirect to a
     URL that is not http or https is not followed. */
  int32_t max_redirects;

  /* BOXRETRY_SWITCH_…: request compressed responses, and decompress them. Default: OFF. */
  int32_t compression;

  /* Maximum number of attempts in progress to one host and port: 1 to 100000; 0: no limit. */
  int32_t max_transfers_per_host;

  /* Maximum number of host names resolved at the same time, for 8 hosts or more: 1 to 1000; 0: 64. */
  int32_t max_lookups;

  /* A file with the client's certificate in PEM form. NULL: none. */
  const char *client_certificate;

  /* A file with the certificate's private key in PEM form. NULL: the same file. */
  const char *client_key;

  /* The key's password. NULL: none; an encrypted key is then an error. */
  const char *client_key_password;

  /* The path of a Unix socket that all connections use. NULL: none. */
  const char *unix_socket;

  /* Names of headers that, like Authorization and Cookie, are not sent to another origin (scheme, host and port) after
     a redirect (T13). NULL: none. */
  const char *const *secret_headers;
  size_t secret_header_count; /* at most 64 */

  /* The header that idempotency keys are sent in: a token. NULL: "Idempotency-Key". */
  const char *idempotency_key_header;

  /* Called each time before a request is sent; it can change the headers. Runs on the loop, and must not block. A
     request's own hook replaces it. NULL: none. */
  void (*before_attempt)(void *context, boxretry_sending *sending);
  void *before_attempt_context; /* yours */

  /* Called each time before a request is sent, with libcurl's easy handle, to set options that the library lacks;
     docs/curl-options.md lists those that it must not set. Runs on the loop, and must not block. NULL: none. */
  void (*on_transfer)(void *context, void *curl_easy);
  void *on_transfer_context; /* yours */

  /* Supplies the access token of each request, sent as "Authorization: Bearer …". The wait for a token counts against
     the call's deadline, but not against an attempt's timeouts. The token is sent only to the request's own origin
     (scheme, host and port). Over http it is sent only to this machine, and not through a proxy; any other http URL
     returns INVALID_ARGUMENT. The token replaces a user and password in the URL. Retained. NULL: none. */
  boxretry_token_source *token_source;

  /* A 401 whose body is a JSON object, of at most 65536 bytes, with one of these as its `code` invalidates the token,
     and the request is replayed immediately with a new one, once in a call (R1). Each is a token of at most 256
     characters; case matters. NULL: none; with the preset of January, token_expired. */
  const char *const *replay_codes;
  size_t replay_code_count; /* at most 16 */

  /* flag: send access tokens over http to other machines and through proxies too, where anyone on the network can read
     them. */
  int32_t allow_insecure_token;

  /* A retry budget for all calls of the client, which limits the load that their retries add to a failing server. Each
     retry takes 1 from it, each success gives back `budget_ratio`; at half of the capacity or below, calls are not
     retried (C1). A reconnect takes 1 too; first attempts, replays and redirects take nothing. In retries; 1 to
     1000000; 0: no budget. */
  int32_t budget_capacity;

  /* What a success gives back to the budget: 0 to 1; 0: 0.1. */
  double budget_ratio;

  /* Time limit for each connection of an attempt to become ready: resolving the name, TCP, the proxy's CONNECT and TLS,
     or the wait for a connection that another request is opening (W5). When it passes, that is a network exception with
     the cause CONNECT, whose error detail says "timed out". Milliseconds, 0 or more; 0 or BOXRETRY_NO_TIMEOUT: only
     `timeouts` applies. */
  int64_t connect_timeout_ms;

  /* BOXRETRY_SWITCH_…; ON: if a kept-alive connection turns out to be dead before any byte of the response arrived,
     the request is sent again immediately on a new connection, within its attempt (B13). This applies only to
     idempotent methods, and at most once in a call; it counts as a retry for max_attempts, max_total_attempts and the
     budget. OFF: that is a network exception. Default: ON for the preset of Box, OFF for that of January. */
  int32_t reconnect;

  /* BOXRETRY_SWITCH_…; OFF: accept any certificate for any host name. Anyone on the network can then read and change
     all data, including tokens. Default: ON. */
  int32_t tls_verify;

  /* A directory of CA certificates in PEM form, prepared by `openssl rehash`, to trust instead of the system's; with
     ca_file, both are trusted. NULL: none. */
  const char *ca_path;

  /* Headers of all requests, under the same rules as a request's own. A request's header replaces one of the same name.
     After a redirect to another origin, Authorization, Cookie and `secret_headers` are not sent. (The library does not
     change URLs: append a common query yourself.) NULL if there are none. */
  const boxretry_header *headers;
  size_t header_count; /* at most 65536 */

  /* A budget shared with other clients and retry loops, instead of budget_capacity, which must be 0 then. Retained.
     NULL: none. */
  boxretry_budget *budget;

  /* A manual clock, for tests: all waits, timeouts and deadlines of this client's calls run on it, while connections
     and servers run in real time; see the section Clock. The token source has its own clock option. Retained. NULL:
     the system's. */
  const boxretry_clock *clock;

  /* BOXRETRY_SWITCH_…; ON: if an origin answers 429 or 503 with a usable Retry-After, no attempt of this client goes
     there before that time: first attempts, retries and redirects wait. Then one attempt goes; in each round, once the
     allowed number is in flight, the first response that is neither 429 nor 503 doubles that number, until there is no
     limit any more (C3). If another 429 or 503 with Retry-After comes before that, the gate closes again. Its next
     opening also starts with one attempt and doubles; once it has sent as many attempts as had another answer in the
     previous opening (at least one), it starts over with one. An attempt that waits has not begun: its timeouts do not
     run, and it is not counted. Deadlines and cancels apply as always, so set deadline_ms. The strategy's
     retry_after_jitter and retry_after_cap also apply to how long attempts are held; with BOXRETRY_OVER_CAP_STOP, a
     response beyond the cap holds none. Default: OFF. */
  int32_t share_retry_after;

  /* BOXRETRY_THREADS_…. NONE: no thread is started for this client, and your program drives it: see
     boxretry_client_drive(). Default: OWN. (Since 0.2.0.) */
  int32_t threads;
} boxretry_client_options;

#define BOXRETRY_CLIENT_OPTIONS_INIT                                                                                   \
  {                                                                                                                    \
    sizeof(boxretry_client_options), NULL, NULL, 0, NULL, NULL, NULL, BOXRETRY_PROXY_ENVIRONMENT, 0, 0, 0, 0, 0, 0,    \
        NULL, NULL, BOXRETRY_PRESET_BOX, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, \
        NULL, NULL, 0, 0, 0, 0.0, 0, 0, 0, NULL, NULL, 0, NULL, NULL, 0, 0                                             \
  }

/** Does what BOXRETRY_CLIENT_OPTIONS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_client_options_init(boxretry_client_options *options, size_t struct_size);

/**
 * Makes a client. `options` NULL: the defaults. Everything in `options` is copied or retained.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED, FORKED. Free with boxretry_client_free(). Any thread.
 */
boxretry_error boxretry_client_new(const boxretry_client_options *options, boxretry_client **out);

/**
 * Makes a client that shares the connections, limits, event callback, budget and counters of another, but has other
 * headers, strategy, timeouts or token source: to act as another user, or with extra headers.
 *
 * Options that are 0 or NULL are as in `from`. `headers` are added to those of `from`; a header replaces one of the
 * same name. You can set strategy, timeouts, connect_timeout_ms, deadline_ms, reconnect, max_total_attempts,
 * max_response_headers, max_response_header_bytes, body_limit, error_body_limit, http_version, max_redirects,
 * compression, idempotency_key_header, before_attempt, token_source, allow_insecure_token and headers. All other
 * options must have their defaults.
 *
 * The two are independent: close or free them in any order. Closing one ends its own calls only. The connections close
 * with the last client that shares them, and only closing that one waits until no thread is inside libcurl (see
 * boxretry_client_close()).
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, CLOSED (`from` was closed), FORKED. Free with boxretry_client_free(). Any thread.
 * (Since 0.2.0.)
 */
boxretry_error boxretry_client_new_derived(boxretry_client *from, const boxretry_client_options *options,
                                           boxretry_client **out);

/**
 * Sends a request, retries it as the strategy decides, and waits for the end of the call. Returns OK if the call was
 * started, however it ended: the response has the result, even for a canceled call. Otherwise nothing was sent, and
 * *out is not written.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED, SOURCE (a file of a multipart part), IN_CALLBACK, CLOSED, FORKED. Free
 * the response. Any thread.
 */
boxretry_error boxretry_client_perform(boxretry_client *client, const boxretry_request *request,
                                       boxretry_response **out);

/**
 * Starts a call and returns immediately. When the call ends, it goes to the request's queue or callback, if it has one,
 * and boxretry_call_wait() returns. `out` may be NULL if there is a queue (free the call that you take from it) or a
 * callback (the call is freed after it).
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED, SOURCE (a file of a multipart part), CLOSED, FORKED. Free the call. Any
 * thread.
 */
boxretry_error boxretry_client_submit(boxretry_client *client, const boxretry_request *request, boxretry_call **out);

/**
 * Starts a call like boxretry_client_submit(), and waits for its end like boxretry_call_wait(). This is cheaper than
 * the two: the client's thread is not woken before the wait ends. `out` may not be NULL. Returns OK if the call was
 * started, whether or not it has ended; boxretry_call_take_response() then returns its response, or NULL.
 * `timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED, SOURCE (a file of a multipart part), IN_CALLBACK, CLOSED, FORKED. Free
 * the call. Any thread. (Since 0.2.0.)
 */
boxretry_error boxretry_client_submit_and_wait(boxretry_client *client, const boxretry_request *request,
                                               int64_t timeout_ms, boxretry_call **out);

/**
 * Cancels all calls, refuses new ones (CLOSED), and waits until every call has ended, its callbacks included, and no
 * thread of the client is inside libcurl or its TLS library (W8). Clients that share connections (see
 * boxretry_client_new_derived()) share these threads: closing one client waits only for its own calls; closing the last
 * one waits for the threads too. A callback of a custom strategy that is still running is not waited for; its
 * `context_free` is called when it has returned. `timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, WAIT_TIMEOUT, IN_CALLBACK, FORKED. Any thread.
 */
boxretry_error boxretry_client_close(boxretry_client *client, int64_t timeout_ms);

/**
 * Frees a client: its calls are canceled, and end without a wait here. (With BOXRETRY_THREADS_NONE they end here, see
 * boxretry_client_drive().) NULL is accepted. Anywhere, any thread.
 */
void boxretry_client_free(boxretry_client *client);

/**
 * Drives a client with BOXRETRY_THREADS_NONE, a driven client: waits up to `timeout_ms` until there is something to
 * do, does it, and returns OK, even if nothing happened. 0 does what can be done now. `timeout_ms`: 0 or more, or
 * BOXRETRY_NO_TIMEOUT.
 *
 * The library starts no thread for such a client. Its calls make progress only while a thread of your program is in
 * this function or waits for a call: in boxretry_client_perform(), boxretry_client_submit_and_wait(),
 * boxretry_call_wait() or boxretry_queue_take(). (The last two do not drive with a timeout of 0.) One thread at a time
 * drives; others wait until it returns, and then one of them continues. All callbacks run on the thread that drives,
 * including custom strategies and token providers: while one of them runs, all of the client's calls stall. (libcurl
 * may resolve names on its own threads. A manual clock that advances by itself has a thread.)
 *
 *  1. Other functions do not drive. A call that is submitted, canceled, resumed or freed starts, ends or continues
 *     the next time that the client is driven. A time limit that passes meanwhile takes effect then; data that has
 *     arrived by then counts as arrived in time.
 *  2. boxretry_client_close() and boxretry_client_free() end the calls of the client on their own thread, callbacks
 *     included, unless another thread drives: then that thread does.
 *  3. boxretry_queue_take() drives if every call that is due to arrive in the queue belongs to one client (or to those
 *     that are derived from it). With several clients, drive each of them.
 *  4. A token source may be shared with clients that have threads, and with boxretry_token_source_get(): as soon as one
 *     of them waits for a token, the library starts threads for them, also to call the provider. The requests of a
 *     token endpoint run on the thread that drives and do not block it. If the client is closed meanwhile, the request
 *     continues when the source is asked again; if the source has been freed too, a thread finishes the request,
 *     because its answer may contain a new refresh token.
 *  5. The token source must have the same clock as the client (INVALID_ARGUMENT when a call is made).
 *
 * Clients that share connections (see boxretry_client_new_derived()) are driven together, until the last one is closed.
 *
 * INVALID_ARGUMENT (also for a client with threads), IN_CALLBACK, CLOSED, FORKED. Any thread. (Since 0.2.0.)
 */
boxretry_error boxretry_client_drive(boxretry_client *client, int64_t timeout_ms);

/**
 * A descriptor that is readable while boxretry_client_drive() has something to do, including when a timer of the
 * client expires: poll it in your event loop, without a timeout, and call boxretry_client_drive(client, 0) whenever it
 * is readable. Do not read from it. It may be readable when there is nothing to do, and it always is while another
 * thread drives the client: let your event loop be the only driver.
 *
 * The descriptor belongs to the client, and to the clients that are derived from it; it is closed with the last of
 * them, so remove it from your event loop first. Do not use it in a child of fork(). -1: NULL, a client with threads,
 * or a closed client. Any thread. (Since 0.2.0.)
 */
int boxretry_client_fd(const boxretry_client *client);

/** A client's counters. */
typedef struct boxretry_client_stats {
  size_t struct_size;
  int64_t calls_started; /* calls accepted by perform() or submit() */
  int64_t calls_ended;   /* calls that have ended, with any result */
  int64_t attempts;      /* attempts started, first ones and retries; requests sent again within one are not counted */
  int64_t retries;       /* attempts after the first of their call, including replays with a new token (R1) */
  int64_t reconnects;    /* requests sent again immediately because their connection was dead (B13) */
  int64_t gates_closed;  /* times that a response closed the gate of its origin (C3) */
  int64_t gates_opened;  /* times that a response opened such a gate, so that nothing is held any longer; a gate
                            that is dropped after a minute in which it held nothing is not counted, nor reported */
  int64_t held;          /* attempts that waited for a gate */
} boxretry_client_stats;

#define BOXRETRY_CLIENT_STATS_INIT                                                                                     \
  { sizeof(boxretry_client_stats), 0, 0, 0, 0, 0, 0, 0, 0 }

/** Does what BOXRETRY_CLIENT_STATS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_client_stats_init(boxretry_client_stats *stats, size_t struct_size);

/** Reads a client's counters. INVALID_ARGUMENT, FORKED. Any thread. */
boxretry_error boxretry_client_get_stats(const boxretry_client *client, boxretry_client_stats *out);

/* =====================================================================================================================
 * Request: what a client sends, or what an outcome is about
 * ================================================================================================================== */

/** Whether a request may be sent again although the server may have processed it (B12). */
enum {
  BOXRETRY_SAFETY_BY_METHOD = 0, /* not POST and PATCH; all other methods, and any request with an idempotency key */
  BOXRETRY_SAFETY_SAFE = 1,      /* yes, with any method */
  BOXRETRY_SAFETY_UNSAFE = 2     /* no, with any method */
};

/** For idempotency_key: generate one for the call. */
#define BOXRETRY_IDEMPOTENCY_KEY_RANDOM ""

/**
 * A request. It needs to live only until the function that it is passed to returns: a client copies all of it, except
 * what is marked as borrowed. Fields that are 0 or NULL have the client's setting.
 *
 * A client refuses a request whose parts could break out of their line, and sends nothing. The method is a token of at
 * most 32 characters. The URL is required; it is http or https, at most 65536 bytes, without white space and control
 * characters. A header's name is a token of at most 256 characters; its value has no control character except the tab.
 * All headers together are at most 1000000 bytes. The library sets Content-Length, Transfer-Encoding and Expect itself.
 */
struct boxretry_request {
  size_t struct_size;

  const char *method; /* NULL: "GET" */
  const char *url;    /* may be NULL in an outcome */

  const boxretry_header *headers; /* NULL if there are none */
  size_t header_count;            /* at most 65536 */

  const void *body;   /* NULL if there is none */
  size_t body_length; /* bytes */

  /* yours: custom strategies see it, and the call and its response return it. */
  void *user_pointer;

  /* BOXRETRY_SAFETY_…. */
  int32_t retry_safety;

  /* flag: do not copy `body` and the data of multipart parts; they must stay unchanged until the call ends. Default:
     0. */
  int32_t body_is_borrowed;

  /* The fields below are for clients. */

  const boxretry_timeouts *timeouts; /* NULL: the client's */
  const boxretry_strategy *strategy; /* retained; NULL: the client's */

  /* Time limit of the call: milliseconds, 0 or more; over all attempts and waits; BOXRETRY_NO_TIMEOUT: none; 0: the
     client's. A wait that would reach it is not started (B11). */
  int64_t deadline_ms;

  /* Maximum size in bytes of a 2xx response's body; a larger one ends the call (RESPONSE_TOO_LARGE). 0: the client's,
     which applies only to bodies in memory and to compressed ones. */
  size_t body_limit;

  /* The queue that the call goes to when it has ended. Retained. NULL: none. */
  boxretry_queue *queue;

  /* Instead of a queue: called once when the call has ended, even if its handle was freed. Runs on the loop, and must
     not block. `call` is valid until it returns. boxretry_client_perform() ignores the queue and this callback. */
  void (*on_complete)(void *context, boxretry_call *call);
  void *on_complete_context; /* yours */

  /* A switch that cancels the call. Retained. NULL: none. */
  boxretry_cancel *cancel;

  /* Where the body comes from, instead of `body`. The struct and everything it points to are copied. NULL: none. */
  const boxretry_body_source *body_source;

  /* Where the response's body goes. NULL: memory. */
  const boxretry_sink *sink;

  /* Called a few times a second while bodies are transferred. Runs on the loop, and must not block. NULL: none. */
  void (*on_progress)(void *context, const boxretry_progress *progress);
  void *on_progress_context; /* yours */

  /* Called each time before the request is sent; it can change the headers. Runs on the loop, and must not block.
     NULL: the client's. */
  void (*before_attempt)(void *context, boxretry_sending *sending);
  void *before_attempt_context; /* yours */

  /* Sent as a header, the same in all attempts, which makes the request safe to retry (B12): 1 to 255 visible
     characters, or BOXRETRY_IDEMPOTENCY_KEY_RANDOM. NULL: none. */
  const char *idempotency_key;

  int32_t max_redirects; /* 1 to 1000; or BOXRETRY_NO_REDIRECTS; 0: the client's */
  int32_t compression;   /* BOXRETRY_SWITCH_…: request compressed responses, and decompress them */
  int32_t http_version;  /* BOXRETRY_HTTP_… */

  /* BOXRETRY_SWITCH_…; OFF: send no access token. A request with its own Authorization header never gets one (T13). */
  int32_t authorization;

  boxretry_token_source *token_source; /* retained; NULL: the client's */
  int64_t connect_timeout_ms;          /* as in boxretry_client_options; 0: the client's; BOXRETRY_NO_TIMEOUT: none */
  int32_t reconnect;                   /* BOXRETRY_SWITCH_…; as in boxretry_client_options */

  /* BOXRETRY_SWITCH_…; OFF: send no Accept and User-Agent unless the request has them. Default: ON. */
  int32_t default_headers;
};

#define BOXRETRY_REQUEST_INIT                                                                                          \
  {                                                                                                                    \
    sizeof(boxretry_request), NULL, NULL, NULL, 0, NULL, 0, NULL, BOXRETRY_SAFETY_BY_METHOD, 0, NULL, NULL, 0, 0,      \
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, 0, 0                    \
  }

/** Does what BOXRETRY_REQUEST_INIT does. `struct_size` is sizeof(boxretry_request). INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_request_init(boxretry_request *request, size_t struct_size);

/* =====================================================================================================================
 * Response: the result of a call
 *
 * Strings and bytes belong to the response and live as long as it does. Functions that do not return a boxretry_error
 * accept NULL and return an empty value. boxretry_response_error() and boxretry_response_token_error() return
 * INVALID_ARGUMENT for NULL, and for a response from before a fork().
 * ================================================================================================================== */

/**
 * How the call ended: OK for any response, also 503; otherwise CANCELLED, DEADLINE, a network exception, or a local
 * failure. boxretry_last_error_detail() then returns what else is known: for SOURCE and SINK, the file or callback and
 * the system's reason; for CALLBACK_FAILED, what the callback did; for RESPONSE_TOO_LARGE, the limit; for SETTING,
 * libcurl's text; for CONNECT, the proxy that refused, or the system's reason ("Connection refused"); for TLS, why the
 * handshake failed, if that is known ("certificate has expired", "hostname mismatch"), after "proxy: " if it was the
 * handshake with a proxy; for tokens, as after boxretry_response_token_error().
 */
boxretry_error boxretry_response_error(const boxretry_response *response);

/**
 * Why the call got no access token, if it ended because of that; otherwise OK. An error of boxretry_token_source_get(),
 * or CLIENT_TOKEN_PROVIDER_FAILED if the new token was the rejected one. boxretry_last_error_detail() returns more.
 * After a 401 (B8), the call ended with this error, and has the 401 as its response. If a replay was not possible (R4),
 * the call ended with the 401, and this is the cause.
 */
boxretry_error boxretry_response_token_error(const boxretry_response *response);

/**
 * The status; 0 if the call ended without a response. A resumed download ends with the 206 of its last part.
 *
 * If the call ended with CANCELLED, DEADLINE, CALLBACK_FAILED or a token error, the response is the last complete one
 * that an attempt received (B10): status, headers, body and URL.
 */
int32_t boxretry_response_status(const boxretry_response *response);

/**
 * The reason phrase of the status line, as the server sent it: "Not Found". "" if it sent none, as in HTTP/2, or if the
 * call ended without a response.
 */
const char *boxretry_response_reason_phrase(const boxretry_response *response);

/** The value of the first header with that name, in any case; NULL if there is none. */
const char *boxretry_response_header(const boxretry_response *response, const char *name);

/** The number of header lines. */
size_t boxretry_response_header_count(const boxretry_response *response);

/** Writes the header line at `index`, from 0. INVALID_ARGUMENT, FORKED. */
boxretry_error boxretry_response_header_at(const boxretry_response *response, size_t index, boxretry_header *out);

/** The body, never NULL. Writes its size to *length (which may be NULL); a NUL byte follows it. */
const void *boxretry_response_body(const boxretry_response *response, size_t *length);

/** Whether the body was truncated at `error_body_limit`. */
int32_t boxretry_response_body_is_cut_off(const boxretry_response *response);

/** The number of body bytes that the request's sink received; 0 without a sink. */
int64_t boxretry_response_sink_length(const boxretry_response *response);

/** The URL of the response: after redirects, the last one. */
const char *boxretry_response_url(const boxretry_response *response);

/** The request's user_pointer. */
void *boxretry_response_user_pointer(const boxretry_response *response);

/**
 * A detail of an error response (status 400 or above), by `name`:
 *
 * - "code": `code` of the JSON body, as Box and January have it, or OAuth's `error`
 * - "message": `message`, `detail`, `error_description` or `title` of the body
 * - "request_id": `request_id` of the body, or the header X-Request-Id or Box-Request-Id
 * - "help_url": `help_url` of the body
 * - "retry_after": the header Retry-After, as the server sent it
 *
 * The first of them that exists is the detail; a member that occurs twice, is not a string or is empty is skipped. NULL
 * if there is none, and for any other name. The body must be a JSON object of at most 65536 bytes in memory. The text
 * comes from the server: do not trust it. (Since 0.2.0.)
 */
const char *boxretry_response_error_detail(const boxretry_response *response, const char *name);

/** One attempt of a call. Times are milliseconds. */
typedef struct boxretry_attempt {
  size_t struct_size;
  int32_t number;           /* from 1 */
  int32_t exception_number; /* number of this network exception, from 1; 0 if the attempt ended with a response */
  int32_t status;           /* 0: a network exception */
  int32_t cause;            /* BOXRETRY_CAUSE_… */
  int32_t action;           /* BOXRETRY_ACTION_…: what was decided */
  int32_t reason;           /* BOXRETRY_REASON_…; -1 if the call ended before a decision */
  double delay;             /* seconds before the next attempt */
  int32_t delay_source;     /* BOXRETRY_DELAY_… */
  int32_t reconnects;       /* number of times it was sent again immediately (B13) */
  double started_ms;        /* since the call began */
  double ended_ms;          /* since the call began */
  double retry_after;       /* seconds that the server asked for; -1 if there was no valid Retry-After */
  int32_t curl_code;        /* libcurl's code of a failure; otherwise 0 */
  int32_t reserved;         /* 0 */
  const char *curl_text;    /* libcurl's text for it; otherwise "" */
  int32_t redirects;        /* number of redirects followed; see boxretry_response_redirect() */
  int32_t http_version;     /* of the response: 10, 11, 20; 0 if there was none */
  int64_t resumed_from;     /* bytes that a resumed download kept from earlier attempts; otherwise 0 */
  int64_t bytes_sent;       /* body bytes on the wire, in the last request that the attempt sent */
  int64_t bytes_received;   /* body bytes on the wire, in its response */
  double lookup_ms;         /* from the start of the last request to the end of name resolution; -1 if not reached */
  double connect_ms;        /* to the end of the TCP connect; 0 for a kept-alive connection; -1 if not reached */
  double tls_ms;            /* to the end of the TLS handshake; 0 without TLS; -1 if not reached */
  double first_byte_ms;     /* to the first byte of the response; -1 if not reached */
  int32_t request_sent;     /* BOXRETRY_SENT_…: NOTHING or SOME, over all requests that the attempt sent (B12) */
  int32_t reserved_2;       /* 0 */
  int32_t proxy_status;     /* status of the proxy's response to the last CONNECT; 0 if there was none (W6) */
  int32_t reserved_3;       /* 0 */
} boxretry_attempt;

#define BOXRETRY_ATTEMPT_INIT                                                                                          \
  {                                                                                                                    \
    sizeof(boxretry_attempt), 0, 0, 0, 0, 0, -1, 0.0, 0, 0, 0.0, 0.0, -1.0, 0, 0, NULL, 0, 0, 0, 0, 0, -1.0, -1.0,     \
        -1.0, -1.0, BOXRETRY_SENT_UNKNOWN, 0, 0, 0                                                                     \
  }

/** Does what BOXRETRY_ATTEMPT_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_attempt_init(boxretry_attempt *attempt, size_t struct_size);

/**
 * The number of attempts. It includes an attempt in progress when the call ended (B10), with `status` and `cause` 0 and
 * `reason` -1; its `request_sent` and `redirects` show whether the server may have processed it. It does not include
 * a first attempt that was still waiting for its turn or for a token, nor one after a 401 that was waiting for a new
 * token: nothing of these was sent.
 */
size_t boxretry_response_attempt_count(const boxretry_response *response);

/** Writes the attempt at `index`, from 0. INVALID_ARGUMENT, FORKED. */
boxretry_error boxretry_response_attempt(const boxretry_response *response, size_t index, boxretry_attempt *out);

/** A redirect that was followed. */
typedef struct boxretry_redirect {
  size_t struct_size;
  int32_t attempt_number; /* the attempt that followed it, from 1 */
  int32_t status;         /* 301, 302, 303, 307 or 308 */
  const char *url;        /* its target */
} boxretry_redirect;

#define BOXRETRY_REDIRECT_INIT                                                                                         \
  { sizeof(boxretry_redirect), 0, 0, NULL }

/** Does what BOXRETRY_REDIRECT_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_redirect_init(boxretry_redirect *redirect, size_t struct_size);

/** The number of redirects followed in all attempts. */
size_t boxretry_response_redirect_count(const boxretry_response *response);

/** Writes the redirect at `index`, from 0, in the order of time. INVALID_ARGUMENT, FORKED. */
boxretry_error boxretry_response_redirect(const boxretry_response *response, size_t index, boxretry_redirect *out);

/**
 * A request that was sent again immediately (B13). Either its connection was dead, and the server may have received it
 * twice; or the server refused it over HTTP/2 with HTTP_1_1_REQUIRED, without processing it, and it was sent over
 * HTTP/1.1. Such a refusal has the cause PROTOCOL, is not counted, and does not depend on the switch `reconnect`.
 */
typedef struct boxretry_reconnect {
  size_t struct_size;
  int32_t attempt_number; /* the attempt that it belongs to, from 1 */
  int32_t cause;          /* BOXRETRY_CAUSE_…: SEND or RECEIVE if the connection was dead; PROTOCOL: refused */
  double at_ms;           /* milliseconds since the call began */
} boxretry_reconnect;

#define BOXRETRY_RECONNECT_INIT                                                                                        \
  { sizeof(boxretry_reconnect), 0, BOXRETRY_CAUSE_NONE, 0.0 }

/** Does what BOXRETRY_RECONNECT_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_reconnect_init(boxretry_reconnect *reconnect, size_t struct_size);

/** The number of reconnects in all attempts. */
size_t boxretry_response_reconnect_count(const boxretry_response *response);

/** Writes the reconnect at `index`, from 0, in the order of time. INVALID_ARGUMENT, FORKED. */
boxretry_error boxretry_response_reconnect(const boxretry_response *response, size_t index, boxretry_reconnect *out);

/** Frees a response. NULL is accepted. Anywhere. */
void boxretry_response_free(boxretry_response *response);

/* =====================================================================================================================
 * Retry strategy: when and how a client retries
 *
 * A strategy never changes once it is made. Any number of threads may use one at once.
 * ================================================================================================================== */

/** What happens if a Retry-After exceeds `retry_after_cap`. */
enum {
  BOXRETRY_OVER_CAP_CLAMP = 0, /* wait for the cap */
  BOXRETRY_OVER_CAP_STOP = 1   /* do not retry; the decision has the value in `retry_after` */
};

/** Another response header with a delay, such as retry-after-ms. An element of arrays: no struct_size. */
typedef struct boxretry_delay_header {
  const char *name; /* 1 to 256 visible ASCII characters, without a colon; any case. Its value is a number, or a list */
  double unit;      /* seconds per unit of the value (0.001 for retry-after-ms); above 0, at most 86400 */
} boxretry_delay_header;

/**
 * The options of Box's strategy (B1), and additions to it: caps (B11), unsafe methods (B12), jitter on Retry-After
 * (C2). The defaults are those of BOXRETRY_RETRY_OPTIONS_INIT:
 *
 *     max_attempts                   5
 *     max_retries_on_exception       2
 *     retry_base_interval            1
 *     retry_randomization_factor     0.5
 *     backoff_cap                    0 (no cap)
 *     retry_after_cap                0 (no cap)
 *     retry_after_over_cap           BOXRETRY_OVER_CAP_CLAMP
 *     retry_unsafe_methods           1
 *     delay_headers                  NULL
 *     delay_header_count             0
 *     retry_after_jitter             0
 *     should_retry_header            NULL
 */
typedef struct boxretry_retry_options {
  size_t struct_size;

  /* Maximum number of attempts: a response to attempt number max_attempts, or a later one, is not retried, and a call
     never has more retries than this (B5). 0 to 1000000; default 5. */
  int32_t max_attempts;

  /* Maximum number of retries after network exceptions. 0 to 1000000; default 2. */
  int32_t max_retries_on_exception;

  /* The n-th backoff is 2^n times this, before jitter (B6). Seconds, 0 or more, finite; default 1. */
  double retry_base_interval;

  /* Jitter: each backoff is multiplied by a random factor from 1 - this to 1 + this. 0 to 1; default 0.5. */
  double retry_randomization_factor;

  /* The longest backoff, jitter included. Seconds, 0 or more, finite; 0 (default): no cap. */
  double backoff_cap;

  /* The longest Retry-After, jitter included. Seconds, 0 or more, finite; 0 (default): no cap. */
  double retry_after_cap;

  /* BOXRETRY_OVER_CAP_…: what happens if a Retry-After is longer. Default: CLAMP. */
  int32_t retry_after_over_cap;

  /* 1 (default): retry all methods, as the source does. 0: retry a POST, a PATCH or a request marked unsafe only if the
     server cannot have processed it (B12); a retry loop needs the outcome's `request` for this. */
  int32_t retry_unsafe_methods;

  /* More headers that count as Retry-After, and before it; the first valid one is used. NULL (default): none. */
  const boxretry_delay_header *delay_headers;
  size_t delay_header_count; /* at most 16 */

  /* Multiplies a Retry-After by a random factor from 1 to 1 + this, so that clients that were given the same delay do
     not all return at once (C2). 0 to 1; default 0. */
  double retry_after_jitter;

  /* A response header that says whether to retry, such as x-should-retry, with the value "true" or "false" in any case.
     It decides for a status of 400 or above, unless a token is refreshed; all limits apply. The name obeys the rules of
     a delay header's. NULL (default): none. (Since 0.2.0.) */
  const char *should_retry_header;
} boxretry_retry_options;

#define BOXRETRY_RETRY_OPTIONS_INIT                                                                                    \
  { sizeof(boxretry_retry_options), 5, 2, 1.0, 0.5, 0.0, 0.0, BOXRETRY_OVER_CAP_CLAMP, 1, NULL, 0, 0.0, NULL }

/** Does what BOXRETRY_RETRY_OPTIONS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_retry_options_init(boxretry_retry_options *options, size_t struct_size);

/**
 * Makes Box's strategy. `options` NULL: the documented defaults. Everything in `options` is copied.
 *
 * INVALID_ARGUMENT (the detail names the field, B1). Free with boxretry_strategy_free(). Any thread.
 */
boxretry_error boxretry_strategy_new(const boxretry_retry_options *options, boxretry_strategy **out);

/** Frees a strategy. NULL is accepted. Anywhere, any thread. */
void boxretry_strategy_free(boxretry_strategy *strategy);

/* =====================================================================================================================
 * Call: a request in progress
 *
 * Any number of threads may use a call at once.
 * ================================================================================================================== */

/**
 * Waits until the call has ended. `timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, WAIT_TIMEOUT, IN_CALLBACK, FORKED. Any thread.
 */
boxretry_error boxretry_call_wait(boxretry_call *call, int64_t timeout_ms);

/**
 * Makes a wait for the call return before the call has ended: the wait that is running, or else the next one, even if
 * its timeout is 0. boxretry_call_wait() then returns WAIT_TIMEOUT, boxretry_client_submit_and_wait() OK. It does not
 * end boxretry_queue_take(), and nothing changes for a call that has ended. Call it from a body callback when the
 * waiting thread has something to do. NULL is accepted. Anywhere, any thread. (Since 0.2.0.)
 */
void boxretry_call_wake(boxretry_call *call);

/**
 * Takes the response of a call that has ended. NULL if the call has not ended, or if its response was taken before.
 * Free the response. Any thread.
 */
boxretry_response *boxretry_call_take_response(boxretry_call *call);

/**
 * Ends a call with CANCELLED, unless it has ended already (K1). May be called again. NULL is accepted. Anywhere.
 *
 * Over HTTP/2, libcurl before 8.15 does not tell the server about it: the stream counts toward the server's limit until
 * the server ends it or the connection closes.
 */
void boxretry_call_cancel(boxretry_call *call);

/**
 * Resumes a body that a callback has paused. If the callback is just about to pause, it is called again immediately.
 * Does nothing for a call that is not paused. NULL is accepted. Anywhere, any thread.
 */
void boxretry_call_resume(boxretry_call *call);

/** The request's user_pointer. NULL for NULL. Any thread. */
void *boxretry_call_user_pointer(const boxretry_call *call);

/** Frees a call; one that has not ended is canceled. NULL is accepted. Anywhere. */
void boxretry_call_free(boxretry_call *call);

/* =====================================================================================================================
 * Queue: ended calls, for event loops
 *
 * Any number of threads may use a queue at once.
 * ================================================================================================================== */

/** Makes a queue. INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED. Free with boxretry_queue_free(). Any thread. */
boxretry_error boxretry_queue_new(boxretry_queue **out);

/**
 * A descriptor that is readable while the queue holds ended calls: poll it, but do not read from it. -1 for NULL.
 * Any thread.
 */
int boxretry_queue_fd(const boxretry_queue *queue);

/**
 * Takes at most `capacity` (1 or more) ended calls, in the order in which they ended. Waits up to `timeout_ms` for the
 * first one. Returns the number of calls; 0 after the timeout, or after an error (see the detail). The calls are the
 * handles that boxretry_client_submit() returned: free each once. A call that was freed does not appear here. Any
 * thread; in callbacks only if timeout_ms is 0.
 */
size_t boxretry_queue_take(boxretry_queue *queue, boxretry_call **calls, size_t capacity, int64_t timeout_ms);

/** Frees a queue, and the calls that have no other handle. NULL is accepted. Anywhere. */
void boxretry_queue_free(boxretry_queue *queue);

/* =====================================================================================================================
 * Cancel switch: cancels any number of calls and waits
 *
 * Any number of threads may use a switch at once.
 * ================================================================================================================== */

/** Makes a switch. INVALID_ARGUMENT, OUT_OF_MEMORY. Free with boxretry_cancel_free(). Any thread. */
boxretry_error boxretry_cancel_new(boxretry_cancel **out);

/** Cancels all calls that have this switch, now and later. May be called again. NULL is accepted. Anywhere. */
void boxretry_cancel_trigger(boxretry_cancel *cancel);

/** Frees a switch; calls that have it keep it. NULL is accepted. Anywhere. */
void boxretry_cancel_free(boxretry_cancel *cancel);

/* =====================================================================================================================
 * Bodies: from and to files, callbacks and forms
 *
 * Callbacks run on the loop, one at a time, and must not block. Their `call` is valid until the call has ended; use it
 * for boxretry_call_resume() and boxretry_call_cancel().
 * ================================================================================================================== */

/** Where a request's body comes from. */
enum {
  BOXRETRY_SOURCE_FILE = 1,       /* `path` */
  BOXRETRY_SOURCE_DESCRIPTOR = 2, /* `descriptor`, which is duplicated; its file position is not used or changed */
  BOXRETRY_SOURCE_CALLBACK = 3,   /* `read` */
  BOXRETRY_SOURCE_MULTIPART = 4   /* `parts`, as multipart/form-data */
};

/** The initial value of a `read` callback's *count: if the callback leaves it, it has failed. */
#define BOXRETRY_READ_FAILED (-1)
/** For a `read` callback's *count: no data now; boxretry_call_resume() makes the library call it again. */
#define BOXRETRY_READ_PAUSE (-2)

/**
 * A part of a multipart body. Its headers obey the rules of a request's headers; its other texts have no control
 * character except the tab. An element of arrays: no struct_size.
 */
typedef struct boxretry_part {
  const char *name;               /* of the form field; required */
  const char *file_name;          /* NULL with `path`: the last part of the path; NULL otherwise: none */
  const char *content_type;       /* NULL: libcurl guesses from the file's name */
  const boxretry_header *headers; /* more headers of this part; NULL if there are none */
  size_t header_count;            /* at most 64 */
  const void *data;               /* the part's content. NULL: nothing, or `path` */
  size_t data_length;             /* bytes */
  const char *path;               /* a regular file with the content, read while it is sent; NULL: it is `data` */
} boxretry_part;

/**
 * A request body that is not in memory. All attempts send the same bytes: if a file has another size or modification
 * time than in the attempt before, or another file is at its path, the call ends with SOURCE (R5).
 */
struct boxretry_body_source {
  size_t struct_size;

  /* BOXRETRY_SOURCE_…. */
  int32_t kind;

  /* Of a regular file, open for reading. */
  int32_t descriptor;

  /* Of a regular file, which each attempt opens. A problem with it ends the call (SOURCE). */
  const char *path;

  /* Where the body begins in the file: bytes, 0 or more. */
  int64_t offset;

  /* The body's length in bytes; 0 or more; -1: up to the file's end; for a callback, unknown (sent in chunks). */
  int64_t length;

  /* Writes at most `capacity` bytes to `buffer`, and their number to *count; 0: the end of the body. Or
     BOXRETRY_READ_PAUSE. */
  void (*read)(void *context, boxretry_call *call, void *buffer, size_t capacity, int64_t *count);

  /* Goes back to the first byte and writes 1 to *done, which is preset to 0. NULL: the body can be sent once (R3). */
  void (*rewind)(void *context, int32_t *done);

  /* Called once, when the call no longer needs `context`. NULL: nothing to do. */
  void (*context_free)(void *context);
  void *context; /* yours */

  const boxretry_part *parts; /* for MULTIPART */
  size_t part_count;          /* 1 to 1000 */
};

#define BOXRETRY_BODY_SOURCE_INIT                                                                                      \
  { sizeof(boxretry_body_source), 0, -1, NULL, 0, -1, NULL, NULL, NULL, NULL, NULL, 0 }

/** Does what BOXRETRY_BODY_SOURCE_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_body_source_init(boxretry_body_source *source, size_t struct_size);

/** Where a response's body goes. */
enum {
  BOXRETRY_SINK_FILE = 1,    /* `path`: written to a temporary file beside it, and renamed when complete; the
                                permissions of an existing file are kept */
  BOXRETRY_SINK_CALLBACK = 2 /* `write` */
};

/** The answer of a `write` callback. It is preset to FAILED, which ends the call (SINK). */
enum {
  BOXRETRY_WRITE_FAILED = 0,
  BOXRETRY_WRITE_TAKEN = 1,
  BOXRETRY_WRITE_PAUSE = 2 /* nothing was taken: boxretry_call_resume() delivers the same data again */
};

/** The head of a response whose body follows. Valid, with everything in it, until `begin` returns. */
typedef struct boxretry_response_head {
  size_t struct_size;
  int32_t status;                 /* 200 to 299 */
  int32_t http_version;           /* 10, 11, 20 */
  const char *url;                /* of the response: after redirects, the last one */
  const boxretry_header *headers; /* in the server's order; NULL if there are none */
  size_t header_count;
  const char *reason_phrase; /* of the status line; "" if there is none, as in HTTP/2 */
} boxretry_response_head;

/**
 * Where the body of a 2xx response goes that the strategy does not retry. All other bodies go to memory (B15).
 *
 * If a delivery breaks off and the call is retried, a file is rewritten from its start. A delivery begins with its
 * first byte, or, if there is `begin`, with that call.
 */
struct boxretry_sink {
  size_t struct_size;

  /* BOXRETRY_SINK_…. */
  int32_t kind;

  /* flag, for files: if the server sent a strong ETag, a retry requests only the rest, with Range and If-Range. A
     server may send the rest in several parts; each uses one of the retries of max_attempts, without a wait. Default:
     0. */
  int32_t is_resumable;

  /* Of a regular file, or of none; not empty. If its directory does not exist or is not writable, the request is
     refused; a later problem ends the call (SINK). */
  const char *path;

  /* Takes `length` bytes, 1 or more, and writes BOXRETRY_WRITE_… to *answer. */
  void (*write)(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer);

  /* Discards what was written, and writes 1 to *done, which is preset to 0. Also called if the call ends with a
     response that is not for the sink, such as a 404, after a delivery that broke off. NULL: a delivery that broke off
     is not retried (sink_cannot_restart). */
  void (*restart)(void *context, int32_t *done);

  /* Called once, when the call no longer needs `context`. NULL: nothing to do. */
  void (*context_free)(void *context);
  void *context; /* yours */

  /* Receives the response head before the first `write`, and again after each `restart`; writes 1 to *done, which is
     preset to 0. Also called for an empty body, but not for a response that cannot have one (204, 205, HEAD).
     NULL: nothing to do. */
  void (*begin)(void *context, boxretry_call *call, const boxretry_response_head *head, int32_t *done);

  /* flag, for callbacks: also receives the body of a response other than a 2xx, if the strategy does not retry it and
     it is neither a redirect that is followed nor a 401 for which a new token is fetched (B15). Default: 0. */
  int32_t takes_errors;
  int32_t reserved; /* 0 */
};

#define BOXRETRY_SINK_INIT                                                                                             \
  { sizeof(boxretry_sink), 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/** Does what BOXRETRY_SINK_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_sink_init(boxretry_sink *sink, size_t struct_size);

/** The progress of the current attempt, in bytes of bodies. */
struct boxretry_progress {
  size_t struct_size;
  int32_t attempt_number; /* from 1 */
  int32_t reserved;       /* 0 */
  int64_t sent;
  int64_t send_total;    /* -1: unknown */
  int64_t received;      /* of the response, including what a resumed download kept from earlier attempts */
  int64_t receive_total; /* -1: unknown */
};

/* =====================================================================================================================
 * Token source: supplies a valid access token at any time
 *
 * A source gets a token from a provider when one is needed, keeps it in memory, refreshes it before it expires, and
 * shares one provider call among all callers that need a token meanwhile (T3). There are three kinds of providers: your
 * callback, a fixed token, and an HTTP token endpoint. Any number of threads may use a source at once, and one source
 * may serve many clients.
 *
 * No log, event or error text contains a token. To tell one token from another, use its generation, a number that grows
 * from 1 (T1). The library overwrites its own copies of a token after their last use.
 * ================================================================================================================== */

/**
 * January's retry policy for failures of a token provider that are marked as retryable (T5). The defaults are those of
 * BOXRETRY_TOKEN_RETRY_POLICY_INIT:
 *
 *     maximum_attempts    9
 *     initial_delay       1
 *     multiplier          2
 *     maximum_delay       8
 *     jitter_ratio        0.2
 */
typedef struct boxretry_token_retry_policy {
  size_t struct_size;
  int32_t maximum_attempts; /* calls of the provider, including the first one; 1 or more; default 9 */
  double initial_delay;     /* seconds, 0 or more, finite; default 1 */
  double multiplier;        /* 1 or more, finite; default 2 */
  double maximum_delay;     /* seconds, 0 or more, finite; default 8. The longest wait, jitter included */
  double jitter_ratio;      /* 0 to 1; default 0.2. Each wait is varied at random by up to this fraction of it */
} boxretry_token_retry_policy;

#define BOXRETRY_TOKEN_RETRY_POLICY_INIT                                                                               \
  { sizeof(boxretry_token_retry_policy), 9, 1.0, 2.0, 8.0, 0.2 }

/** A single attempt, without retries. */
#define BOXRETRY_TOKEN_RETRY_POLICY_NONE                                                                               \
  { sizeof(boxretry_token_retry_policy), 1, 1.0, 2.0, 8.0, 0.2 }

/** Does what BOXRETRY_TOKEN_RETRY_POLICY_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_token_retry_policy_init(boxretry_token_retry_policy *policy, size_t struct_size);

/**
 * The settings of a token source with your own provider. The defaults are those of BOXRETRY_TOKEN_OPTIONS_INIT:
 *
 *     policy                    NULL
 *     refresh_leeway            60
 *     provider_timeout_ms       BOXRETRY_NO_TIMEOUT
 *     fetch_timeout_ms          BOXRETRY_NO_TIMEOUT
 *     refresh_ahead_window      0 (off)
 *     serve_stale               0
 *     clock                     NULL
 *     initial_token             NULL
 *     initial_expires_in        0
 */
typedef struct boxretry_token_options {
  size_t struct_size;

  void *context; /* yours; passed to each callback */

  /* Required. Gets a token, and answers the request with boxretry_token_request_succeed(), _fail() or _cancel(): before
     it returns, or later from any thread if it called boxretry_token_request_retain(). If it returns, or releases the
     request for the last time, without an answer, that is a failure that is not retried (T4). Runs on a separate thread
     and may block. For a client with BOXRETRY_THREADS_NONE it runs on the thread that drives the client, whose calls
     all stand still until it returns: start your own request there, retain `request`, and answer later. A source calls
     it again only after this call was answered or has exceeded provider_timeout_ms, even if this call is still running;
     if 16 calls are running, the next one fails immediately (EXHAUSTED). Inside it, you cannot wait for a token or
     perform a request (IN_CALLBACK). */
  void (*provider)(void *context, boxretry_token_request *request);

  /* Called once, after the last use of the source (a provider call in progress is one), on the thread that ends it.
     NULL: nothing to do. */
  void (*context_free)(void *context);

  /* For failures that are marked as retryable (T5). NULL (default): the defaults. */
  const boxretry_token_retry_policy *policy;

  /* A token is used while more than this remains of its lifetime (T2). A new token must have a longer lifetime than
     this, and than 60 seconds (T6). seconds, 0 or more, finite; default 60. */
  double refresh_leeway;

  /* Time limit of one provider call; exceeding it is a retryable failure. Milliseconds, 1 or more; default
     BOXRETRY_NO_TIMEOUT. */
  int64_t provider_timeout_ms;

  /* Time limit of all calls and waits for one token. Milliseconds, 1 or more; default: none. */
  int64_t fetch_timeout_ms;

  /* Refreshes a token early, by up to this before the leeway and at most half of its lifetime, while callers still get
     the old one. The first caller after a random moment in this window starts it (T11). seconds, 0 or more, finite; 0
     (default): off. */
  double refresh_ahead_window;

  /* flag, default 0: return a token within its leeway immediately as long as it has not expired, while a refresh runs
     in the background, and also after a refresh failed; the next refresh then waits for the policy's next delay
     (T11). */
  int32_t serve_stale;

  int32_t reserved; /* 0 */

  /* The clock for lifetimes, for waits between calls and for their timeouts. A caller's wait for a token is in real
     time. NULL (default): the system's. Retained. */
  const boxretry_clock *clock;

  /* A token that you already have, used before the first fetch: 1 to 16384 bytes, each in 0x21 to 0x7E; copied.
     NULL (default): none (T12). */
  const char *initial_token;

  /* The remaining lifetime of initial_token: seconds, above 0 and finite. Ignored without it. */
  double initial_expires_in;
} boxretry_token_options;

#define BOXRETRY_TOKEN_OPTIONS_INIT                                                                                    \
  {                                                                                                                    \
    sizeof(boxretry_token_options), NULL, NULL, NULL, NULL, 60.0, BOXRETRY_NO_TIMEOUT, BOXRETRY_NO_TIMEOUT, 0.0, 0, 0, \
        NULL, NULL, 0.0                                                                                                \
  }

/** Does what BOXRETRY_TOKEN_OPTIONS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_token_options_init(boxretry_token_options *options, size_t struct_size);

/**
 * Makes a source with your own provider. If this fails, `context` remains yours: `context_free` is not called.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, FORKED. Free with boxretry_token_source_free(). Any thread.
 */
boxretry_error boxretry_token_source_new(const boxretry_token_options *options, boxretry_token_source **out);

/**
 * Makes a source of one token that does not expire and cannot be refreshed. The source never drops it: a 401 is an
 * ordinary response (B8, T12). `token` is copied, without surrounding white space; 1 to 16384 bytes, each in 0x21 to
 * 0x7E.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY. Free with boxretry_token_source_free(). Any thread.
 */
boxretry_error boxretry_token_source_new_fixed(const char *token, boxretry_token_source **out);

/**
 * The settings of a source that gets its tokens from an HTTP token endpoint (T12), with a POST of a form, as in OAuth
 * 2.0. The response is a JSON object of at most 65536 bytes, with `access_token` (or `token`) and `expires_in` (or
 * `expiresIn`; a number, or a string with a number).
 *
 * Network exceptions and the statuses 408, 429 and 500 or above are retryable failures. The Retry-After of a 429 or 503
 * is the shortest wait before the next request (T7). Any other response without a token is a failure that is not
 * retried; its text has the status and the code of {"error": …}. Redirects are not followed.
 *
 * Box's client credentials grant: the URL is https://api.box.com/oauth2/token, and the fields are grant_type
 * (client_credentials), client_id, client_secret, box_subject_type (enterprise or user) and box_subject_id.
 *
 * The defaults are those of BOXRETRY_TOKEN_ENDPOINT_OPTIONS_INIT:
 *
 *     refresh_leeway            60
 *     provider_timeout_ms       10000
 *     fetch_timeout_ms          BOXRETRY_NO_TIMEOUT
 *     refresh_ahead_window      0 (off)
 *     proxy_mode                BOXRETRY_PROXY_ENVIRONMENT
 *     tls_verify                on
 *     everything else           0 or NULL
 */
typedef struct boxretry_token_endpoint_options {
  size_t struct_size;

  /* Required. https, or http to this machine (localhost, 127.0.0.0/8, ::1); such a request ignores the environment's
     proxy, and is refused if a proxy was given. */
  const char *url;

  const boxretry_header *fields; /* the form's names and values, any bytes. NULL if there are none */
  size_t field_count;            /* at most 65536 */

  const boxretry_header *headers; /* more headers, under the rules of a request's. NULL if there are none */
  size_t header_count;            /* at most 65536 */

  /* Sent as the field refresh_token. The `refresh_token` of a response replaces it. NULL (default): none. */
  const char *refresh_token;

  void *context; /* yours; passed to each callback */

  /* Called with each new refresh token, before the access token of the same response is returned, so that you can store
     it. Runs on a thread of the source, or on the thread that drives a client with BOXRETRY_THREADS_NONE. The text is
     valid until it returns. NULL: not called. */
  void (*on_refresh_token)(void *context, const char *refresh_token);

  /* Called once, after the last use of the source, on the thread that ends it. NULL: nothing to do. */
  void (*context_free)(void *context);

  /* The fields from here to `clock` are as in boxretry_token_options. */

  const boxretry_token_retry_policy *policy; /* NULL (default): the defaults */
  double refresh_leeway;                     /* seconds, 0 or more, finite; default 60 */
  int64_t provider_timeout_ms;               /* of one request; 1 or more; default 10000 */
  int64_t fetch_timeout_ms;                  /* 1 or more; default: none */
  double refresh_ahead_window;               /* seconds, 0 or more, finite; 0 (default): off */
  int32_t serve_stale;                       /* flag, default 0 */

  /* flag, default 0: send the form over http to other machines and through proxies too, where anyone on the network can
     read the secrets. */
  int32_t allow_insecure;

  const boxretry_clock *clock; /* NULL (default): the system's. Retained. The timeouts of requests run on it, too */

  /* The fields below are as in boxretry_client_options. */

  const boxretry_timeouts *timeouts; /* of a request; NULL (default): the defaults */
  const char *user_agent;            /* NULL: "boxretry/" and the version */
  const char *ca_file;               /* NULL: the system's certificates */
  const char *proxy;                 /* the proxy's URL, for BOXRETRY_PROXY_GIVEN; otherwise NULL */
  int32_t proxy_mode;                /* BOXRETRY_PROXY_… */
  int32_t reserved;                  /* 0 */

  /* BOXRETRY_SWITCH_…; OFF: accept any certificate for any host name, so that anyone on the network can read the form's
     secrets. Default: ON. */
  int32_t tls_verify;
  int32_t reserved_2; /* 0 */

  /* A directory of CA certificates in PEM form, prepared by `openssl rehash`, to trust instead of the system's; with
     ca_file, both are trusted. NULL (default): none. */
  const char *ca_path;

  /* The lifetime of a token whose response has neither expires_in nor expiresIn: seconds, 0 or more, finite. 0
     (default): such a response is an error. */
  double default_expires_in;

  /* A token that you already have, used before the first request: 1 to 16384 bytes, each in 0x21 to 0x7E, without
     surrounding white space; copied. NULL (default): none (T12). */
  const char *initial_token;

  /* The remaining lifetime of initial_token: seconds, above 0 and finite. Ignored without it. */
  double initial_expires_in;
} boxretry_token_endpoint_options;

#define BOXRETRY_TOKEN_ENDPOINT_OPTIONS_INIT                                                                           \
  {                                                                                                                    \
    sizeof(boxretry_token_endpoint_options), NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, 60.0, 10000,        \
        BOXRETRY_NO_TIMEOUT, 0.0, 0, 0, NULL, NULL, NULL, NULL, NULL, BOXRETRY_PROXY_ENVIRONMENT, 0, 0, 0, NULL, 0.0,  \
        NULL, 0.0                                                                                                      \
  }

/** Does what BOXRETRY_TOKEN_ENDPOINT_OPTIONS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_token_endpoint_options_init(boxretry_token_endpoint_options *options, size_t struct_size);

/**
 * Makes a source of an HTTP token endpoint. If this fails, `context` remains yours.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED, FORKED. Free with boxretry_token_source_free(). Any thread.
 */
boxretry_error boxretry_token_source_new_endpoint(const boxretry_token_endpoint_options *options,
                                                  boxretry_token_source **out);

/**
 * Gets a token, and waits for it if necessary. `timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT; 0 does not wait, but
 * starts a fetch if there is no token, and is allowed in any callback except this source's provider. `cancel`: a switch
 * that ends the wait; NULL: none. A timeout or the switch ends only this wait: the fetch continues, and other callers
 * and later ones get its result (T9).
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED, WAIT_TIMEOUT, CANCELLED (by the switch or by the provider; the detail
 * tells which), CLOSED (the source was freed meanwhile), IN_CALLBACK, FORKED; and the provider's failures (T6):
 * INVALID_CLIENT_TOKEN, INVALID_CLIENT_TOKEN_EXPIRATION, CLIENT_TOKEN_PROVIDER_FAILED (the detail has the reason, the
 * number of calls, and the provider's text if the failure was not retryable). Free the token with
 * boxretry_token_free(). Any thread.
 */
boxretry_error boxretry_token_source_get(boxretry_token_source *source, int64_t timeout_ms, boxretry_cancel *cancel,
                                         boxretry_token **out);

/**
 * Gets a token without blocking, for event loops. Calls `on_token` once, with BOXRETRY_OK and a token, which it must
 * free or pass on, or with an error of boxretry_token_source_get() and NULL. Inside it, boxretry_last_error_detail()
 * returns the reason.
 *
 * `on_token` runs on a thread of the library, must not block, and may call any function that does not block. To
 * continue in your event loop, wake the loop from it (uv_async_send(), call_soon_threadsafe(), an eventfd). If the
 * source already has a token, `on_token` runs on this thread before this function returns. `cancel`: as above; a switch
 * that was already triggered ends it immediately.
 *
 * INVALID_ARGUMENT, IN_CALLBACK (inside the provider of this source), FORKED: then `on_token` is not called. Any
 * thread.
 */
boxretry_error boxretry_token_source_get_async(boxretry_token_source *source, boxretry_cancel *cancel,
                                               void (*on_token)(void *context, boxretry_error error,
                                                                boxretry_token *token),
                                               void *context);

/**
 * Drops a rejected token if the source still holds it, so that many rejections of one token cause one refresh (T8).
 * Name the token by its bytes or, better, by its generation. It is not an error if the source does not hold this token.
 *
 * INVALID_ARGUMENT, FORKED. Any thread.
 */
boxretry_error boxretry_token_source_invalidate(boxretry_token_source *source, const char *token);
boxretry_error boxretry_token_source_invalidate_generation(boxretry_token_source *source, uint64_t generation);

/**
 * Drops the token. A provider call in progress still completes for its current waiters; later callers start a new one
 * (T8).
 *
 * INVALID_ARGUMENT, FORKED. Any thread.
 */
boxretry_error boxretry_token_source_clear(boxretry_token_source *source);

/**
 * Frees a source: its waiters get CLOSED, its token is dropped, and the result of a provider call in progress is
 * discarded (T10). If a client still has the source, its calls that need a token end with CLOSED from then on. NULL is
 * accepted. Anywhere, any thread.
 */
void boxretry_token_source_free(boxretry_token_source *source);

/**
 * The token as text that ends in NUL, and its length without the NUL. They live as long as the boxretry_token. For
 * NULL, and for a token from before a fork(): "" and 0. Any thread.
 */
const char *boxretry_token_bytes(const boxretry_token *token);
size_t boxretry_token_length(const boxretry_token *token);

/** The source's number for this token, from 1; 0 for NULL. Any thread. */
uint64_t boxretry_token_generation(const boxretry_token *token);

/** The token's remaining lifetime in seconds, 0 to 2^31 - 1; 0 for NULL. Any thread. */
double boxretry_token_expires_in(const boxretry_token *token);

/** Frees a token; after its last use, the library overwrites it. NULL is accepted. Anywhere, any thread. */
void boxretry_token_free(boxretry_token *token);

/**
 * Answers a request with a token of `length` bytes, which are copied, and its lifetime in seconds. If the token or its
 * lifetime is invalid, the waiters get the error (T6), and this function succeeds.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, FORKED; TOKEN_REQUEST_ENDED if the request was answered already or timed out, or its
 * source was freed: the answer is discarded. Anywhere, any thread.
 */
boxretry_error boxretry_token_request_succeed(boxretry_token_request *request, const char *token, size_t length,
                                              double expires_in);

/**
 * Answers a request with a failure. `message`: the reason, without secrets; if the failure is not retryable, the
 * waiters get its first 160 bytes. NULL: no message. `retryable`: flag; whether to try again, under the policy (T5).
 *
 * INVALID_ARGUMENT, FORKED, TOKEN_REQUEST_ENDED as above. Anywhere, any thread.
 */
boxretry_error boxretry_token_request_fail(boxretry_token_request *request, const char *message, int retryable);

/**
 * Answers a request with the provider's cancellation. It ends the fetch; its waiters get BOXRETRY_ERROR_CANCELLED, with
 * a detail that names the provider (T4).
 *
 * INVALID_ARGUMENT, FORKED, TOKEN_REQUEST_ENDED as above. Anywhere, any thread.
 */
boxretry_error boxretry_token_request_cancel(boxretry_token_request *request);

/** Keeps a request after the provider returns, until it is released as often. NULL is accepted. Any thread. */
void boxretry_token_request_retain(boxretry_token_request *request);

/** Undoes one retain. The last one without an answer is a failure (T4). NULL is accepted. Anywhere, any thread. */
void boxretry_token_request_release(boxretry_token_request *request);

/**
 * The wait after failed call number `failed_attempt` of a provider, in seconds, at most 2^31 - 1; by default, without
 * jitter, 1 2 4 8 8 8 8 8. This is arithmetic only: it does not check `maximum_attempts`.
 *
 * `policy` NULL: the default. `failed_attempt`: 1 or more. `unit_random`: the position in the range of the jitter, 0 to
 * 1.
 *
 * INVALID_ARGUMENT. Any thread.
 */
boxretry_error boxretry_token_delay(const boxretry_token_retry_policy *policy, int32_t failed_attempt,
                                    double unit_random, double *delay_out);

/* =====================================================================================================================
 * Sending: what a `before_attempt` hook reads and changes
 *
 * One thread at a time: only inside the hook, on its thread. Changes apply to this request on the wire only, not to
 * later attempts.
 * ================================================================================================================== */

/** The number of the attempt, from 1. A redirect and a reconnect belong to their attempt. 0 for NULL. */
int32_t boxretry_sending_attempt_number(const boxretry_sending *sending);

/** Method and URL, which a redirect may have changed. Valid until the hook returns. NULL for NULL. */
const char *boxretry_sending_method(const boxretry_sending *sending);
const char *boxretry_sending_url(const boxretry_sending *sending);

/** The request's user_pointer. NULL for NULL. */
void *boxretry_sending_user_pointer(const boxretry_sending *sending);

/**
 * The value of the first header with that name, in any case; NULL if there is none, and for NULL. Valid until a header
 * is set.
 */
const char *boxretry_sending_header(const boxretry_sending *sending, const char *name);

/**
 * Sets a header, instead of all that have its name; `value` NULL removes it. The rules for a request's headers hold.
 * The access token is not visible here; if you set or remove Authorization, the token is not sent.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, FORKED.
 */
boxretry_error boxretry_sending_set_header(boxretry_sending *sending, const char *name, const char *value);

/** Sends nothing, and ends the call with CALLBACK_FAILED. NULL is accepted. */
void boxretry_sending_fail(boxretry_sending *sending);

/* =====================================================================================================================
 * Events: what happens to the calls of a client, for logs and metrics
 * ================================================================================================================== */

/** The kinds of events. */
enum {
  BOXRETRY_EVENT_ATTEMPT_BEGAN = 0,
  BOXRETRY_EVENT_ATTEMPT_ENDED = 1,   /* and the strategy has decided */
  BOXRETRY_EVENT_RECONNECT = 2,       /* the connection was dead: sent again immediately on a new one (B13) */
  BOXRETRY_EVENT_RETRY_SCHEDULED = 3, /* the wait before the next attempt begins */
  BOXRETRY_EVENT_CALL_ENDED = 4,
  BOXRETRY_EVENT_REDIRECTED = 5,       /* the attempt follows a redirect */
  BOXRETRY_EVENT_TOKEN_WAIT_BEGAN = 6, /* the call waits for an access token */
  BOXRETRY_EVENT_TOKEN_WAIT_ENDED = 7,
  BOXRETRY_EVENT_GATE_CLOSED = 8, /* the response holds all attempts to its origin, for `delay` seconds (C3) */
  BOXRETRY_EVENT_GATE_OPENED = 9  /* the response has shown that attempts need not be held any longer */
};

/** An event. It never contains a header, a body or a secret. */
struct boxretry_event {
  size_t struct_size;
  int32_t kind;             /* BOXRETRY_EVENT_… */
  int32_t attempt_number;   /* from 1; 0: the call ended before its first attempt */
  int32_t exception_number; /* from 1; 0: none */
  int32_t status;           /* of the attempt, the redirect or, for GATE_…, the response; 0: none yet */
  int32_t cause;            /* BOXRETRY_CAUSE_…; for RECONNECT: how the old connection failed */
  int32_t error;            /* of the call, for CALL_ENDED; see boxretry_response_error() */
  int32_t action;           /* BOXRETRY_ACTION_… */
  int32_t reason;           /* BOXRETRY_REASON_…; -1: no decision yet */
  double delay;             /* seconds, if there is a retry; for GATE_CLOSED: how long attempts are held */
  int32_t delay_source;     /* BOXRETRY_DELAY_… */
  int32_t reserved;         /* 0 */
  double at_ms;             /* milliseconds since the call began */
  const char *method;       /* of the request; valid until the callback returns */
  const char *url;          /* after redirects, the current one; valid until the callback returns */
  void *user_pointer;       /* of the request */
};

/* =====================================================================================================================
 * Decision: whether and when to retry, without any I/O
 *
 * For programs with their own transport, and for custom strategies. A strategy never changes once it is made. Any
 * number of threads may use one at once.
 * ================================================================================================================== */

/* clang-format off */
/** What to do next: constant, value, name, text. */
#define BOXRETRY_ACTION_MAP(X)                                                                                         \
  X(BOXRETRY_ACTION_STOP, 0, "stop", "no retry: the call has failed with this outcome")                                \
  X(BOXRETRY_ACTION_RETRY, 1, "retry", "wait for the delay, then send the request again")                              \
  X(BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY, 2, "refresh_token_and_retry",                                             \
    "drop the access token, get a new one, wait for the delay, then send the request again")                           \
  X(BOXRETRY_ACTION_SUCCEED, 3, "succeed", "no retry: the call has succeeded with this response")

/** Where a delay comes from: constant, value, name, text. */
#define BOXRETRY_DELAY_MAP(X)                                                                                          \
  X(BOXRETRY_DELAY_NONE, 0, "none", "no retry, no delay")                                                              \
  X(BOXRETRY_DELAY_BACKOFF, 1, "backoff", "the exponential backoff")                                                   \
  X(BOXRETRY_DELAY_RETRY_AFTER, 2, "retry_after", "a number of seconds in Retry-After")                                \
  X(BOXRETRY_DELAY_RETRY_AFTER_DATE, 3, "retry_after_date", "a date in Retry-After")                                   \
  X(BOXRETRY_DELAY_CUSTOM, 4, "custom", "the custom strategy")

/**
 * The reasons for decisions: constant, value, name, text.
 *
 * If several rules forbid a retry that the flow allows (B3), the reason is the first of these that applies:
 * unsafe_request, not_replayable, proxy_unauthorized, sink_cannot_restart, attempt_ceiling, retries_exhausted,
 * retry_after_over_cap, deadline, retry_budget_spent.
 */
#define BOXRETRY_REASON_MAP(X)                                                                                         \
  X(BOXRETRY_REASON_SUCCESS, 0, "success", "the response is a success or a redirect")                                  \
  X(BOXRETRY_REASON_NETWORK_EXCEPTION, 1, "network_exception", "network exceptions are retried")                       \
  X(BOXRETRY_REASON_ACCEPTED, 2, "accepted", "202 with a Retry-After header: the result is not ready yet")             \
  X(BOXRETRY_REASON_SERVER_ERROR, 3, "server_error", "server error (status 500 or above)")                             \
  X(BOXRETRY_REASON_RATE_LIMITED, 4, "rate_limited", "too many requests (status 429)")                                 \
  X(BOXRETRY_REASON_UNAUTHORIZED, 5, "unauthorized", "401 with auth available: a new token may help")                  \
  X(BOXRETRY_REASON_NOT_RETRYABLE, 6, "not_retryable", "this status is not retried")                                   \
  X(BOXRETRY_REASON_ATTEMPTS_EXHAUSTED, 7, "attempts_exhausted", "max_attempts is reached")                            \
  X(BOXRETRY_REASON_EXCEPTIONS_EXHAUSTED, 8, "exceptions_exhausted", "max_retries_on_exception is reached")            \
  X(BOXRETRY_REASON_RETRIES_EXHAUSTED, 9, "retries_exhausted",                                                         \
    "retries of both kinds together have reached max_attempts")                                                        \
  X(BOXRETRY_REASON_RETRY_AFTER_OVER_CAP, 10, "retry_after_over_cap", "Retry-After exceeds the cap")                   \
  X(BOXRETRY_REASON_UNSAFE_REQUEST, 11, "unsafe_request",                                                              \
    "the server may have processed the request, and sending it again is not safe")                                     \
  X(BOXRETRY_REASON_NOT_REPLAYABLE, 12, "not_replayable", "the body of the request cannot be sent again")              \
  X(BOXRETRY_REASON_DEADLINE, 13, "deadline", "the deadline has passed, or would pass during the wait")                \
  X(BOXRETRY_REASON_ATTEMPT_CEILING, 14, "attempt_ceiling", "max_total_attempts is reached")                           \
  X(BOXRETRY_REASON_CUSTOM, 15, "custom", "the custom strategy decided so")                                            \
  X(BOXRETRY_REASON_SINK_CANNOT_RESTART, 16, "sink_cannot_restart",                                                    \
    "the caller has a part of the body and cannot start again")                                                        \
  X(BOXRETRY_REASON_TOKEN_EXPIRED, 17, "token_expired",                                                                \
    "the access token has expired: the request is replayed immediately with a new one")                                \
  X(BOXRETRY_REASON_RETRY_BUDGET_SPENT, 18, "retry_budget_spent", "the retry budget is spent")                         \
  X(BOXRETRY_REASON_PROXY_UNAUTHORIZED, 19, "proxy_unauthorized",                                                      \
    "the proxy refused the credentials, or requires some (status 407)")                                                \
  X(BOXRETRY_REASON_PARTIAL_CONTENT, 20, "partial_content", "the server sent a part of the file: requesting the rest") \
  X(BOXRETRY_REASON_RETRY_REQUESTED, 21, "retry_requested", "the response asks for a retry")                           \
  X(BOXRETRY_REASON_RETRY_REFUSED, 22, "retry_refused", "the response forbids a retry")
/* clang-format on */

enum { BOXRETRY_ACTION_MAP(BOXRETRY_MAP_CONSTANT) };
enum { BOXRETRY_DELAY_MAP(BOXRETRY_MAP_CONSTANT) };
enum { BOXRETRY_REASON_MAP(BOXRETRY_MAP_CONSTANT) };

/** The stable name, such as "rate_limited"; "unknown" for any other number. Static. Any thread. */
const char *boxretry_action_name(int32_t action);
const char *boxretry_delay_source_name(int32_t delay_source);
const char *boxretry_reason_name(int32_t reason);

/** The reason, as text for people. Static; never NULL. Any thread. */
const char *boxretry_reason_text(int32_t reason);

/** How much of the request was sent. */
enum {
  BOXRETRY_SENT_UNKNOWN = 0,
  BOXRETRY_SENT_NOTHING = 1, /* not a byte: the server cannot have processed it */
  BOXRETRY_SENT_SOME = 2
};

/** Whether a response has a Retry-After. */
enum {
  BOXRETRY_RETRY_AFTER_ABSENT = 0,    /* it has none */
  BOXRETRY_RETRY_AFTER_USABLE = 1,    /* its value is in `retry_after` */
  BOXRETRY_RETRY_AFTER_NOT_USABLE = 2 /* it has one, but not a valid one: the backoff is used */
};

/** How much of a response's body an outcome has. */
enum {
  BOXRETRY_BODY_NONE = 0,     /* no response, or its body is unknown */
  BOXRETRY_BODY_COMPLETE = 1, /* all of it */
  BOXRETRY_BODY_PARTIAL = 2,  /* its beginning: it broke off, or exceeds a size limit (B15) */
  BOXRETRY_BODY_PENDING = 3   /* nothing yet: a sink waits for the decision (B15) */
};

/**
 * How one attempt ended (B2): with a response or a network exception.
 *
 * A response has its status and headers, and cause NONE. A network exception has status 0 and its cause. A response
 * whose body broke off is an exception too: any outcome with a cause is one, with any status; if it has a Retry-After,
 * that is the delay. The initial value is a network exception of unknown cause.
 * The caller owns the outcome, which needs to live only until the function that it is passed to returns.
 */
typedef struct boxretry_outcome {
  size_t struct_size;
  int32_t status;                  /* 100 to 999; 0: a network exception */
  int32_t cause;                   /* BOXRETRY_CAUSE_… */
  const boxretry_header *headers;  /* of the final response, not of redirects before it; NULL if there are none */
  size_t header_count;             /* at most 65536 */
  int32_t auth_available;          /* flag: a new access token can be obtained */
  int32_t request_sent;            /* BOXRETRY_SENT_… */
  const boxretry_request *request; /* for B12 and custom strategies; NULL (default): unknown */
  int32_t body_not_replayable;     /* flag: the request's body cannot be sent again, so there is no retry (R3) */
  int32_t reserved;                /* 0 */
  const void *body;                /* of the response, for custom strategies (B9); NULL: none */
  size_t body_length;              /* bytes */
  int32_t body_state;              /* BOXRETRY_BODY_… */
  int32_t reserved_2;              /* 0 */
  const char *url;                 /* of the response, after redirects, for custom strategies; NULL: unknown */
} boxretry_outcome;

#define BOXRETRY_OUTCOME_INIT                                                                                          \
  {                                                                                                                    \
    sizeof(boxretry_outcome), 0, BOXRETRY_CAUSE_NONE, NULL, 0, 0, BOXRETRY_SENT_UNKNOWN, NULL, 0, 0, NULL, 0,          \
        BOXRETRY_BODY_NONE, 0, NULL                                                                                    \
  }

/** Does what BOXRETRY_OUTCOME_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_outcome_init(boxretry_outcome *outcome, size_t struct_size);

/** What to do after an attempt, and why. Initialize it with BOXRETRY_DECISION_INIT: the library needs struct_size. */
typedef struct boxretry_decision {
  size_t struct_size;
  int32_t action;            /* BOXRETRY_ACTION_… */
  int32_t reason;            /* BOXRETRY_REASON_… */
  double delay;              /* seconds to wait before the next attempt, 0 to 2^31 - 1; 0 without a retry */
  int32_t delay_source;      /* BOXRETRY_DELAY_… */
  int32_t attempt_number;    /* of this attempt, from 1 */
  int32_t exception_number;  /* of this network exception, from 1; 0 if the attempt ended with a response */
  int32_t retry_after_state; /* BOXRETRY_RETRY_AFTER_… */
  double retry_after;        /* seconds that the server asked for, before cap and jitter; -1 without a valid value */
} boxretry_decision;

#define BOXRETRY_DECISION_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(boxretry_decision), BOXRETRY_ACTION_STOP, BOXRETRY_REASON_SUCCESS, 0.0, BOXRETRY_DELAY_NONE, 0, 0,          \
        BOXRETRY_RETRY_AFTER_ABSENT, -1.0                                                                              \
  }

/** Does what BOXRETRY_DECISION_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_decision_init(boxretry_decision *decision, size_t struct_size);

/**
 * Decides whether an outcome is retried (B3), and after which delay.
 *
 * `attempt_number`: for a network exception the number of the exception, otherwise that of the attempt, from 1; 0 is
 * accepted, a negative one is not. The limit on both kinds together (B5), the deadline and the ceiling belong to the
 * retry loop. The decision's attempt_number is the given one. An outcome from 200 to 399 that is not retried is
 * SUCCEED.
 *
 * INVALID_ARGUMENT, CALLBACK_FAILED (custom strategies), FORKED. Any thread.
 */
boxretry_error boxretry_strategy_should_retry(const boxretry_strategy *strategy, const boxretry_outcome *outcome,
                                              int32_t attempt_number, boxretry_decision *out);

/**
 * The delay before a retry of this outcome, in seconds: Retry-After (B7) or the backoff (B6), whether or not the
 * outcome would be retried. Caps apply, but a Retry-After above a cap that stops is returned unchanged.
 * `attempt_number`: 0 or more, as in boxretry_strategy_should_retry().
 *
 * INVALID_ARGUMENT, CALLBACK_FAILED (custom strategies), FORKED. Any thread.
 */
boxretry_error boxretry_strategy_retry_after(const boxretry_strategy *strategy, const boxretry_outcome *outcome,
                                             int32_t attempt_number, double *delay_out);

/** The initial value of a custom strategy's *action: if the callback leaves it, it has failed. */
#define BOXRETRY_ACTION_UNANSWERED (-1)

/** The initial value of a custom strategy's *delay: if the callback leaves it, it has failed. */
#define BOXRETRY_DELAY_UNANSWERED (-1e300)

/**
 * A custom strategy (B9).
 *
 * Both callbacks see every outcome, including successes. They run on the thread that asks for the decision, before its
 * call returns; if several threads use the strategy, several at once. Their arguments are valid until they return. They
 * may call functions that do not block, and may free any handle, also that of their own strategy or loop. The deadline
 * and the ceiling of a retry loop apply to custom strategies too; `max_attempts` does not.
 */
typedef struct boxretry_strategy_callbacks {
  size_t struct_size;
  void *context; /* yours; passed to each callback */

  /* Required. Writes BOXRETRY_ACTION_STOP, _RETRY or _REFRESH_TOKEN_AND_RETRY to *action. `attempt_number` counts the
     network exceptions if the outcome is one, otherwise the attempts, from 1 (B4). */
  void (*should_retry)(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action);

  /* Writes the seconds to wait to *delay; called only if there is a retry. NaN and negative values count as 0, values
     above 2^31 - 1 as that. NULL: Retry-After, else the backoff, as in Box's strategy with its defaults. */
  void (*retry_after)(void *context, const boxretry_outcome *outcome, int32_t attempt_number, double *delay);

  /* Called once, after the last use of the strategy, on the thread that ends it; with a client, this may be one of its
     threads, shortly after boxretry_client_free(). NULL: nothing to do. */
  void (*context_free)(void *context);
} boxretry_strategy_callbacks;

#define BOXRETRY_STRATEGY_CALLBACKS_INIT                                                                               \
  { sizeof(boxretry_strategy_callbacks), NULL, NULL, NULL, NULL }

/** Does what BOXRETRY_STRATEGY_CALLBACKS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_strategy_callbacks_init(boxretry_strategy_callbacks *callbacks, size_t struct_size);

/**
 * Makes a custom strategy. If this fails, `context` remains yours: `context_free` is not called.
 *
 * A client calls it on at most four separate threads. While four callbacks are running, further calls wait for their
 * decisions; their deadlines and cancels still work. Transfers, and calls with other strategies, are not delayed. A
 * client with BOXRETRY_THREADS_NONE calls it on the thread that drives the client, so it must not block there.
 *
 * INVALID_ARGUMENT. Free with boxretry_strategy_free(). Any thread.
 */
boxretry_error boxretry_strategy_new_custom(const boxretry_strategy_callbacks *callbacks, boxretry_strategy **out);

/**
 * 2^attempt_number * retry_base_interval * a factor (B6), in seconds, at most 2^31 - 1 and at most `backoff_cap`.
 *
 * `options` NULL: the defaults. `attempt_number`: 0 or more. `unit_random`: the position in the range of the jitter,
 * from 0 (1 - retry_randomization_factor) to 1 (1 + retry_randomization_factor); 0.5 is the middle, without jitter.
 *
 * INVALID_ARGUMENT. Any thread.
 */
boxretry_error boxretry_backoff_delay(const boxretry_retry_options *options, int32_t attempt_number, double unit_random,
                                      double *delay_out);

/**
 * The value of a Retry-After header in seconds, 0 to 2^31 - 1 (B7): a decimal number, a list of such numbers (the
 * largest), or an HTTP date in any of its three forms.
 *
 * `unix_time`: the time that a date is relative to, in seconds since 1970, -62135596800 (year 1) to 253402300799 (year
 * 9999): the response's own Date, or now.
 *
 * INVALID_ARGUMENT; NOT_USABLE if the value has none of these forms: use the backoff then. Any thread.
 */
boxretry_error boxretry_parse_retry_after(const char *value, int64_t unix_time, double *seconds_out);

/* =====================================================================================================================
 * Retry loop: the decisions of one call, for programs with their own transport
 *
 * Make one loop for each call. Pass it each attempt's outcome; it returns what to do next. It counts attempts and
 * network exceptions (B4), and applies their common limit (B5), the deadline (B11) and the ceiling (B14). A loop is
 * used by one thread at a time.
 * ================================================================================================================== */

/**
 * The settings of a retry loop. The defaults are those of BOXRETRY_LOOP_OPTIONS_INIT:
 *
 *     auth_available        0
 *     deadline_ms           BOXRETRY_NO_TIMEOUT
 *     clock                 NULL
 *     seed                  0 (random)
 *     max_total_attempts    0 (1000 for a custom strategy, none for Box's)
 *     budget                NULL
 */
typedef struct boxretry_loop_options {
  size_t struct_size;

  /* flag: a new access token can be obtained, for every outcome. (Or set it in the outcome.) */
  int32_t auth_available;

  /* Time limit of the call, with all attempts and waits, from boxretry_retry_loop_new(): milliseconds, 1 or more;
     default: none. A wait that would reach it is not started. */
  int64_t deadline_ms;

  /* NULL (default): the system's. Retained. */
  const boxretry_clock *clock;

  /* Seed of the jitter: the same seed gives the same delays with the same version of the library. 0 (default): random.
     */
  uint64_t seed;

  /* Maximum number of attempts, for any strategy: 1 to 1000000. 0 (default): 1000 for a custom strategy, none for
     Box's, which has max_attempts (B14). */
  int32_t max_total_attempts;

  int32_t reserved; /* 0 */

  /* boxretry_retry_loop_next() charges it: each retry takes from it, a success gives back (C1). Retained. NULL
     (default): no budget. */
  boxretry_budget *budget;
} boxretry_loop_options;

#define BOXRETRY_LOOP_OPTIONS_INIT                                                                                     \
  { sizeof(boxretry_loop_options), 0, BOXRETRY_NO_TIMEOUT, NULL, 0, 0, 0, NULL }

/** Does what BOXRETRY_LOOP_OPTIONS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_loop_options_init(boxretry_loop_options *options, size_t struct_size);

/**
 * Begins a call; its deadline counts from here. `options` NULL: the defaults. The strategy, the clock and the budget
 * are retained.
 *
 * INVALID_ARGUMENT, FORKED. Free with boxretry_retry_loop_free(). Any thread.
 */
boxretry_error boxretry_retry_loop_new(const boxretry_strategy *strategy, const boxretry_loop_options *options,
                                       boxretry_retry_loop **out);

/**
 * Decides what to do after the next attempt's outcome. After STOP, SUCCEED or CALLBACK_FAILED the loop has ended.
 *
 * SUCCEED is the decision for any final response from 200 to 399, even after the deadline; this includes a 202 that
 * asked for a longer wait than allowed, with a reason other than success (B10). If you cannot get a new token after
 * REFRESH_TOKEN_AND_RETRY, free the loop: the call has failed. A loop does not limit an attempt in progress: set a
 * timeout in your transport.
 *
 * INVALID_ARGUMENT (the attempt was not counted), CALLBACK_FAILED (custom strategies), ENDED, FORKED; IN_CALLBACK if
 * called from a callback of this same loop. One thread at a time.
 */
boxretry_error boxretry_retry_loop_next(boxretry_retry_loop *loop, const boxretry_outcome *outcome,
                                        boxretry_decision *out);

/** Frees a loop. NULL is accepted. Anywhere, any thread. */
void boxretry_retry_loop_free(boxretry_retry_loop *loop);

/* =====================================================================================================================
 * Clock: the system's, or a manual one, so that retries can be tested without waiting
 *
 * NULL is the system's clock in every function that takes one. Any number of threads may use a manual clock at once,
 * and any number of clients, token sources and retry loops may share one.
 *
 * On the clock of a client run backoff waits, the timeouts of attempts, connect_timeout_ms, deadlines, the times in the
 * records of attempts, and dates in Retry-After (set the wall timeline first: it begins in 1970). On the clock of a
 * token source run the waits between provider calls, their timeouts, and the lifetimes of tokens. Real time remains for
 * connections, servers and callbacks, for what libcurl measures (lookup_ms and the fields after it), and for the
 * timeouts of functions that wait, such as boxretry_call_wait().
 * ================================================================================================================== */

/** The timelines of a clock. */
enum {
  BOXRETRY_TIMELINE_MONOTONIC = 0, /* never set back; stops while the machine sleeps. For waits and idle timeouts */
  BOXRETRY_TIMELINE_BOOTTIME = 1,  /* never set back; continues during sleep. For deadlines and token lifetimes */
  BOXRETRY_TIMELINE_WALL = 2       /* seconds since 1970; can be set. For dates in headers */
};

/**
 * Makes a manual clock, which moves only when told, or by itself past every wait: see
 * boxretry_clock_set_auto_advance(). All its timelines begin at 0.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY. Free with boxretry_clock_free(). Any thread.
 */
boxretry_error boxretry_clock_new_manual(boxretry_clock **out);

/**
 * Moves all timelines forward, and ends each wait whose time has come. `seconds`: 0 to 2^31 - 1; a manual clock can be
 * moved by 2^32 seconds in total.
 *
 * INVALID_ARGUMENT, FORKED. Any thread.
 */
boxretry_error boxretry_clock_advance(boxretry_clock *clock, double seconds);

/**
 * Moves the boottime and wall timelines forward, as if the machine had slept. Otherwise like boxretry_clock_advance().
 *
 * INVALID_ARGUMENT, FORKED. Any thread.
 */
boxretry_error boxretry_clock_suspend(boxretry_clock *clock, double seconds);

/**
 * Sets only the wall timeline. `unix_time`: seconds since 1970, -62135596800 (year 1) to 253402300799 (year 9999).
 *
 * INVALID_ARGUMENT, FORKED. Any thread.
 */
boxretry_error boxretry_clock_set_wall(boxretry_clock *clock, double unix_time);

/**
 * Reads one of the timelines (BOXRETRY_TIMELINE_…), in seconds. NULL: the system's.
 *
 * INVALID_ARGUMENT, FORKED. Any thread.
 */
boxretry_error boxretry_clock_now(const boxretry_clock *clock, int32_t timeline, double *seconds_out);

/**
 * Waits until `seconds` (0 to 2^31 - 1) have passed on the clock's monotonic timeline. NULL: the system's. Another
 * thread must advance a manual clock meanwhile; a program with one thread advances the clock instead of sleeping.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, CLOSED (the clock was freed meanwhile), IN_CALLBACK, FORKED. Any thread.
 */
boxretry_error boxretry_clock_sleep(const boxretry_clock *clock, double seconds);

/**
 * Waits, in real time, until something waits on this manual clock for a later time, so that a test knows when to
 * advance the clock. (A provider call in progress is such a wait, because of its timeout, unless that is
 * BOXRETRY_NO_TIMEOUT.) `timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT.
 *
 * INVALID_ARGUMENT, WAIT_TIMEOUT, CLOSED (the clock was freed meanwhile), IN_CALLBACK, FORKED. Any thread.
 */
boxretry_error boxretry_clock_wait_for_timer(boxretry_clock *clock, int64_t timeout_ms);

/**
 * Lets a manual clock advance by itself (`on` is not 0), or stops that. It then jumps to the next time that anything
 * waits for on it, once there is nothing else left to wait for: a test of a Retry-After of an hour takes milliseconds
 * against a real local server.
 *
 * The clock never jumps while the library is at work for any of its users. The library cannot know what others are
 * about to do, so it gives them real time: 1 ms if only timers are left; 100 ms in which nothing moves while an attempt
 * is under way; 1.5 s while a connection is being made, a token provider or a custom strategy has not answered, or a
 * body callback has paused. A server that is silent for longer than 100 ms therefore runs into a timeout; to test such
 * a server, call boxretry_clock_advance() instead. On a busy machine all of these times are longer.
 *
 * A thread of the library moves the clock. A clock that advances by itself continues after boxretry_clock_free(), for
 * the clients and token sources that still use it. At its end, after 2^32 seconds, it stops.
 *
 * INVALID_ARGUMENT, EXHAUSTED, FORKED. Any thread. (Since 0.2.0.)
 */
boxretry_error boxretry_clock_set_auto_advance(boxretry_clock *clock, int32_t on);

/**
 * Frees a manual clock, and ends the waits of boxretry_clock_sleep() and boxretry_clock_wait_for_timer() on it
 * (CLOSED). For clients and token sources that still use it, it stops, unless it advances by itself. NULL is accepted.
 * Anywhere, any thread.
 */
void boxretry_clock_free(boxretry_clock *clock);

/* =====================================================================================================================
 * Retry budget: limits the load that the retries of many calls add to a failing server
 *
 * A budget starts full. Each retry takes 1 from it, and each success gives back a fraction. At half of the capacity or
 * below, calls end instead of being retried, with the reason retry_budget_spent (C1). First attempts are always
 * allowed. Clients and retry loops may share one budget, and any number of threads may use it at once.
 * ================================================================================================================== */

/**
 * Makes a budget. `capacity`: retries, 1 to 1000000; half of them are available before any success gives back. `ratio`:
 * what a success gives back, 0 to 1 retries; 0: 0.1.
 *
 * INVALID_ARGUMENT. Free with boxretry_budget_free(). Any thread.
 */
boxretry_error boxretry_budget_new(int32_t capacity, double ratio, boxretry_budget **out);

/** A budget's counters. */
typedef struct boxretry_budget_stats {
  size_t struct_size;
  int64_t taken;      /* retries allowed */
  int64_t given_back; /* successes; each gave back the ratio, up to the capacity */
  int64_t refused;    /* retries refused */
  double level;       /* the current level, 0 to the capacity */
} boxretry_budget_stats;

#define BOXRETRY_BUDGET_STATS_INIT                                                                                     \
  { sizeof(boxretry_budget_stats), 0, 0, 0, 0.0 }

/** Does what BOXRETRY_BUDGET_STATS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_budget_stats_init(boxretry_budget_stats *stats, size_t struct_size);

/**
 * Reads a budget's counters. They may not add up while other threads use the budget.
 *
 * INVALID_ARGUMENT, FORKED. Any thread.
 */
boxretry_error boxretry_budget_get_stats(const boxretry_budget *budget, boxretry_budget_stats *out);

/** Frees a budget; clients and loops that have it keep it. NULL is accepted. Anywhere, any thread. */
void boxretry_budget_free(boxretry_budget *budget);

#ifdef __cplusplus
}
#endif

#endif /* BOXRETRY_H */
