/*
 * boxretry.h: the right retries, timeouts and access tokens for HTTP APIs.
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
 * libboxretry decides whether a failed HTTP request is sent again, and after how long a wait. The rules are two
 * published ones, to the letter: Box's retry strategy, and January's token lifecycle. Clause numbers such as (B3) or
 * (T5) in this file point into docs/semantics.md, where each rule is written out.
 *
 * The simple way, for a program that has its own way of sending requests (the whole program, with its checks of errors,
 * is bindings/c/quickstart.c):
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
 * 1. Handles are opaque. x_new() makes one, x_free() ends it. x_free() takes NULL, is allowed anywhere (in callbacks
 *    too), and never waits for user code. A handle given to another is retained by it: free them in any order.
 * 2. Whatever can fail returns a boxretry_error. Results come through the last parameter, and only on success.
 *    boxretry_last_error_detail() says which argument was wrong, and why.
 * 3. A struct begins with its struct_size. Start each from its _INIT macro, or with its _init() function where there
 *    are no macros: they fill in the size and every default. A newer library accepts an older, shorter struct; it
 *    accepts a longer one if the part that it does not know is zero. Fields called "reserved" are zero.
 *    (boxretry_header, boxretry_delay_header and boxretry_part stand in arrays and have no struct_size.)
 * 4. Delays are seconds (double). Times whose names end in _ms are milliseconds (int64_t); BOXRETRY_NO_TIMEOUT means
 *    for ever, and a wait of 0 only looks. Flags are int32_t: 0 is no, anything else is yes.
 * 5. Strings end in NUL. What the library keeps of them it copies during the call. Header names and values are taken as
 *    bytes, as servers send them.
 * 6. A callback gets its context first and returns nothing; it answers through a pointer to an answer that the library
 *    has preset to "failed". A callback must return: no longjmp, no exception may leave it. Functions that block
 *    refuse to run inside one (BOXRETRY_ERROR_IN_CALLBACK).
 * 7. Memory: if memory for data that you pass in cannot be allocated, the function returns
 *    BOXRETRY_ERROR_OUT_OF_MEMORY. If even the few kilobytes for a handle cannot be allocated, the process aborts.
 * 8. No argument that can be looked at (NULL, a number out of range, NaN, a wrong struct_size) crashes the library: it
 *    answers BOXRETRY_ERROR_INVALID_ARGUMENT and changes nothing. A pointer to something that is not what it says it
 *    is, or that was freed, is as fatal as anywhere in C.
 * 9. Threads: each section says who may use its handles at once. After fork() the child may only free the handles
 *    of its parent; all other functions return BOXRETRY_ERROR_FORKED for them. Handles made in the child work. Do not
 *    use _Fork(): it skips the fork handlers that the library relies on. No function is a cancellation point:
 *    pthread_cancel() takes effect after the function has returned. Once exit() has begun, calls end as cancelled, and
 *    the library's threads call no more callbacks.
 * 10. Paths: the function that takes a relative path resolves it, so a later chdir() does not change what it means.
 *    Only `unix_socket` is resolved for each connection, because its length is limited.
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

/** A version as one number that grows with it: 1.2.3 is 10203. Minor and patch stay below 100. */
#define BOXRETRY_VERSION_MAKE_NUMBER(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))

/** The version of this header as one number. */
#define BOXRETRY_VERSION_NUMBER                                                                                        \
  BOXRETRY_VERSION_MAKE_NUMBER(BOXRETRY_VERSION_MAJOR, BOXRETRY_VERSION_MINOR, BOXRETRY_VERSION_PATCH)

/** Whether this header is of that version or a newer one; for #if. */
#define BOXRETRY_VERSION_AT_LEAST(major, minor, patch)                                                                 \
  (BOXRETRY_VERSION_NUMBER >= BOXRETRY_VERSION_MAKE_NUMBER(major, minor, patch))

/** The version of the library that the program runs with, such as "0.2.0". Static; never NULL. Any thread. */
const char *boxretry_version(void);

/** The version of the library that the program runs with, as BOXRETRY_VERSION_NUMBER has it. Any thread. */
int32_t boxretry_version_number(void);

/**
 * The version of the libcurl that the library uses in this process, such as "8.14.1". Static; never NULL. Any thread.
 * (Since 0.2.0.)
 */
const char *boxretry_libcurl_version(void);

/* =====================================================================================================================
 * Errors
 * ================================================================================================================== */

/** What a function answers: BOXRETRY_OK, or why it did not do what it was asked to. */
typedef int32_t boxretry_error;

/**
 * All errors: constant, value, name, text. This one table makes the constants, boxretry_error_name() and
 * boxretry_error_text(). Values are never reused, and new ones come at the end.
 */
/* clang-format off */
#define BOXRETRY_ERROR_MAP(X)                                                                                          \
  X(BOXRETRY_OK, 0, "ok", "no error")                                                                                  \
  X(BOXRETRY_ERROR_INVALID_ARGUMENT, 1, "invalid_argument", "an argument is not valid")                                \
  X(BOXRETRY_ERROR_OUT_OF_MEMORY, 2, "out_of_memory", "out of memory")                                                 \
  X(BOXRETRY_ERROR_NOT_USABLE, 3, "not_usable", "the value does not say a delay that could be used")                   \
  X(BOXRETRY_ERROR_CALLBACK_FAILED, 4, "callback_failed", "a callback returned without an answer, or with a wrong one")\
  X(BOXRETRY_ERROR_IN_CALLBACK, 5, "in_callback", "this is not allowed inside a callback of the library")              \
  X(BOXRETRY_ERROR_FORKED, 6, "forked", "the handle was made before fork(), in the parent process")                    \
  X(BOXRETRY_ERROR_CLOSED, 7, "closed", "the handle was freed while this call waited on it")                           \
  X(BOXRETRY_ERROR_ENDED, 8, "ended", "the retry loop has already given its last decision")                            \
  X(BOXRETRY_ERROR_WAIT_TIMEOUT, 9, "wait_timeout", "the time that was given for waiting has passed")                  \
  X(BOXRETRY_ERROR_EXHAUSTED, 10, "exhausted", "there are no descriptors or no threads left")                          \
  X(BOXRETRY_ERROR_CANCELLED, 11, "cancelled", "the call was cancelled")                                               \
  X(BOXRETRY_ERROR_DEADLINE, 12, "deadline", "the call's deadline has passed")                                         \
  X(BOXRETRY_ERROR_RESOLVE, 13, "resolve", "the host name could not be resolved")                                      \
  X(BOXRETRY_ERROR_CONNECT, 14, "connect", "no connection could be made")                                              \
  X(BOXRETRY_ERROR_TLS, 15, "tls", "the TLS handshake or the certificate check failed")                                \
  X(BOXRETRY_ERROR_SEND, 16, "send", "the request could not be sent")                                                  \
  X(BOXRETRY_ERROR_RECEIVE, 17, "receive", "the response broke off, or none came")                                     \
  X(BOXRETRY_ERROR_PROTOCOL, 18, "protocol", "the peer did not speak HTTP properly")                                   \
  X(BOXRETRY_ERROR_TIMEOUT_IDLE, 19, "timeout_idle", "nothing moved for the request timeout")                          \
  X(BOXRETRY_ERROR_TIMEOUT_RESOURCE, 20, "timeout_resource", "the attempt took longer than the resource timeout")      \
  X(BOXRETRY_ERROR_RESPONSE_TOO_LARGE, 21, "response_too_large", "the response is larger than a limit of the caller")  \
  X(BOXRETRY_ERROR_SETTING, 22, "setting", "a setting cannot be used on this machine, such as a CA file")              \
  X(BOXRETRY_ERROR_SOURCE, 23, "source", "the body of the request could not be read")                                  \
  X(BOXRETRY_ERROR_SINK, 24, "sink", "the body of the response could not be put where it was to go")                   \
  X(BOXRETRY_ERROR_TOO_MANY_REDIRECTS, 25, "too_many_redirects", "there were more redirects than are followed")        \
  X(BOXRETRY_ERROR_INVALID_CLIENT_TOKEN, 26, "invalid_client_token", "the token provider gave what cannot be a token") \
  X(BOXRETRY_ERROR_INVALID_CLIENT_TOKEN_EXPIRATION, 27, "invalid_client_token_expiration",                             \
    "the token provider gave a token whose life is no number, or too short")                                           \
  X(BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED, 28, "client_token_provider_failed", "the token provider failed")      \
  X(BOXRETRY_ERROR_TOKEN_REQUEST_ENDED, 29, "token_request_ended",                                                     \
    "the token request was answered before, has timed out, or its source was freed")
/* clang-format on */

/** Makes one enum constant of a row of one of the tables. */
#define BOXRETRY_MAP_CONSTANT(constant, value, name, text) constant = value,

enum { BOXRETRY_ERROR_MAP(BOXRETRY_MAP_CONSTANT) };

/** The stable name of an error, such as "invalid_argument"; "unknown" for a number that is none. Static. Any thread. */
const char *boxretry_error_name(boxretry_error error);

/** What an error means, a sentence for people. Static; never NULL. Any thread. */
const char *boxretry_error_text(boxretry_error error);

/**
 * What was wrong with the last call of this thread that failed: which argument, and why. Empty if none has failed yet.
 * Only meaningful right after a failure: calls that succeed leave it as it is. Valid until the thread's next call.
 */
const char *boxretry_last_error_detail(void);

/* =====================================================================================================================
 * Request: what a strategy may want to know about the request that is being retried
 * ================================================================================================================== */

/** Decides about outcomes; see the section Retry strategy. */
typedef struct boxretry_strategy boxretry_strategy;
/** Hands out access tokens. Any number of threads may use it at once; see the section Token source. */
typedef struct boxretry_token_source boxretry_token_source;
/** A call under way, a queue of ended calls, a switch that ends calls; see the sections of these names. */
typedef struct boxretry_call boxretry_call;
typedef struct boxretry_queue boxretry_queue;
typedef struct boxretry_cancel boxretry_cancel;

/** How long one attempt may take (M1, M2). A single field may be set; the other keeps its default. */
typedef struct boxretry_timeouts {
  size_t struct_size;
  int64_t timeout_interval_for_request_ms;  /* the longest gap with nothing moving; 1 or more; default 60000 */
  int64_t timeout_interval_for_resource_ms; /* the whole attempt; 1 or more; default 21600000 (6 hours) */
} boxretry_timeouts;

#define BOXRETRY_TIMEOUTS_INIT                                                                                         \
  { sizeof(boxretry_timeouts), 60000, 21600000 }

/** Does what BOXRETRY_TIMEOUTS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_timeouts_init(boxretry_timeouts *timeouts, size_t struct_size);

/** A header line. Both strings are required; they are bytes and end in NUL. Stands in arrays: no struct_size. */
typedef struct boxretry_header {
  const char *name;
  const char *value;
} boxretry_header;

/** Whether a request may be sent again although the server may have acted on it (B12). */
enum {
  BOXRETRY_SAFETY_BY_METHOD = 0, /* POST and PATCH may not, all others may, and whatever has an idempotency key */
  BOXRETRY_SAFETY_SAFE = 1,      /* it may, whatever its method */
  BOXRETRY_SAFETY_UNSAFE = 2     /* it may not, whatever its method */
};

/** What versions of HTTP are spoken. */
enum {
  BOXRETRY_HTTP_DEFAULT = 0,          /* of a request: as its client does; of a client: HTTP_2 */
  BOXRETRY_HTTP_1_1 = 1,              /* only HTTP/1.1 */
  BOXRETRY_HTTP_2 = 2,                /* HTTP/2 over TLS where the server offers it, else HTTP/1.1 */
  BOXRETRY_HTTP_2_PRIOR_KNOWLEDGE = 3 /* HTTP/2 at once, also without TLS */
};

/** A flag for which there is also the client's own setting. */
enum { BOXRETRY_SWITCH_DEFAULT = 0, BOXRETRY_SWITCH_ON = 1, BOXRETRY_SWITCH_OFF = -1 };

