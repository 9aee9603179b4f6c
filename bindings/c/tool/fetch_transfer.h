/* boxretry fetch: the source of the request's body, and the destination of the response's body. */
#ifndef BOXRETRY_TOOL_FETCH_TRANSFER_H
#define BOXRETRY_TOOL_FETCH_TRANSFER_H

#include "fetch.h"
#include "fetch_progress.h"
#include "stream.h"

/** The body of the request. */
typedef struct fetch_source {
  boxretry_body_source source;
  int descriptor; /* to be closed; -1: none */
  stream stream;
} fetch_source;

/** Sets the body of a request. Returns TOOL_GO_ON or the exit code. Call fetch_source_end() in both cases. */
int fetch_source_begin(fetch_source *it, const fetch_query *query, boxretry_request *request);

/** Call after the call has ended. */
void fetch_source_end(fetch_source *it);

/** The body of a 2xx response. */
typedef struct fetch_sink {
  boxretry_sink sink;
  stream stream;
  fetch_progress *progress; /* NULL, unless it is printed to the same place as the body */
  char last_byte;
} fetch_sink;

/** Sets the destination of the response's body. On failure returns false and sets errno. */
bool fetch_sink_begin(fetch_sink *it, const fetch_job *job, fetch_progress *progress, boxretry_request *request);

/** Call after the call has ended: waits until everything is written, unless the call was canceled. Errors go into the
 * job's result. */
void fetch_sink_end(fetch_sink *it, fetch_job *job);

/** A call, from fetch_call_begin() to fetch_call_end(). */
typedef struct fetch_call {
  fetch_job job;
  fetch_progress table;
  fetch_progress *progress; /* NULL: no table is shown */
  fetch_source source;
  fetch_sink sink;
  boxretry_call *call;
  double began; /* seconds */
} fetch_call;

/** What all calls of a run share. */
typedef struct fetch_session {
  const fetch_query *query;
  boxretry_client *client;
  boxretry_queue *queue;
  boxretry_cancel *cancel;
  bool shows_table;
} fetch_session;

/** Creates the client and everything else. Call fetch_session_end() in any case. */
boxretry_error fetch_session_begin(fetch_session *session, const fetch_query *query);
void fetch_session_end(fetch_session *session);

/** Checks the URLs and headers of all jobs without sending anything. Returns TOOL_GO_ON, or TOOL_USAGE if the library
 * rejects them. */
int fetch_calls_check(const fetch_call *calls, size_t count, const fetch_session *session);

/**
 * Starts a job's call, which arrives in the session's queue when it has ended. Returns TOOL_GO_ON if it was started, or
 * if not and the job's result has the error (`call` is NULL then); or returns the exit code. Call fetch_call_end() in
 * any case.
 */
int fetch_call_begin(fetch_call *it, fetch_session *session);

/** Moves the call's result into the job. `signal_number`: of the signal that canceled it; 0: none. */
void fetch_call_end(fetch_call *it, int signal_number);

#endif