/**
 * For max_redirects: follow no redirects; the response that redirects is the call's response. (A redirect to a URL that
 * is neither http nor https is never followed.)
 */
#define BOXRETRY_NO_REDIRECTS (-1)

/** For idempotency_key: one is made for the call. */
#define BOXRETRY_IDEMPOTENCY_KEY_RANDOM ""

/** Where the body of a request comes from. */
enum {
  BOXRETRY_SOURCE_FILE = 1,       /* `path` */
  BOXRETRY_SOURCE_DESCRIPTOR = 2, /* `descriptor`, which is duplicated; its own position is neither used nor moved */
  BOXRETRY_SOURCE_CALLBACK = 3,   /* `read` */
  BOXRETRY_SOURCE_MULTIPART = 4   /* `parts`, as multipart/form-data */
};

/** What a `read` callback's `count` is preset to: a callback that leaves it so has failed. */
#define BOXRETRY_READ_FAILED (-1)
/** What a `read` callback answers if it has nothing at the moment: boxretry_call_resume() lets it be asked again. */
#define BOXRETRY_READ_PAUSE (-2)

/**
 * A part of a multipart body. Stands in arrays: no struct_size. What is NULL is not sent. Its headers obey the rules of
 * a request's, and its other texts have no control character but the tab.
 */
typedef struct boxretry_part {
  const char *name;               /* of the form's field; required */
  const char *file_name;          /* that the server is told; NULL with `path`: the last part of the path */
  const char *content_type;       /* NULL: libcurl guesses from the file's name */
  const boxretry_header *headers; /* further ones of this part; NULL if there are none */
  size_t header_count;            /* at most 64 */
  const void *data;               /* what it consists of; NULL: nothing; or: */
  size_t data_length;             /* bytes */
  const char *path;               /* the regular file that it consists of, read while it is sent; NULL: it is `data` */
} boxretry_part;

/**
 * A body that does not lie in memory as a whole. All attempts send the same bytes: if a file is not what it was in the
 * attempt before (its length, the time of its last change, or another file at its path), the call ends with SOURCE
 * (R5).
 *
 * Callbacks run on the loop, one at a time, and must not block. `call` is the call, for boxretry_call_resume() and
 * boxretry_call_cancel(); it is valid until the call has ended.
 */
typedef struct boxretry_body_source {
  size_t struct_size;
  int32_t kind;       /* BOXRETRY_SOURCE_… */
  int32_t descriptor; /* of a regular file, open for reading */
  const char *path; /* of a regular file; opened anew for each attempt. What is wrong with it ends the call (SOURCE) */
  int64_t offset;   /* of its first byte in the file or descriptor, or its end; 0 or more */
  int64_t length;   /* bytes; 0 or more; -1: up to the file's end, or, of a callback, unknown (sent in chunks) */

  /* Writes at most `capacity` bytes to `buffer`, and to *count how many; 0: that was all. Or BOXRETRY_READ_PAUSE. */
  void (*read)(void *context, boxretry_call *call, void *buffer, size_t capacity, int64_t *count);
  /* Goes back to the first byte and writes 1 to *done, which is preset to 0. NULL: the body can be sent once (R3). */
  void (*rewind)(void *context, int32_t *done);
  void (*context_free)(void *context); /* once, when the call has no more use for it; NULL: nothing to do */
  void *context;                       /* yours */

  const boxretry_part *parts;
  size_t part_count; /* 1 to 1000 */
} boxretry_body_source;

#define BOXRETRY_BODY_SOURCE_INIT                                                                                      \
  { sizeof(boxretry_body_source), 0, -1, NULL, 0, -1, NULL, NULL, NULL, NULL, NULL, 0 }

/** Does what BOXRETRY_BODY_SOURCE_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_body_source_init(boxretry_body_source *source, size_t struct_size);

/** Where the body of a response goes. */
enum {
  BOXRETRY_SINK_FILE = 1,    /* `path`: written beside it, and renamed when whole; permissions of a file that was there
                                are kept */
  BOXRETRY_SINK_CALLBACK = 2 /* `write` */
};

/** What a `write` callback answers. It is preset to FAILED, which ends the call (SINK). */
enum {
  BOXRETRY_WRITE_FAILED = 0,
  BOXRETRY_WRITE_TAKEN = 1,
  BOXRETRY_WRITE_PAUSE = 2 /* nothing was taken: the same comes again after boxretry_call_resume() */
};

/** The head of a response whose body is about to be delivered. Lives, with all that is in it, until `begin` returns. */
typedef struct boxretry_response_head {
  size_t struct_size;
  int32_t status;                 /* 200 to 299 */
  int32_t http_version;           /* 10, 11, 20 */
  const char *url;                /* that was fetched: the last one, if there were redirects */
  const boxretry_header *headers; /* the lines as the server sent them, in order; NULL if there are none */
  size_t header_count;
  const char *reason_phrase; /* the reason phrase of the status line; "" if there is none, as in HTTP/2 */
} boxretry_response_head;

/**
 * Where the body of a response goes, if not to memory: that of a 2xx response which the strategy does not retry. All
 * others go to the response's own memory (B15). Callbacks are as with boxretry_body_source.
 *
 * When a delivery breaks off and the call is retried, a file starts again by itself. A delivery begins with its first
 * byte; one with `begin` begins with that.
 */
typedef struct boxretry_sink {
  size_t struct_size;
  int32_t kind; /* BOXRETRY_SINK_… */
  int32_t
      is_resumable; /* flag, for files: where the server gave a strong ETag, a retry asks for the rest alone, by Range
                           and If-Range. A server may send the rest in several parts; each takes one of the retries
                           of max_attempts, without a wait. Default: 0 */
  const char *path; /* of a regular file, or of none; not empty. Refused if the directory is not there or cannot be
                       written to; what is wrong with it later ends the call (SINK) */

  /* Takes `length` bytes, 1 or more, and writes BOXRETRY_WRITE_… to *answer. */
  void (*write)(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer);
  /* Forgets what was written, and writes 1 to *done, which is preset to 0. NULL: a delivery that broke off is not
     retried (sink_cannot_restart). Also called when the call ends in a response that is not for the sink, such as a
     404, and a delivery before it broke off. */
  void (*restart)(void *context, int32_t *done);
  void (*context_free)(void *context); /* once, when the call has no more use for it; NULL: nothing to do */
  void *context;                       /* yours */

  /* Sees the response whose body follows, before the first `write` and again after each `restart`, and writes 1 to
     *done, which is preset to 0. Called for an empty body, too, but not where there can be none (204, 205, HEAD).
     NULL: nothing to do */
  void (*begin)(void *context, boxretry_call *call, const boxretry_response_head *head, int32_t *done);
} boxretry_sink;

#define BOXRETRY_SINK_INIT                                                                                             \
  { sizeof(boxretry_sink), 0, 0, NULL, NULL, NULL, NULL, NULL, NULL }

/** Does what BOXRETRY_SINK_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_sink_init(boxretry_sink *sink, size_t struct_size);

/** How far the attempt under way has come, in bytes of bodies. */
typedef struct boxretry_progress {
  size_t struct_size;
  int32_t attempt_number; /* from 1 */
  int32_t reserved;       /* 0 */
  int64_t sent;
  int64_t send_total; /* -1: unknown */
  int64_t received;   /* of the response; what a resumed download had before is among them */
  int64_t receive_total;
} boxretry_progress;

/** A request just before it is sent, in the hands of a `before_attempt` hook. Lives until the hook returns. */
typedef struct boxretry_sending boxretry_sending;

/**
 * A request: to be sent by a client, or what an outcome is about. A client copies all of it, but for what is said to be
 * borrowed. The caller owns it, and it need only live as long as the function runs that it is given to.
 *
 * A client refuses what could end a line, and so smuggle in something else, and sends nothing then: a method is a token
 * of at most 32 characters; the URL is http or https, at most 65536 bytes without white space and control characters,
 * and required; a header's name is a token of at most 256 characters, its value has no control character but the tab;
 * all headers together are at most 1000000 bytes. The library writes Content-Length, Transfer-Encoding and Expect.
 */
typedef struct boxretry_request {
  size_t struct_size;
  const char *method;             /* NULL: "GET" */
  const char *url;                /* may be NULL */
  const boxretry_header *headers; /* NULL if there are none */
  size_t header_count;            /* at most 65536 */
  const void *body;               /* NULL if there is none */
  size_t body_length;             /* bytes */
  void *user_pointer;             /* yours; shown to custom strategies, and kept with the call and its response */
  int32_t retry_safety;           /* BOXRETRY_SAFETY_… */
  int32_t body_is_borrowed; /* flag: `body`, and the data of multipart parts, are not copied: they must stay as they are
                               until the call has ended. Default: 0 */

  /* What follows is for clients. Where it is 0 or NULL, the client's own setting holds. */
  const boxretry_timeouts *timeouts;
  const boxretry_strategy *strategy; /* retained */
  int64_t deadline_ms; /* 0 or more; over all attempts and waits; BOXRETRY_NO_TIMEOUT: none. A wait that would reach it
                                        is not begun (B11) */
  size_t body_limit;   /* bytes of a 2xx response's body; a longer one ends the call (RESPONSE_TOO_LARGE). The client's
                                        own limit is for memory, and for whatever comes compressed */
  boxretry_queue *queue;                                   /* where the call goes when it has ended (retained); or: */
  void (*on_complete)(void *context, boxretry_call *call); /* runs on the loop, once, when the call has ended,
                                                              also a freed one. It must not block, and `call` lives
                                                              until it returns. perform() looks at neither of the two */
  void *on_complete_context;                               /* yours */
  boxretry_cancel *cancel;                                 /* a switch that ends the call; retained */
  const boxretry_body_source *body_source; /* in place of `body`; what it points to is copied. NULL: none */
  const boxretry_sink *sink;               /* NULL: memory */
  void (*on_progress)(void *context, const boxretry_progress *progress); /* runs on the loop while bodies move, some
                                                              times a second; it must not block. NULL: none */
  void *on_progress_context;                                             /* yours */
  void (*before_attempt)(void *context, boxretry_sending *sending);      /* runs on the loop each time before the
                                                              request is sent, and may change its headers; it must not
                                                              block. NULL: the client's */
  void *before_attempt_context;                                          /* yours */
  const char
      *idempotency_key;  /* sent as a header, the same in all attempts, and makes the request safe to be sent again
                                  (B12); 1 to 255 visible characters, or BOXRETRY_IDEMPOTENCY_KEY_RANDOM. NULL: none */
  int32_t max_redirects; /* 1 to 1000; or BOXRETRY_NO_REDIRECTS; 0: the client's */
  int32_t compression;   /* BOXRETRY_SWITCH_…: ask for compressed responses, and unpack them */
  int32_t http_version;  /* BOXRETRY_HTTP_… */
  int32_t authorization; /* BOXRETRY_SWITCH_…; OFF: without an access token. A request that has an Authorization
                            header of its own never gets one (T13) */
  boxretry_token_source *token_source; /* retained; NULL: the client's */
  int64_t connect_timeout_ms;          /* as in boxretry_client_options; 0: the client's; BOXRETRY_NO_TIMEOUT: none */
  int32_t reconnect;                   /* BOXRETRY_SWITCH_…; see boxretry_client_options */
  int32_t reserved;                    /* 0 */
} boxretry_request;

#define BOXRETRY_REQUEST_INIT                                                                                          \
  {                                                                                                                    \
    sizeof(boxretry_request), NULL, NULL, NULL, 0, NULL, 0, NULL, BOXRETRY_SAFETY_BY_METHOD, 0, NULL, NULL, 0, 0,      \
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, 0, 0                    \
  }

/** Does what BOXRETRY_REQUEST_INIT does. `struct_size` is sizeof(boxretry_request). INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_request_init(boxretry_request *request, size_t struct_size);

/* =====================================================================================================================
 * Retry strategy: the decision, without any I/O
 *
 * A strategy never changes once it is made. Any number of threads may use one at once.
 * ================================================================================================================== */

/** Why a network exception happened (B2): constant, value, name, text. */
/* clang-format off */
#define BOXRETRY_CAUSE_MAP(X)                                                                                          \
  X(BOXRETRY_CAUSE_NONE, 0, "none", "no network exception, or one of unknown cause")                                   \
  X(BOXRETRY_CAUSE_RESOLVE, 1, "resolve", "the host name could not be resolved")                                       \
  X(BOXRETRY_CAUSE_CONNECT, 2, "connect", "no connection could be made")                                               \
  X(BOXRETRY_CAUSE_TLS, 3, "tls", "the TLS handshake or the certificate check failed")                                 \
  X(BOXRETRY_CAUSE_SEND, 4, "send", "the request could not be sent")                                                   \
  X(BOXRETRY_CAUSE_RECEIVE, 5, "receive", "the response broke off, or none came")                                      \
  X(BOXRETRY_CAUSE_PROTOCOL, 6, "protocol", "the peer did not speak HTTP properly")                                    \
  X(BOXRETRY_CAUSE_TIMEOUT_IDLE, 7, "timeout_idle", "nothing moved for the request timeout")                           \
  X(BOXRETRY_CAUSE_TIMEOUT_RESOURCE, 8, "timeout_resource", "the attempt took longer than the resource timeout")

/** What to do next: constant, value, name, text. */
#define BOXRETRY_ACTION_MAP(X)                                                                                         \
  X(BOXRETRY_ACTION_STOP, 0, "stop", "no retry: the call has failed with this outcome")                                \
  X(BOXRETRY_ACTION_RETRY, 1, "retry", "wait for the delay, then send the request again")                              \
  X(BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY, 2, "refresh_token_and_retry",                                             \
    "drop the access token, get a new one, wait for the delay, then send the request again")                           \
  X(BOXRETRY_ACTION_SUCCEED, 3, "succeed", "no retry: the call has succeeded with this response")

/** Where a delay comes from: constant, value, name, text. */
#define BOXRETRY_DELAY_MAP(X)                                                                                          \
  X(BOXRETRY_DELAY_NONE, 0, "none", "there is no retry, so there is no delay")                                         \
  X(BOXRETRY_DELAY_BACKOFF, 1, "backoff", "the exponential backoff")                                                   \
  X(BOXRETRY_DELAY_RETRY_AFTER, 2, "retry_after", "a number of seconds in Retry-After")                                \
  X(BOXRETRY_DELAY_RETRY_AFTER_DATE, 3, "retry_after_date", "a date in Retry-After")                                   \
  X(BOXRETRY_DELAY_CUSTOM, 4, "custom", "the custom strategy")

/**
 * Why a decision is what it is: constant, value, name, text.
 *
 * If several rules forbid a retry that the flow allows (B3), the reason is the first of these that applies:
 * unsafe_request, not_replayable, proxy_unauthorized, sink_cannot_restart, attempt_ceiling, retries_exhausted,
 * retry_after_over_cap, deadline, retry_budget_spent.
 */
#define BOXRETRY_REASON_MAP(X)                                                                                         \
  X(BOXRETRY_REASON_SUCCESS, 0, "success", "the response is a success or a redirect")                                  \
  X(BOXRETRY_REASON_NETWORK_EXCEPTION, 1, "network_exception",                                                         \
    "a network exception is retried while there are retries on exception left")                                        \
  X(BOXRETRY_REASON_ACCEPTED, 2, "accepted", "202 with a Retry-After header: the work is not done yet")                \
  X(BOXRETRY_REASON_SERVER_ERROR, 3, "server_error", "the server failed (status 500 or above)")                        \
  X(BOXRETRY_REASON_RATE_LIMITED, 4, "rate_limited", "too many requests (status 429)")                                 \
  X(BOXRETRY_REASON_UNAUTHORIZED, 5, "unauthorized", "401 with auth available: a new token may help")                  \
  X(BOXRETRY_REASON_NOT_RETRYABLE, 6, "not_retryable", "this status is not retried")                                   \
  X(BOXRETRY_REASON_ATTEMPTS_EXHAUSTED, 7, "attempts_exhausted", "max_attempts is reached")                            \
  X(BOXRETRY_REASON_EXCEPTIONS_EXHAUSTED, 8, "exceptions_exhausted", "max_retries_on_exception is reached")            \
  X(BOXRETRY_REASON_RETRIES_EXHAUSTED, 9, "retries_exhausted",                                                         \
    "retries of both kinds together have reached max_attempts")                                                        \
  X(BOXRETRY_REASON_RETRY_AFTER_OVER_CAP, 10, "retry_after_over_cap", "the server asks for a wait above the cap")      \
  X(BOXRETRY_REASON_UNSAFE_REQUEST, 11, "unsafe_request",                                                              \
    "the server may have acted on the request, and sending it again is not safe")                                      \
  X(BOXRETRY_REASON_NOT_REPLAYABLE, 12, "not_replayable", "the body of the request cannot be sent again")              \
  X(BOXRETRY_REASON_DEADLINE, 13, "deadline", "the deadline has passed, or would pass during the wait")                \
  X(BOXRETRY_REASON_ATTEMPT_CEILING, 14, "attempt_ceiling", "max_total_attempts is reached")                           \
  X(BOXRETRY_REASON_CUSTOM, 15, "custom", "the custom strategy decided so")                                            \
  X(BOXRETRY_REASON_SINK_CANNOT_RESTART, 16, "sink_cannot_restart",                                                    \
    "a part of the body is with the caller, who cannot start again")                                                   \
  X(BOXRETRY_REASON_TOKEN_EXPIRED, 17, "token_expired",                                                                \
    "the access token has expired: the request is replayed at once with a new one")                                    \
  X(BOXRETRY_REASON_RETRY_BUDGET_SPENT, 18, "retry_budget_spent", "the retry budget is spent")                         \
  X(BOXRETRY_REASON_PROXY_UNAUTHORIZED, 19, "proxy_unauthorized",                                                      \
    "the proxy refused the credentials, or requires some (status 407)")                                                \
  X(BOXRETRY_REASON_PARTIAL_CONTENT, 20, "partial_content", "the server sent a part of the file: asking for the rest")
/* clang-format on */

enum { BOXRETRY_CAUSE_MAP(BOXRETRY_MAP_CONSTANT) };
enum { BOXRETRY_ACTION_MAP(BOXRETRY_MAP_CONSTANT) };
enum { BOXRETRY_DELAY_MAP(BOXRETRY_MAP_CONSTANT) };
enum { BOXRETRY_REASON_MAP(BOXRETRY_MAP_CONSTANT) };

/** How much of the request left this machine. */
enum {
  BOXRETRY_SENT_UNKNOWN = 0,
  BOXRETRY_SENT_NOTHING = 1, /* not a byte: the server cannot have acted on it */
  BOXRETRY_SENT_SOME = 2
};

/** What is done with a Retry-After above `retry_after_cap`. */
enum {
  BOXRETRY_OVER_CAP_CLAMP = 0, /* wait for the cap */
  BOXRETRY_OVER_CAP_STOP = 1   /* do not retry; the decision has the value in `retry_after` */
};

/** What a response says about when to come back. */
enum {
  BOXRETRY_RETRY_AFTER_ABSENT = 0,    /* it has no Retry-After */
  BOXRETRY_RETRY_AFTER_USABLE = 1,    /* it has one, and its value is in `retry_after` */
  BOXRETRY_RETRY_AFTER_NOT_USABLE = 2 /* it has one that says nothing, so that the backoff is used instead */
};

/** The stable name of a constant, such as "timeout_idle"; "unknown" for a number that is none. Static. Any thread. */
const char *boxretry_cause_name(int32_t cause);
const char *boxretry_action_name(int32_t action);
const char *boxretry_delay_source_name(int32_t delay_source);
const char *boxretry_reason_name(int32_t reason);

/** Why, as a sentence for people. Static; never NULL. Any thread. */
const char *boxretry_reason_text(int32_t reason);

/** A further response header that carries a delay, such as retry-after-ms. Stands in arrays: no struct_size. */
typedef struct boxretry_delay_header {
  const char *name; /* 1 to 256 visible ASCII characters, without a colon; any case. Its value is a number, or a list */
  double unit;      /* the seconds that a value of 1 stands for (0.001 for retry-after-ms); above 0, at most 86400 */
} boxretry_delay_header;

/** How Box's strategy retries (B1), and what goes beyond the source: caps (B11), unsafe methods (B12), jitter (C2). */
typedef struct boxretry_retry_options {
  size_t struct_size;
  int32_t max_attempts;              /* 0 to 1000000; default 5. A response is not retried once so many attempts, of any
                                        kind, have been made; and all retries of a call are never more (B5) */
  int32_t max_retries_on_exception;  /* 0 to 1000000; default 2. Retries after network exceptions */
  double retry_base_interval;        /* seconds, 0 or more, finite; default 1. The first wait is twice as long (B6) */
  double retry_randomization_factor; /* 0 to 1; default 0.5. A delay is multiplied by 1 - factor to 1 + factor */
  double backoff_cap;                /* seconds, 0 or more, finite; no backoff is longer, jitter included. 0 (default):
                                        no cap */
  double retry_after_cap;            /* seconds, 0 or more, finite; no Retry-After wait is longer, jitter included.
                                        0 (default): no cap */
  int32_t retry_after_over_cap;      /* BOXRETRY_OVER_CAP_…: what is done with a longer one. Default: clamp */
  int32_t retry_unsafe_methods; /* 1 (default): every method is retried, as the source does. 0: a POST, a PATCH or a
                                   request marked unsafe only if the server cannot have acted on it (B12); this needs
                                   the outcome's `request` */
  const boxretry_delay_header *delay_headers; /* further headers that count as Retry-After. The first of them that is
                                                 usable wins, and over Retry-After too. NULL (default): none */
  size_t delay_header_count;                  /* at most 16 */

  /* 0 to 1; default 0. A Retry-After is multiplied by a random factor from 1 to 1 + this value, so that clients that
     were given the same delay do not all return at once (C2) */
  double retry_after_jitter;
} boxretry_retry_options;

#define BOXRETRY_RETRY_OPTIONS_INIT                                                                                    \
  { sizeof(boxretry_retry_options), 5, 2, 1.0, 0.5, 0.0, 0.0, BOXRETRY_OVER_CAP_CLAMP, 1, NULL, 0, 0.0 }

/** Does what BOXRETRY_RETRY_OPTIONS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_retry_options_init(boxretry_retry_options *options, size_t struct_size);

/** What there is of the body of a response, in an outcome. */
enum {
  BOXRETRY_BODY_NONE = 0,     /* no response, or its body is not known */
  BOXRETRY_BODY_COMPLETE = 1, /* all of it */
  BOXRETRY_BODY_PARTIAL = 2,  /* its beginning: it broke off, or is longer than what is kept (B15) */
  BOXRETRY_BODY_PENDING = 3   /* nothing yet: a sink is waiting for the decision (B15) */
};

/**
 * How one attempt ended (B2): a response, or a network exception.
 *
 * A response has its status and headers, and cause NONE. A network exception has status 0 and its cause. A response
 * whose body broke off is an exception too: what has a cause is one, whatever its status; if it has a Retry-After, that
 * is the delay. An outcome that nothing was written to is a network exception of unknown cause.
 * The caller owns all of it, and it need only live as long as the call that it is given to.
 */
typedef struct boxretry_outcome {
  size_t struct_size;
  int32_t status;                  /* 100 to 999; 0: a network exception */
  int32_t cause;                   /* BOXRETRY_CAUSE_… */
  const boxretry_header *headers;  /* of the final response, not of redirects on the way; NULL if there are none */
  size_t header_count;             /* at most 65536 */
  int32_t auth_available;          /* flag: a new access token could be got */
  int32_t request_sent;            /* BOXRETRY_SENT_… */
  const boxretry_request *request; /* what was sent, for B12 and custom strategies; NULL (default): not said */
  int32_t body_not_replayable;     /* flag: the request's body cannot be sent again, so there is no retry (R3) */
  int32_t reserved;                /* 0 */
  const void *body;                /* of the response, for custom strategies (B9); NULL: none */
  size_t body_length;              /* bytes */
  int32_t body_state;              /* BOXRETRY_BODY_… */
  int32_t reserved_2;              /* 0 */
  const char *url; /* where the response came from, after redirects, for custom strategies; NULL: not said */
} boxretry_outcome;

#define BOXRETRY_OUTCOME_INIT                                                                                          \
  {                                                                                                                    \
    sizeof(boxretry_outcome), 0, BOXRETRY_CAUSE_NONE, NULL, 0, 0, BOXRETRY_SENT_UNKNOWN, NULL, 0, 0, NULL, 0,          \
        BOXRETRY_BODY_NONE, 0, NULL                                                                                    \
  }

/** Does what BOXRETRY_OUTCOME_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_outcome_init(boxretry_outcome *outcome, size_t struct_size);

/** What to do after an attempt, and why. Start from BOXRETRY_DECISION_INIT: the library needs the struct_size. */
typedef struct boxretry_decision {
  size_t struct_size;
  int32_t action;            /* BOXRETRY_ACTION_… */
  int32_t reason;            /* BOXRETRY_REASON_… */
  double delay;              /* seconds to wait before the next attempt, 0 to 2^31 - 1; 0 if there is none */
  int32_t delay_source;      /* BOXRETRY_DELAY_… */
  int32_t attempt_number;    /* this attempt, from 1 */
  int32_t exception_number;  /* this network exception, from 1; 0 if the attempt ended in a response */
  int32_t retry_after_state; /* BOXRETRY_RETRY_AFTER_… */
  double retry_after; /* seconds that the server asked for, before cap and jitter; -1 if it said nothing usable */
} boxretry_decision;

#define BOXRETRY_DECISION_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(boxretry_decision), BOXRETRY_ACTION_STOP, BOXRETRY_REASON_SUCCESS, 0.0, BOXRETRY_DELAY_NONE, 0, 0,          \
        BOXRETRY_RETRY_AFTER_ABSENT, -1.0                                                                              \
  }

/** Does what BOXRETRY_DECISION_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_decision_init(boxretry_decision *decision, size_t struct_size);

/**
 * Makes Box's strategy. `options` NULL: the documented defaults. Everything in `options` is copied.
 *
 * INVALID_ARGUMENT (the detail names the field, B1). Free with boxretry_strategy_free(). Any thread.
 */
boxretry_error boxretry_strategy_new(const boxretry_retry_options *options, boxretry_strategy **out);

/** What a custom strategy's `action` is preset to: a callback that leaves it so has failed. */
#define BOXRETRY_ACTION_UNANSWERED (-1)

/** What a custom strategy's `delay` is preset to: a callback that leaves it so has failed. */
#define BOXRETRY_DELAY_UNANSWERED (-1e300)

/**
 * A strategy of your own (B9).
 *
 * Both callbacks see every outcome, successes included. They run on the thread that asks for the decision, before the
 * call that asks returns, and from several threads at once if the strategy is used so. What they are given lives until
 * they return. They may call what does not block, and may free any handle, that of their own strategy or loop too.
 * The deadline and the ceiling of a retry loop hold for custom strategies too; `max_attempts` does not exist for them.
 */
typedef struct boxretry_strategy_callbacks {
  size_t struct_size;
  void *context; /* yours; handed to each callback */

  /* Required. Writes BOXRETRY_ACTION_STOP, _RETRY or _REFRESH_TOKEN_AND_RETRY to *action. `attempt_number` counts the
     network exceptions if the outcome is one, else the attempts, from 1 (B4). */
  void (*should_retry)(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action);

  /* Writes the seconds to wait to *delay; called only when there is a retry. NaN and negative count as 0, more than
     2^31 - 1 as that. NULL: Retry-After, else the backoff, as in Box's strategy with its defaults. */
  void (*retry_after)(void *context, const boxretry_outcome *outcome, int32_t attempt_number, double *delay);

  /* Called once, when the last use of the strategy is over, on the thread that ends it; with a client, that may be one
     of its own, shortly after boxretry_client_free(). NULL: nothing to do. */
  void (*context_free)(void *context);
} boxretry_strategy_callbacks;

#define BOXRETRY_STRATEGY_CALLBACKS_INIT                                                                               \
  { sizeof(boxretry_strategy_callbacks), NULL, NULL, NULL, NULL }

/** Does what BOXRETRY_STRATEGY_CALLBACKS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_strategy_callbacks_init(boxretry_strategy_callbacks *callbacks, size_t struct_size);

/**
 * Makes a custom strategy. If this fails, `context` stays the caller's: `context_free` is not called.
 *
 * A client asks it on threads of its own, at most four. While four callbacks are running, further calls wait for their
 * decisions; their deadlines and cancels still work. Transfers, and calls with other strategies, are not delayed.
 *
 * INVALID_ARGUMENT. Free with boxretry_strategy_free(). Any thread.
 */
boxretry_error boxretry_strategy_new_custom(const boxretry_strategy_callbacks *callbacks, boxretry_strategy **out);

/**
 * Asks whether the outcome is retried (B3), and after what delay.
 *
 * `attempt_number`: for a network exception the number of the exception, else that of the attempt, from 1; 0 is
 * accepted, a negative one is not. The bound over both kinds (B5), a deadline and a ceiling are the retry loop's. The
 * decision's attempt_number is the number that was given. Any outcome 200 to 399 that is not retried SUCCEEDs.
 *
 * INVALID_ARGUMENT, CALLBACK_FAILED (custom strategies), FORKED. Any thread.
 */
boxretry_error boxretry_strategy_should_retry(const boxretry_strategy *strategy, const boxretry_outcome *outcome,
                                              int32_t attempt_number, boxretry_decision *out);

/**
 * The delay before a retry of this outcome, in seconds: Retry-After (B7) or the backoff (B6), whether or not the
 * outcome would be retried. Caps apply; a Retry-After above a cap that stops is given as it is. `attempt_number`: 0 or
 * more, as in boxretry_strategy_should_retry().
 *
 * INVALID_ARGUMENT, CALLBACK_FAILED (custom strategies), FORKED. Any thread.
 */
boxretry_error boxretry_strategy_retry_after(const boxretry_strategy *strategy, const boxretry_outcome *outcome,
                                             int32_t attempt_number, double *delay_out);

/** Ends a strategy. NULL is accepted. Anywhere, any thread. */
void boxretry_strategy_free(boxretry_strategy *strategy);

/* =====================================================================================================================
 * Backoff and Retry-After: the arithmetic by itself
 * ================================================================================================================== */

/**
 * 2^attempt_number * retry_base_interval * a factor (B6), in seconds, at most 2^31 - 1 and at most `backoff_cap`.
 *
 * `options` NULL: the defaults. `attempt_number`: 0 or more. `unit_random`: where in the range of the jitter, 0 (1 -
 * retry_randomization_factor) to 1 (1 + retry_randomization_factor); 0.5 is the middle, without jitter.
 *
 * INVALID_ARGUMENT. Any thread.
 */
boxretry_error boxretry_backoff_delay(const boxretry_retry_options *options, int32_t attempt_number, double unit_random,
                                      double *delay_out);

/**
 * The value of a Retry-After header line in seconds, 0 to 2^31 - 1 (B7): a decimal number, a list of such numbers (the
 * largest), or an HTTP date in any of its three forms.
 *
 * `unix_time`: the time from which a date counts, in seconds since 1970, -62135596800 (year 1) to 253402300799 (year
 * 9999): the response's own Date, or now.
 *
 * INVALID_ARGUMENT; NOT_USABLE if the value is none of these, so that the backoff is to be used. Any thread.
 */
boxretry_error boxretry_parse_retry_after(const char *value, int64_t unix_time, double *seconds_out);

/* =====================================================================================================================
 * Retry budget: bounds what the retries of many calls add to the load of a server that is down
 *
 * A budget starts full. Each retry takes 1 from it, and each success gives back a fraction; at half of the capacity or
 * below, calls end instead of being retried, with the reason retry_budget_spent (C1). First attempts are never refused.
 * Clients and retry loops may share one budget, and any number of threads may use it at once.
 * ================================================================================================================== */

/** A retry budget. Thread-safe. */
typedef struct boxretry_budget boxretry_budget;

/**
 * Makes a budget, which starts full. `capacity`: retries, 1 to 1000000; half of them can be taken before a success
 * gives something back. `ratio`: what a success gives back, 0 to 1 retries; 0: 0.1.
 *
 * INVALID_ARGUMENT. Free with boxretry_budget_free(). Any thread.
 */
boxretry_error boxretry_budget_new(int32_t capacity, double ratio, boxretry_budget **out);

/** What a budget has allowed and refused so far. */
typedef struct boxretry_budget_stats {
  size_t struct_size;
  int64_t taken;      /* retries that were allowed */
  int64_t given_back; /* successes, each of which gave back the ratio, up to the capacity */
  int64_t refused;    /* retries that were not allowed */
  double level;       /* what the budget holds now, 0 to its capacity */
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

/* =====================================================================================================================
 * Retry loop: for callers who send their requests themselves
 *
 * One loop for each call. Feed it each attempt's outcome, and it says what to do next. It counts attempts and network
 * exceptions (B4), keeps their common bound (B5), the deadline (B11) and the ceiling (B14). A loop is used by one
 * thread at a time.
 * ================================================================================================================== */

/** Tells the time; see the section Clock. */
typedef struct boxretry_clock boxretry_clock;

/** How a retry loop runs. */
typedef struct boxretry_loop_options {
  size_t struct_size;
  int32_t auth_available; /* flag: a new access token could be got, for every outcome (or say so in the outcome) */
  int64_t deadline_ms;    /* over all attempts and waits, from boxretry_retry_loop_new(); 1 or more; default: none. A
                             wait that would reach it is not begun */
  const boxretry_clock *clock; /* NULL (default): the system's. Retained */
  uint64_t seed;               /* of the jitter; the same seed gives the same delays, with the same version of the
                                  library. 0 (default): random */
  int32_t max_total_attempts;  /* ceiling of attempts for any strategy; 1 to 1000000. 0 (default): 1000 for a custom
                                  strategy, none for Box's, which has max_attempts (B14) */
  int32_t reserved;            /* 0 */
  boxretry_budget *budget;     /* charged by boxretry_retry_loop_next(): each retry takes from it, a success gives back
                                  (C1). Retained. NULL (default): no budget */
} boxretry_loop_options;

#define BOXRETRY_LOOP_OPTIONS_INIT                                                                                     \
  { sizeof(boxretry_loop_options), 0, BOXRETRY_NO_TIMEOUT, NULL, 0, 0, 0, NULL }

/** Does what BOXRETRY_LOOP_OPTIONS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_loop_options_init(boxretry_loop_options *options, size_t struct_size);

/** The state of one call's retries. One thread at a time. */
typedef struct boxretry_retry_loop boxretry_retry_loop;

/**
 * Begins a call; its deadline counts from here. `options` NULL: the defaults. The strategy, the clock and the budget
 * are retained.
 *
 * INVALID_ARGUMENT, FORKED. Free with boxretry_retry_loop_free(). Any thread.
 */
boxretry_error boxretry_retry_loop_new(const boxretry_strategy *strategy, const boxretry_loop_options *options,
                                       boxretry_retry_loop **out);

/**
 * Takes the outcome of the next attempt and says what to do. After STOP, SUCCEED or CALLBACK_FAILED the loop has ended.
 *
 * SUCCEED is the end with any response from 200 to 399, even if it came after the deadline; a 202 that asked for a
 * longer wait than was allowed is among them, with a reason other than success (B10). If you cannot get a new token
 * after REFRESH_TOKEN_AND_RETRY, free the loop: the call has failed. A loop does not watch the attempt under way: your
 * transport limits how long it takes.
 *
 * INVALID_ARGUMENT (the attempt was not counted), CALLBACK_FAILED (custom strategies), ENDED, FORKED; IN_CALLBACK if
 * called from a callback of this very loop. One thread at a time.
 */
boxretry_error boxretry_retry_loop_next(boxretry_retry_loop *loop, const boxretry_outcome *outcome,
                                        boxretry_decision *out);

/** Ends a loop. NULL is accepted. Anywhere, any thread. */
void boxretry_retry_loop_free(boxretry_retry_loop *loop);

/* =====================================================================================================================
 * Token retry policy: how often and how fast a token provider is asked again
 * ================================================================================================================== */

/** January's policy for failures of a token provider that are marked retryable (T5). */
typedef struct boxretry_token_retry_policy {
  size_t struct_size;
  int32_t maximum_attempts; /* calls to the provider, the first one included; 1 or more; default 9 */
  double initial_delay;     /* seconds, 0 or more, finite; default 1 */
  double multiplier;        /* 1 or more, finite; default 2 */
  double maximum_delay;     /* seconds, 0 or more, finite; default 8. No wait is longer, jitter included */
  double jitter_ratio;      /* 0 to 1; default 0.2. A wait is drawn from its value -/+ this part of it */
} boxretry_token_retry_policy;

#define BOXRETRY_TOKEN_RETRY_POLICY_INIT                                                                               \
  { sizeof(boxretry_token_retry_policy), 9, 1.0, 2.0, 8.0, 0.2 }

/** A single attempt: no retry. */
#define BOXRETRY_TOKEN_RETRY_POLICY_NONE                                                                               \
  { sizeof(boxretry_token_retry_policy), 1, 1.0, 2.0, 8.0, 0.2 }

/** Does what BOXRETRY_TOKEN_RETRY_POLICY_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_token_retry_policy_init(boxretry_token_retry_policy *policy, size_t struct_size);

/**
 * The wait after the `failed_attempt`-th failed call, in seconds, at most 2^31 - 1. By default 1 2 4 8 8 8 8 8 in the
 * middle. Arithmetic only: that no wait follows the failure number `maximum_attempts` is the caller's to see.
 *
 * `policy` NULL: the default. `failed_attempt`: 1 or more. `unit_random`: where in the range of the jitter, 0 to 1.
 *
 * INVALID_ARGUMENT. Any thread.
 */
boxretry_error boxretry_token_delay(const boxretry_token_retry_policy *policy, int32_t failed_attempt,
                                    double unit_random, double *delay_out);

/* =====================================================================================================================
 * Clock: the system's, or one that only moves when told, so that retries can be tested without waiting
 *
 * Where a function takes a clock, NULL is the system's. Any number of threads may use a manual clock at once. Clients
 * use the system's.
 * ================================================================================================================== */

/** The three clocks in one. */
enum {
  BOXRETRY_TIMELINE_MONOTONIC = 0, /* never set back; rests while the machine sleeps. Backoff waits, idle timeouts */
  BOXRETRY_TIMELINE_BOOTTIME = 1,  /* never set back; goes on while the machine sleeps. Deadlines, lives of tokens */
  BOXRETRY_TIMELINE_WALL = 2       /* seconds since 1970; can be set. Dates in headers */
};

/**
 * Makes a clock that stands still. All its timelines begin at 0.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY. Free with boxretry_clock_free(). Any thread.
 */
boxretry_error boxretry_clock_new_manual(boxretry_clock **out);

/**
 * Moves all timelines on, and ends each wait whose time has come. `seconds`: 0 to 2^31 - 1; a manual clock goes up to
 * 2^32 seconds in all, and is refused beyond.
 *
 * INVALID_ARGUMENT, FORKED. Any thread.
 */
boxretry_error boxretry_clock_advance(boxretry_clock *clock, double seconds);

/**
 * Moves boottime and wall clock on, as if the machine had slept.
 *
 * As boxretry_clock_advance() in all else: INVALID_ARGUMENT, FORKED. Any thread.
 */
boxretry_error boxretry_clock_suspend(boxretry_clock *clock, double seconds);

/**
 * Sets the wall clock alone. `unix_time`: seconds since 1970, -62135596800 (year 1) to 253402300799 (year 9999).
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
 * Waits until `seconds` (0 to 2^31 - 1) have passed on the clock's monotonic timeline. NULL: the system's. On a manual
 * clock, it is another thread that must advance it; a program with one thread advances the clock instead of sleeping.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, CLOSED (the clock was freed meanwhile), IN_CALLBACK, FORKED. Any thread.
 */
boxretry_error boxretry_clock_sleep(const boxretry_clock *clock, double seconds);

/**
 * Waits, in real time, until someone waits on this manual clock for a time that has not come yet. With it a test
 * knows that it may advance the clock. (A running call of a token provider is such a wait, for its timeout, unless that
 * is BOXRETRY_NO_TIMEOUT.) `timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT.
 *
 * INVALID_ARGUMENT, WAIT_TIMEOUT, CLOSED (the clock was freed meanwhile), IN_CALLBACK, FORKED. Any thread.
 */
boxretry_error boxretry_clock_wait_for_timer(boxretry_clock *clock, int64_t timeout_ms);

/** Ends a manual clock, and the waits on it (CLOSED). NULL is accepted. Anywhere, any thread. */
void boxretry_clock_free(boxretry_clock *clock);

/* =====================================================================================================================
 * Token source: an access token that is simply always right
 *
 * A source asks a provider for a token when one is needed, keeps it in memory only, renews it before it expires, and
 * shares one provider call among all who need a token meanwhile (T3). There are three kinds of providers: a callback of
 * yours, a fixed token, and an HTTP token endpoint. Any number of threads may use a source at once, and one source may
 * serve many clients.
 *
 * No log, event or error text has a token in it; where one must be told from another, it is by its generation, a number
 * that grows from 1 (T1). The library's own memory of a token is overwritten when the last use of it is over.
 * ================================================================================================================== */

/** A token, as it was when it was asked for. It never changes: any number of threads may read it at once. */
typedef struct boxretry_token boxretry_token;

/** One call of a provider, to be answered once. Any number of threads may use it at once. */
typedef struct boxretry_token_request boxretry_token_request;

/** How a token source works, and its provider. */
typedef struct boxretry_token_options {
  size_t struct_size;
  void *context; /* yours; handed to each callback */

  /* Required. Gets a token, and answers the request with boxretry_token_request_succeed(), _fail() or _cancel(): before
     it returns, or later from any thread, if it has called boxretry_token_request_retain(). To return, or to release
     the request for the last time, without an answer is a failure that is not retried (T4). Runs on a thread of its own
     and may block. A source calls it again only after this call has been answered or has passed provider_timeout_ms,
     even if this call is still running; if 16 are still running, the next one fails at once (EXHAUSTED). To wait for a
     token, or to perform a request, inside it is refused (IN_CALLBACK). */
  void (*provider)(void *context, boxretry_token_request *request);

  /* Called once, when the last use of the source is over (a provider call that is still running is one), on the thread
     that ends it. NULL: nothing to do. */
  void (*context_free)(void *context);

  const boxretry_token_retry_policy
      *policy;           /* for failures that are marked retryable (T5); NULL (default): the defaults */
  double refresh_leeway; /* seconds, 0 or more, finite; default 60. A token is used while more than this remains of
                                  its life (T2); a new one must live longer than this, and longer than 60 (T6) */
  int64_t provider_timeout_ms; /* of one provider call; 1 or more; default BOXRETRY_NO_TIMEOUT. Passing it is a
                                  retryable failure */
  int64_t fetch_timeout_ms;    /* of all calls and waits for one token; 1 or more; default: none */
  double
      refresh_ahead_window; /* seconds, 0 or more, finite; 0 (default): off. So long before the leeway, at most half the
                                  token's life, the token is renewed while callers still get the old one: by the first
                                  one who asks after a random moment (T11) */
  int32_t serve_stale; /* flag, default 0: a token that is within the leeway but has not expired is returned at once,
                          while a refresh runs in the background, and also after a refresh failed; the next refresh then
                          waits for the policy's next delay (T11) */
  int32_t reserved;    /* 0 */
  const boxretry_clock
      *clock; /* NULL (default): the system's. Retained. It rules the lives of tokens, the waits between
                                  calls and their timeouts; how long somebody waits for a token is real time */
  const char
      *initial_token; /* a token that is known already, used before the first fetch: 1 to 16384 bytes, each in 0x21
                                to 0x7E; copied. NULL (default): none (T12) */
  double initial_expires_in; /* seconds of life that initial_token has left; above 0 and finite. Ignored without it */
} boxretry_token_options;

#define BOXRETRY_TOKEN_OPTIONS_INIT                                                                                    \
  {                                                                                                                    \
    sizeof(boxretry_token_options), NULL, NULL, NULL, NULL, 60.0, BOXRETRY_NO_TIMEOUT, BOXRETRY_NO_TIMEOUT, 0.0, 0, 0, \
        NULL, NULL, 0.0                                                                                                \
  }

/** Does what BOXRETRY_TOKEN_OPTIONS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_token_options_init(boxretry_token_options *options, size_t struct_size);

/**
 * Makes a source with a provider of your own. If this fails, `context` stays the caller's: `context_free` is not
 * called.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, FORKED. Free with boxretry_token_source_free(). Any thread.
 */
boxretry_error boxretry_token_source_new(const boxretry_token_options *options, boxretry_token_source **out);

/**
 * Makes a source of one token that never expires and cannot be refreshed. It is never dropped: a 401 to it is an
 * ordinary response (B8, T12). `token` is copied, without white space around it; 1 to 16384 bytes, each in 0x21 to
 * 0x7E.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY. Free with boxretry_token_source_free(). Any thread.
 */
boxretry_error boxretry_token_source_new_fixed(const char *token, boxretry_token_source **out);

/**
 * An HTTP token endpoint (T12): the source gets each token with a POST of a form, as in OAuth 2.0. The answer is a JSON
 * object of at most 65536 bytes, with `access_token` (or `token`) and `expires_in` (or `expiresIn`; a number, or a
 * string with a number).
 *
 * Network exceptions and the statuses 408, 429 and 500 or above are retryable failures. The Retry-After of a 429 or 503
 * is the least wait before the next request (T7). Any other answer without a token is a failure that is not retried:
 * its text has the status, and the code of {"error": …}. Redirects are not followed.
 *
 * Box's client credentials grant: the URL is https://api.box.com/oauth2/token, and the fields are grant_type
 * (client_credentials), client_id, client_secret, box_subject_type (enterprise or user) and box_subject_id.
 */
typedef struct boxretry_token_endpoint_options {
  size_t struct_size;
  const char *url; /* required; https, or http to this very machine (localhost, 127.0.0.0/8, ::1), past any
                                     proxy of the environment, and not if a proxy was given */
  const boxretry_header *fields;  /* of the form: names and values, any bytes. NULL if there are none */
  size_t field_count;             /* at most 65536 */
  const boxretry_header *headers; /* further headers, as of a request to be sent; NULL if there are none */
  size_t header_count;            /* at most 65536 */
  const char
      *refresh_token; /* sent as the field refresh_token, and replaced by the `refresh_token` of an answer, if it has
                                one; NULL (default): none */
  void *context;      /* yours; handed to each callback */

  /* Called with each refresh token that replaces another, before the access token that came with it is returned, so
     that you can store it. It runs on a thread of the source. The text is valid until it returns. NULL: not called. */
  void (*on_refresh_token)(void *context, const char *refresh_token);

  /* Called once, when the last use of the source is over, on the thread that ends it. NULL: nothing to do. */
  void (*context_free)(void *context);

  const boxretry_token_retry_policy
      *policy;                 /* as in boxretry_token_options, like all up to `clock`; NULL (default): the
                                                defaults */
  double refresh_leeway;       /* seconds, 0 or more, finite; default 60 */
  int64_t provider_timeout_ms; /* of one request; 1 or more; default 10000 */
  int64_t fetch_timeout_ms;    /* 1 or more; default: none */
  double refresh_ahead_window; /* seconds, 0 or more, finite; 0 (default): off */
  int32_t serve_stale;         /* flag, default 0 */
  int32_t
      allow_insecure; /* flag, default 0: http to other machines, and through proxies, too, where everybody on the way
                         reads the secrets */
  const boxretry_clock *clock;       /* NULL (default): the system's. Retained. Requests are timed by the system's */
  const boxretry_timeouts *timeouts; /* of a request; NULL (default): the defaults */
  const char *user_agent; /* as in boxretry_client_options, like those below; NULL: "boxretry/" and the version */
  const char *ca_file;    /* NULL: the system's certificates */
  const char *proxy;      /* for BOXRETRY_PROXY_GIVEN alone, else NULL: its URL, as that of a client */
  int32_t proxy_mode;     /* BOXRETRY_PROXY_… */
  int32_t reserved;       /* 0 */

  /* BOXRETRY_SWITCH_…; OFF: accept any certificate, for any host name, so that anyone on the way can read the secrets
     of the form. Default: ON */
  int32_t tls_verify;
  int32_t reserved_2; /* 0 */

  /* A directory of certificates in PEM form, named by hash as `openssl rehash` does, that are trusted instead of the
     system's; with ca_file, the certificates of both. NULL (default): none */
  const char *ca_path;

  /* Seconds that a token lives if its answer has neither expires_in nor expiresIn; 0 or more, finite. 0 (default): such
     an answer is an error that says so */
  double default_expires_in;

  /* A token that is known already, used before the first request: 1 to 16384 bytes, each in 0x21 to 0x7E, without the
     white space around it; copied. NULL (default): none (T12) */
  const char *initial_token;
  double initial_expires_in; /* seconds of life that initial_token has left; above 0 and finite. Ignored without it */
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
 * Makes a source of an HTTP token endpoint. If this fails, `context` stays the caller's.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED, FORKED. Free with boxretry_token_source_free(). Any thread.
 */
boxretry_error boxretry_token_source_new_endpoint(const boxretry_token_endpoint_options *options,
                                                  boxretry_token_source **out);

/**
 * Gets a token, and waits for one if necessary. `timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT; 0 does not wait, but
 * starts a fetch if there is no token, and is allowed in any callback except this source's provider. `cancel`: a switch
 * that ends the wait; NULL: none. Neither ends the fetch: other callers, and later ones, get its result (T9).
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED, WAIT_TIMEOUT, CANCELLED (by the switch, or by the provider, as the detail
 * says), CLOSED (the source was freed meanwhile), IN_CALLBACK, FORKED; and the provider's failures (T6):
 * INVALID_CLIENT_TOKEN, INVALID_CLIENT_TOKEN_EXPIRATION, CLIENT_TOKEN_PROVIDER_FAILED (the detail says how, after how
 * many calls, and the provider's own text if the failure was not retryable). Free the token with boxretry_token_free().
 * Any thread.
 */
boxretry_error boxretry_token_source_get(boxretry_token_source *source, int64_t timeout_ms, boxretry_cancel *cancel,
                                         boxretry_token **out);

/**
 * Gets a token without waiting, for event loops: `on_token` is called once, with BOXRETRY_OK and a token, which it must
 * free or pass on, or with an error as of boxretry_token_source_get() and NULL. Inside it boxretry_last_error_detail()
 * says why.
 *
 * It runs on a thread of the library, must not block, and may call any function that does not block. To continue in
 * your event loop, wake the loop from it (uv_async_send(), call_soon_threadsafe(), an eventfd). If the source has a
 * token, it runs before this function returns, on this thread. `cancel`: as above; a switch that is already triggered
 * ends it at once.
 *
 * INVALID_ARGUMENT, IN_CALLBACK (inside the provider of this source), FORKED: then `on_token` is not called. Any
 * thread.
 */
boxretry_error boxretry_token_source_get_async(boxretry_token_source *source, boxretry_cancel *cancel,
                                               void (*on_token)(void *context, boxretry_error error,
                                                                boxretry_token *token),
                                               void *context);

/**
 * Drops a rejected token, if the source still holds it, so that many rejections of one token cause one refresh (T8).
 * The token is given by its bytes or, better, by its generation. It is not an error if the source does not hold this
 * token.
 *
 * INVALID_ARGUMENT, FORKED. Any thread.
 */
boxretry_error boxretry_token_source_invalidate(boxretry_token_source *source, const char *token);
boxretry_error boxretry_token_source_invalidate_generation(boxretry_token_source *source, uint64_t generation);

/**
 * Forgets the token. A provider call in progress still completes for its current waiters; later callers start a new one
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
 * The token as text that ends in NUL, and its length without it. They live as long as the boxretry_token. For NULL, and
 * for a token from before a fork(), "" and 0. Any thread.
 */
const char *boxretry_token_bytes(const boxretry_token *token);
size_t boxretry_token_length(const boxretry_token *token);

/** The number by which the source knows this token, from 1; 0 for NULL. Any thread. */
uint64_t boxretry_token_generation(const boxretry_token *token);

/** The seconds that are left of its life now; 0 if it is over, 2^31 - 1 at most. 0 for NULL. Any thread. */
double boxretry_token_expires_in(const boxretry_token *token);

/** Ends the use of a token; the last one overwrites it. NULL is accepted. Anywhere, any thread. */
void boxretry_token_free(boxretry_token *token);

/**
 * Answers a request with a token of `length` bytes, which are copied, and its life in seconds from now. If the token or
 * its life is not valid, the waiters get the error (T6), and this function succeeds.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, FORKED; TOKEN_REQUEST_ENDED if the request was answered before or has timed out, or
 * its source was freed: nothing of the answer is kept. Anywhere, any thread.
 */
boxretry_error boxretry_token_request_succeed(boxretry_token_request *request, const char *token, size_t length,
                                              double expires_in);

/**
 * Answers a request with a failure. `message`: why, without secrets; if the failure is not retryable, the waiters get
 * its first 160 bytes. NULL: no message. `retryable`: flag; whether to try again, as the policy says (T5).
 *
 * INVALID_ARGUMENT, FORKED, TOKEN_REQUEST_ENDED as above. Anywhere, any thread.
 */
boxretry_error boxretry_token_request_fail(boxretry_token_request *request, const char *message, int retryable);

/**
 * Answers a request: the provider was cancelled. Ends the fetch; its waiters get BOXRETRY_ERROR_CANCELLED, with a
 * detail that says it was the provider (T4).
 *
 * INVALID_ARGUMENT, FORKED, TOKEN_REQUEST_ENDED as above. Anywhere, any thread.
 */
boxretry_error boxretry_token_request_cancel(boxretry_token_request *request);

/** Keeps a request after the provider returns, until it is released as often. NULL is accepted. Any thread. */
void boxretry_token_request_retain(boxretry_token_request *request);

/** Undoes one retain. The last one without an answer is a failure (T4). NULL is accepted. Anywhere, any thread. */
void boxretry_token_request_release(boxretry_token_request *request);

/* =====================================================================================================================
 * Client: sends requests, with the documented retries and timeouts
 *
 * Any number of threads may use a client at once; one client for a program is usual, since it keeps connections. A
 * client has a thread of its own while calls are under way that nobody waits for.
 * ================================================================================================================== */

/** What proxy is used. */
enum {
  BOXRETRY_PROXY_ENVIRONMENT = 0, /* as http_proxy, https_proxy, all_proxy and no_proxy say when the client is made */
  BOXRETRY_PROXY_NONE = 1,
  BOXRETRY_PROXY_GIVEN = 2 /* `proxy` */
};

/** Which of the two sources a client follows. */
enum {
  BOXRETRY_PRESET_BOX = 0,    /* Box's retry strategy, with its defaults; any 401 gets a new token (B8) */
  BOXRETRY_PRESET_JANUARY = 1 /* no retry strategy; a 401 with token_expired is replayed with a new token (R) */
};

/** What happens to a call. */
enum {
  BOXRETRY_EVENT_ATTEMPT_BEGAN = 0,
  BOXRETRY_EVENT_ATTEMPT_ENDED = 1,   /* and it is decided what to do */
  BOXRETRY_EVENT_RECONNECT = 2,       /* the connection was dead: it is sent again at once on a new one (B13) */
  BOXRETRY_EVENT_RETRY_SCHEDULED = 3, /* the wait before the next attempt begins */
  BOXRETRY_EVENT_CALL_ENDED = 4,
  BOXRETRY_EVENT_REDIRECTED = 5,       /* the request goes on to another URL, within its attempt */
  BOXRETRY_EVENT_TOKEN_WAIT_BEGAN = 6, /* there is no access token at hand: the call waits for one */
  BOXRETRY_EVENT_TOKEN_WAIT_ENDED = 7
};

/** One event, for those who watch a client at work. It never has a header, a body or a secret in it. */
typedef struct boxretry_event {
  size_t struct_size;
  int32_t kind;             /* BOXRETRY_EVENT_… */
  int32_t attempt_number;   /* from 1; 0: the call ended before its first attempt */
  int32_t exception_number; /* from 1; 0: none */
  int32_t status;           /* of the attempt; 0: none (yet) */
  int32_t cause;            /* BOXRETRY_CAUSE_… */
  int32_t error;            /* of the call, for CALL_ENDED: as boxretry_response_error() */
  int32_t action;           /* BOXRETRY_ACTION_… */
  int32_t reason;           /* BOXRETRY_REASON_…; -1: nothing has been decided */
  double delay;             /* seconds, where there is a retry */
  int32_t delay_source;     /* BOXRETRY_DELAY_… */
  int32_t reserved;         /* 0 */
  double at_ms;             /* since the call began */
  const char *method;       /* of the request; lives as long as the callback runs */
  const char *url;          /* where redirects have led so far */
  void *user_pointer;       /* of the request */
} boxretry_event;

/** How a client works. What is 0 or NULL is as its comment says. */
typedef struct boxretry_client_options {
  size_t struct_size;
  const boxretry_strategy *strategy; /* NULL: as `preset` says. Retained */
  const boxretry_timeouts *timeouts; /* NULL: the defaults */
  int64_t deadline_ms;               /* of each call; 0 or more; 0 or BOXRETRY_NO_TIMEOUT: none */
  const char *user_agent;            /* no control character but the tab; NULL: "boxretry/" and the version */
  const char *ca_file;              /* certificates in PEM form that are trusted instead of the system's; NULL: these */
  const char *proxy;                /* for BOXRETRY_PROXY_GIVEN alone, else NULL: its URL. http, https, socks4, socks4a,
                                       socks5 or socks5h; without a scheme: http */
  int32_t proxy_mode;               /* BOXRETRY_PROXY_… */
  int32_t max_total_attempts;       /* of each call, reconnects included; 1 to 1000000; 0: 1000 for a custom strategy,
                                       none for Box's, which has max_attempts (B14) */
  int32_t max_transfers;            /* attempts under way at once, the others wait; 1 to 100000; 0: 512 */
  int32_t max_response_headers;     /* lines; 1 to 65536; 0: 1000 */
  size_t max_response_header_bytes; /* of all lines together; 1 to 262144; 0: 262144 */
  size_t body_limit;                /* bytes of a 2xx response's body; 0: 256 MiB */
  size_t error_body_limit;          /* bytes of any other response's body; the rest is cut off; 0: 1 MiB (B15) */
  void (*on_event)(void *context, const boxretry_event *event); /* runs on the loop, and must not block; NULL: none */
  void *on_event_context;                                       /* yours */
  int32_t preset;                                               /* BOXRETRY_PRESET_… */
  int32_t http_version;               /* BOXRETRY_HTTP_…; 0: HTTP/2 over TLS where the server offers it */
  int32_t max_redirects;              /* 1 to 1000; or BOXRETRY_NO_REDIRECTS; 0: 20 */
  int32_t compression;                /* BOXRETRY_SWITCH_…: ask for compressed responses, and unpack them; 0: off */
  int32_t max_transfers_per_host;     /* attempts under way at once to one host and port; 1 to 100000; 0: no limit */
  int32_t max_lookups;                /* names looked up at once, of 8 hosts or more; 1 to 1000; 0: 64 */
  const char *client_certificate;     /* a file in PEM form, with which the client shows who it is; NULL: none */
  const char *client_key;             /* the file with its key, in PEM form; NULL: the same file */
  const char *client_key_password;    /* NULL: none; an encrypted key is then an error */
  const char *unix_socket;            /* path of a socket that all connections are made to; NULL: none */
  const char *const *secret_headers;  /* names of headers that, as Authorization and Cookie, never go to another
                                              scheme, host or port than the request was for (T13). NULL: none */
  size_t secret_header_count;         /* at most 64 */
  const char *idempotency_key_header; /* the header that keys are sent in, a token; NULL: "Idempotency-Key" */
  void (*before_attempt)(void *context, boxretry_sending *sending); /* as that of a request; NULL: none */
  void *before_attempt_context;                                     /* yours */
  /* Runs on the loop before each sending, with libcurl's handle, on which it may set options that the library does not
     have; docs/curl-options.md lists those that it must not set. It must not block. NULL: none */
  void (*on_transfer)(void *context, void *curl_easy);
  void *on_transfer_context; /* yours */

  /* Where access tokens come from, each sent as "Authorization: Bearer …". To wait for one counts against a call's
     deadline, not against an attempt's timeouts. It goes only to the scheme, host and port that the request is for, and
     over http only to this very machine, past any proxy of the environment (else INVALID_ARGUMENT, also if a proxy was
     given). A user and password in a URL give way to it. Retained. NULL: none */
  boxretry_token_source *token_source;
  const char *const *replay_codes; /* a 401 whose body is a JSON object of at most 65536 bytes with one of these as its
                                      `code` drops the token, and is replayed with a new one, at once and once in a call
                                      (R1). Each is a token of at most 256 characters; case matters. NULL: none; with
                                      the preset of January, token_expired */
  size_t replay_code_count;        /* at most 16 */
  int32_t allow_insecure_token;    /* flag: http to other machines, and through proxies, too, where everybody on the way
                                      reads the token */

  /* A budget for the retries of all calls together, which bounds what they add to the load of a server that is down:
     each retry takes 1, each call that succeeds gives back a fraction, and at half of the capacity or below there are
     no retries until successes have given enough back (C1). A reconnect takes 1, too; first attempts, replays and
     redirects take nothing */
  int32_t budget_capacity; /* retries; 1 to 1000000; 0: no budget */
  double budget_ratio;     /* 0 to 1: what a success gives back; 0: 0.1 */

  /* Each connection of an attempt must be ready for its request within this time: name look-up, TCP, a proxy's CONNECT
     and TLS together, or the wait for a connection that another request is making (W5). Passing it is a network
     exception with the cause CONNECT, whose error detail says "timed out" */
  int64_t connect_timeout_ms; /* milliseconds, 0 or more; 0 or BOXRETRY_NO_TIMEOUT: only `timeouts` holds */

  /* BOXRETRY_SWITCH_…; ON: if a kept-alive connection turns out to be dead before a byte of the response came, the
     request is sent again at once on a new one, within its attempt (B13): only an idempotent method, at most once in a
     call. It counts as a retry for max_attempts, max_total_attempts and the budget. OFF: that is a network exception.
     Default: ON with Box's preset, OFF with January's */
  int32_t reconnect;

  /* BOXRETRY_SWITCH_…; OFF: accept any certificate, for any host name. Anyone on the way can then read and change
     everything, tokens included. Default: ON */
  int32_t tls_verify;

  /* A directory of certificates in PEM form, named by hash as `openssl rehash` does, that are trusted instead of the
     system's; with ca_file, the certificates of both. NULL: none */
  const char *ca_path;

  /* Headers of all requests, under the rules of a request's own. A request that has a header of the same name sends its
     own instead. After a redirect to another origin, Authorization, Cookie and `secret_headers` are not sent. (The
     library does not change URLs: append a query for all requests yourself.) NULL if there are none */
  const boxretry_header *headers;
  size_t header_count; /* at most 65536 */

  /* Instead of budget_capacity and budget_ratio: a budget that other clients and retry loops share. Retained. NULL:
     none. INVALID_ARGUMENT if budget_capacity is not 0 as well */
  boxretry_budget *budget;
} boxretry_client_options;

#define BOXRETRY_CLIENT_OPTIONS_INIT                                                                                   \
  {                                                                                                                    \
    sizeof(boxretry_client_options), NULL, NULL, 0, NULL, NULL, NULL, BOXRETRY_PROXY_ENVIRONMENT, 0, 0, 0, 0, 0, 0,    \
        NULL, NULL, BOXRETRY_PRESET_BOX, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, \
        NULL, NULL, 0, 0, 0, 0.0, 0, 0, 0, NULL, NULL, 0, NULL                                                         \
  }

/** Does what BOXRETRY_CLIENT_OPTIONS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_client_options_init(boxretry_client_options *options, size_t struct_size);

/** Sends requests. Thread-safe. */
typedef struct boxretry_client boxretry_client;

/** What a call has come to. One thread at a time. */
typedef struct boxretry_response boxretry_response;

/**
 * Makes a client. `options` NULL: the defaults. Everything in `options` is copied or retained.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED, FORKED. Free with boxretry_client_free(). Any thread.
 */
boxretry_error boxretry_client_new(const boxretry_client_options *options, boxretry_client **out);

/**
 * Makes a client that shares the connections, limits, event callback, budget and counters of another, but sends with
 * other headers, strategy, timeouts or token: for another user, or with extra headers.
 *
 * Options that are 0 or NULL are as in `from`. `headers` are added to those of `from`; a header replaces one of the
 * same name. You can set strategy, timeouts, connect_timeout_ms, deadline_ms, reconnect, max_total_attempts,
 * max_response_headers, max_response_header_bytes, body_limit, error_body_limit, http_version, max_redirects,
 * compression, idempotency_key_header, before_attempt, token_source, allow_insecure_token and headers. All other
 * options must have their defaults.
 *
 * The two are independent: close or free them in any order. Closing one ends its own calls only; the connections close
 * with the last client that shares them, and only the close of that one waits until no thread is inside libcurl (see
 * boxretry_client_close()).
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, CLOSED (`from` was closed), FORKED. Free with boxretry_client_free(). Any thread.
 * (Since 0.2.0.)
 */
boxretry_error boxretry_client_new_derived(boxretry_client *from, const boxretry_client_options *options,
                                           boxretry_client **out);

/**
 * Sends a request, retries it as the strategy says, and waits for the end. OK whenever the call was started: how it
 * ended, cancelled and deadline included, is in the response. Otherwise nothing was sent, and *out is not written.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED, SOURCE (the file of a multipart part), IN_CALLBACK, CLOSED, FORKED. Free
 * the response. Any thread.
 */
boxretry_error boxretry_client_perform(boxretry_client *client, const boxretry_request *request,
                                       boxretry_response **out);

/**
 * Starts to send a request, and returns at once. When the call ends, it goes to the request's queue or callback, if it
 * has one, and boxretry_call_wait() returns. `out` may be NULL if there is a queue (free the call that you take from
 * it) or a callback (the call is freed after it).
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED, SOURCE (the file of a multipart part), CLOSED, FORKED. Free the call. Any
 * thread.
 */
boxretry_error boxretry_client_submit(boxretry_client *client, const boxretry_request *request, boxretry_call **out);

/**
 * Cancels all calls, refuses new ones (CLOSED), and waits until every call has had its end, callbacks included, and no
 * thread of the client is inside libcurl or its TLS library (W8). Clients that share connections (see
 * boxretry_client_new_derived()) also share the threads that use libcurl: closing one of them waits for the ends of its own
 * calls, and when the last of them is closed, close waits for the threads, too.
 * A custom strategy's callback that is still running finishes by itself; its `context_free` says when.
 * `timeout_ms`: 0 or more, or BOXRETRY_NO_TIMEOUT.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, WAIT_TIMEOUT, IN_CALLBACK, FORKED. Any thread.
 */
boxretry_error boxretry_client_close(boxretry_client *client, int64_t timeout_ms);

/** Ends a client: its calls are cancelled, and end without anybody waiting here. NULL is accepted. Anywhere. */
void boxretry_client_free(boxretry_client *client);

/** What a client has done so far. */
typedef struct boxretry_client_stats {
  size_t struct_size;
  int64_t calls_started; /* that were taken on by perform() or submit() */
  int64_t calls_ended;   /* however they ended; no more than were started */
  int64_t attempts;      /* that were begun, first ones and retries; what was sent again within one is not counted */
  int64_t retries;       /* attempts after the first of their call, replays with a new token (R1) among them */
  int64_t reconnects;    /* times that a request was sent again at once, since the connection was dead (B13) */
} boxretry_client_stats;

#define BOXRETRY_CLIENT_STATS_INIT                                                                                     \
  { sizeof(boxretry_client_stats), 0, 0, 0, 0, 0 }

/** Does what BOXRETRY_CLIENT_STATS_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_client_stats_init(boxretry_client_stats *stats, size_t struct_size);

/** Reads a client's counters. INVALID_ARGUMENT, FORKED. Any thread. */
boxretry_error boxretry_client_get_stats(const boxretry_client *client, boxretry_client_stats *out);

/* =====================================================================================================================
 * Call: a request under way
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
 * Ends a call with CANCELLED, unless it has ended already (K1). May be called again. NULL is accepted. Anywhere.
 *
 * With HTTP/2 the server does not learn of it: libcurl 7.88 sends no RST_STREAM for a stream that is given up, here or
 * by a timeout, and the stream counts toward the server's limit until the server ends it or the connection ends.
 */
void boxretry_call_cancel(boxretry_call *call);

/**
 * Resumes a body that a callback has paused. Does nothing to a call that is not paused, but a callback that is about to
 * pause is then called again at once. NULL is accepted. Anywhere, any thread.
 */
void boxretry_call_resume(boxretry_call *call);

/** What the call has come to: once, to whoever asks first after its end; else NULL. Free the response. Any thread. */
boxretry_response *boxretry_call_take_response(boxretry_call *call);

/** The request's user_pointer. NULL for NULL. Any thread. */
void *boxretry_call_user_pointer(const boxretry_call *call);

/** Ends the use of a call; one that has not ended is cancelled. NULL is accepted. Anywhere. */
void boxretry_call_free(boxretry_call *call);

/* =====================================================================================================================
 * Sending: what a `before_attempt` hook sees, and may change
 *
 * One thread at a time: only inside the hook, on its thread. What it changes holds for this one sending.
 * ================================================================================================================== */

/** The number of the attempt, from 1. A redirect and a reconnect are sent within their attempt. 0 for NULL. */
int32_t boxretry_sending_attempt_number(const boxretry_sending *sending);

/** Method and URL, which a redirect may have changed. They live as long as the hook runs. NULL for NULL. */
const char *boxretry_sending_method(const boxretry_sending *sending);
const char *boxretry_sending_url(const boxretry_sending *sending);

/** The request's user_pointer. NULL for NULL. */
void *boxretry_sending_user_pointer(const boxretry_sending *sending);

/**
 * The value of the first header of that name, in any case; NULL if there is none, and for NULL. Valid until a header is
 * set.
 */
const char *boxretry_sending_header(const boxretry_sending *sending, const char *name);

/**
 * Sets a header, in place of all that have its name; `value` NULL removes it. The rules for a request's headers hold.
 * The access token is not shown here; if you set or remove Authorization, the token is not sent.
 *
 * INVALID_ARGUMENT, OUT_OF_MEMORY, FORKED.
 */
boxretry_error boxretry_sending_set_header(boxretry_sending *sending, const char *name, const char *value);

/** Nothing is sent, and the call ends with CALLBACK_FAILED. NULL is accepted. */
void boxretry_sending_fail(boxretry_sending *sending);

/* =====================================================================================================================
 * Response: what a call has come to
 *
 * Strings and bytes belong to the response, and live as long as it does. Functions that do not return a boxretry_error
 * accept NULL and return an empty value. boxretry_response_error() and boxretry_response_token_error() return
 * INVALID_ARGUMENT for NULL, and for a response from before a fork().
 * ================================================================================================================== */

/**
 * How the call ended: OK for any response, also 503; else CANCELLED, DEADLINE, a cause (RESOLVE, …), …
 * boxretry_last_error_detail() then says more, where more is known, else nothing: for SOURCE and SINK, which file or
 * callback and the system's reason; for CALLBACK_FAILED, what the callback did; for RESPONSE_TOO_LARGE, which limit;
 * for SETTING, libcurl's text; and as for boxretry_response_token_error().
 */
boxretry_error boxretry_response_error(const boxretry_response *response);

/**
 * Why the call could not get an access token, if it ended because of that: OK, or an error as of
 * boxretry_token_source_get(); also CLIENT_TOKEN_PROVIDER_FAILED if the new token was the rejected one again.
 * boxretry_last_error_detail() then says more. With B8 it is also how the call ended, with the 401 attached; if a
 * replay was not possible (R4), the call ended with that 401, and this is its cause.
 */
boxretry_error boxretry_response_token_error(const boxretry_response *response);

/**
 * The status; 0: the call ended without a response. A resumed download ends with the 206 of its last part.
 *
 * A call that CANCELLED, DEADLINE, CALLBACK_FAILED or a token error ended keeps the last whole response that one of its
 * attempts received (B10): status, headers, body and URL are then of that one.
 */
int32_t boxretry_response_status(const boxretry_response *response);

/**
 * The reason phrase of the status line, as the server sent it: "Not Found". "" if it sent none, as in HTTP/2, or if the
 * call ended without a response. It lives as long as the response.
 */
const char *boxretry_response_reason_phrase(const boxretry_response *response);

/** The value of the first header line of that name, in any case; NULL if there is none. */
const char *boxretry_response_header(const boxretry_response *response, const char *name);

/**
 * A detail of an error response (status 400 or above), by `name`:
 *
 * - "code": `code` of the JSON body, as Box and January have it, or OAuth's `error`
 * - "message": `message`, `detail`, `error_description` or `title` of the body
 * - "request_id": `request_id` of the body, or the header X-Request-Id or Box-Request-Id
 * - "help_url": `help_url` of the body
 * - "retry_after": the header Retry-After, as the server sent it
 *
 * The first of them that is there is the detail; a member that the body has twice, or that is not a string or is empty,
 * is skipped. NULL if there is none, and for any other name. The body must be a JSON object of at most 65536 bytes in
 * memory. The text comes from the server: show it with care. It lives as long as the response. (Since 0.2.0.)
 */
const char *boxretry_response_error_detail(const boxretry_response *response, const char *name);

/** How many header lines there are. */
size_t boxretry_response_header_count(const boxretry_response *response);

/** One of the header lines, from 0. INVALID_ARGUMENT, FORKED. */
boxretry_error boxretry_response_header_at(const boxretry_response *response, size_t index, boxretry_header *out);

/** The body: never NULL (for NULL it is empty), and `length` (which may be NULL) bytes long; a NUL stands behind it. */
const void *boxretry_response_body(const boxretry_response *response, size_t *length);

/** Whether the body was cut off at `error_body_limit`. */
int32_t boxretry_response_body_is_cut_off(const boxretry_response *response);

/** How many bytes of the body the request's sink has taken. 0 without a sink. */
int64_t boxretry_response_sink_length(const boxretry_response *response);

/** The URL that was fetched: the last one, if there were redirects. */
const char *boxretry_response_url(const boxretry_response *response);

/** The request's user_pointer. */
void *boxretry_response_user_pointer(const boxretry_response *response);

/** One attempt of a call. */
typedef struct boxretry_attempt {
  size_t struct_size;
  int32_t number;           /* from 1 */
  int32_t exception_number; /* from 1; 0 if the attempt ended in a response */
  int32_t status;           /* 0: a network exception */
  int32_t cause;            /* BOXRETRY_CAUSE_… */
  int32_t action;           /* BOXRETRY_ACTION_…: what was decided */
  int32_t reason;           /* BOXRETRY_REASON_…; -1 if the call ended before a decision */
  double delay;             /* seconds before the next attempt */
  int32_t delay_source;     /* BOXRETRY_DELAY_… */
  int32_t reconnects;       /* times that it was sent again at once, since the connection was dead (B13) */
  double started_ms;        /* since the call began */
  double ended_ms;
  double retry_after;    /* seconds that the server asked for; -1 if it said nothing usable */
  int32_t curl_code;     /* libcurl's own code of a failure; 0 */
  int32_t reserved;      /* 0 */
  const char *curl_text; /* what libcurl calls it; "" */
  int32_t redirects;     /* that were followed within the attempt; see boxretry_response_redirect() */
  int32_t http_version;  /* of the response: 10, 11, 20; 0: there was none */
  int64_t resumed_from;  /* bytes that a resumed download had before, and kept; 0: it began at the start */
  int64_t bytes_sent;    /* of the last sending's body, and of its response's; as they went over the line */
  int64_t bytes_received;
  double lookup_ms;     /* from the last sending's start to: the name is known; -1: it did not come so far */
  double connect_ms;    /* the connection stands; 0 for one that was there */
  double tls_ms;        /* the TLS handshake is done; 0 without one */
  double first_byte_ms; /* the first byte of the response */
  int32_t request_sent; /* BOXRETRY_SENT_…: NOTHING or SOME, over all of the attempt's sendings (B12) */
  int32_t reserved_2;   /* 0 */
  int32_t proxy_status; /* of the proxy's answer to CONNECT, for the last sending; 0: there was none (W6) */
  int32_t reserved_3;   /* 0 */
} boxretry_attempt;

#define BOXRETRY_ATTEMPT_INIT                                                                                          \
  {                                                                                                                    \
    sizeof(boxretry_attempt), 0, 0, 0, 0, 0, -1, 0.0, 0, 0, 0.0, 0.0, -1.0, 0, 0, NULL, 0, 0, 0, 0, 0, -1.0, -1.0,     \
        -1.0, -1.0, BOXRETRY_SENT_UNKNOWN, 0, 0, 0                                                                     \
  }

/** Does what BOXRETRY_ATTEMPT_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_attempt_init(boxretry_attempt *attempt, size_t struct_size);

/**
 * How many attempts there were. One that was under way when the call ended is among them (B10), with `status` and
 * `cause` 0 and `reason` -1: `request_sent` and `redirects` say whether the server may have acted on it. A first
 * attempt that was still waiting for its turn or its token is not among them, and neither is one after a 401 that was
 * still waiting for a new token: nothing was sent.
 */
size_t boxretry_response_attempt_count(const boxretry_response *response);

/** One of the attempts, from 0. INVALID_ARGUMENT, FORKED. */
boxretry_error boxretry_response_attempt(const boxretry_response *response, size_t index, boxretry_attempt *out);

/** A redirect that was followed. */
typedef struct boxretry_redirect {
  size_t struct_size;
  int32_t attempt_number; /* the attempt within which it was, from 1 */
  int32_t status;         /* 301, 302, 303, 307 or 308 */
  const char *url;        /* where it led */
} boxretry_redirect;

#define BOXRETRY_REDIRECT_INIT                                                                                         \
  { sizeof(boxretry_redirect), 0, 0, NULL }

/** Does what BOXRETRY_REDIRECT_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_redirect_init(boxretry_redirect *redirect, size_t struct_size);

/** How many redirects were followed, in all attempts. */
size_t boxretry_response_redirect_count(const boxretry_response *response);

/** One of the redirects, from 0, in the order in which they were followed. INVALID_ARGUMENT, FORKED. */
boxretry_error boxretry_response_redirect(const boxretry_response *response, size_t index, boxretry_redirect *out);

/**
 * A request that was sent again at once (B13). Either its connection was dead, and the server may have seen it twice;
 * or the server refused it over HTTP/2 with HTTP_1_1_REQUIRED and did nothing, and it was sent over HTTP/1.1. Such a
 * refusal has the cause PROTOCOL, is not counted, and does not depend on the switch `reconnect`.
 */
typedef struct boxretry_reconnect {
  size_t struct_size;
  int32_t attempt_number; /* the attempt within which it was, from 1 */
  int32_t cause; /* BOXRETRY_CAUSE_…: SEND or RECEIVE, how the old connection failed; PROTOCOL: it was refused */
  double at_ms;  /* milliseconds since the call began */
} boxretry_reconnect;

#define BOXRETRY_RECONNECT_INIT                                                                                        \
  { sizeof(boxretry_reconnect), 0, BOXRETRY_CAUSE_NONE, 0.0 }

/** Does what BOXRETRY_RECONNECT_INIT does. INVALID_ARGUMENT. Any thread. */
boxretry_error boxretry_reconnect_init(boxretry_reconnect *reconnect, size_t struct_size);

/** The number of reconnects in all attempts. */
size_t boxretry_response_reconnect_count(const boxretry_response *response);

/** Writes the reconnect at `index`, from 0, in the order of their time. INVALID_ARGUMENT, FORKED. */
boxretry_error boxretry_response_reconnect(const boxretry_response *response, size_t index, boxretry_reconnect *out);

/** Ends a response. NULL is accepted. Anywhere. */
void boxretry_response_free(boxretry_response *response);

/* =====================================================================================================================
 * Queue: ended calls, for event loops
 *
 * Any number of threads may use a queue at once.
 * ================================================================================================================== */

/** Makes a queue. INVALID_ARGUMENT, OUT_OF_MEMORY, EXHAUSTED. Free with boxretry_queue_free(). Any thread. */
boxretry_error boxretry_queue_new(boxretry_queue **out);

/**
 * A descriptor that is readable while the queue holds ended calls: poll it, but do not read it. -1 for NULL.
 * Any thread.
 */
int boxretry_queue_fd(const boxretry_queue *queue);

/**
 * Takes at most `capacity` (1 or more) ended calls, in the order in which they ended, and waits up to `timeout_ms` for
 * the first one. Returns the number of calls; 0 if the time has passed, or on an error (the detail says which). They
 * are the handles that boxretry_client_submit() returned: free each once. A call that has been freed does not come. Any
 * thread; not in callbacks unless timeout_ms is 0.
 */
size_t boxretry_queue_take(boxretry_queue *queue, boxretry_call **calls, size_t capacity, int64_t timeout_ms);

/** Ends a queue, and with it the calls that only it knows of. NULL is accepted. Anywhere. */
void boxretry_queue_free(boxretry_queue *queue);

/* =====================================================================================================================
 * Cancel switch: ends any number of calls at once
 *
 * Any number of threads may use a switch at once.
 * ================================================================================================================== */

/** Makes a switch. INVALID_ARGUMENT, OUT_OF_MEMORY. Free with boxretry_cancel_free(). Any thread. */
boxretry_error boxretry_cancel_new(boxretry_cancel **out);

/** Cancels every call that has this switch, now and later. May be called again. NULL is accepted. Anywhere. */
void boxretry_cancel_trigger(boxretry_cancel *cancel);

/** Ends the use of a switch; calls keep it as long as they need it. NULL is accepted. Anywhere. */
void boxretry_cancel_free(boxretry_cancel *cancel);

#ifdef __cplusplus
}
#endif

#endif /* BOXRETRY_H */
