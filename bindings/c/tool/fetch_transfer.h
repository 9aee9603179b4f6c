/* boxretry fetch: where the body of the request comes from, and where that of the response goes. */
#ifndef BOXRETRY_TOOL_FETCH_TRANSFER_H
#define BOXRETRY_TOOL_FETCH_TRANSFER_H

#include "fetch.h"
#include "fetch_progress.h"
#include "stream.h"

/** The body of the request. */
typedef struct fetch_source {
  boxretry_body_source source;
  int descriptor; /* that is to be closed; -1 */
  stream stream;
} fetch_source;

/** Gives a request its body. TOOL_GO_ON, or the code to exit with. Ended in both cases. */
int fetch_source_begin(fetch_source *it, const fetch_query *query, boxretry_request *request);

/** After the call. */
void fetch_source_end(fetch_source *it);

/** The body of a 2xx response. */
typedef struct fetch_sink {
  boxretry_sink sink;
  stream stream;
  fetch_progress *progress; /* NULL, unless it stands where the body goes */
  char last_byte;
} fetch_sink;

/** Gives a request a place for the body of its response. False: errno. */
bool fetch_sink_begin(fetch_sink *it, const fetch_job *job, fetch_progress *progress, boxretry_request *request);

/** After the call: waits until all is written, unless the call was canceled. What has failed goes into the job's result. */
void fetch_sink_end(fetch_sink *it, fetch_job *job);

/** A call that is under way, from fetch_call_begin() to fetch_call_end(). */
typedef struct fetch_call {
  fetch_job job;
  fetch_progress table;
  fetch_progress *progress; /* the table, if one is shown */
  fetch_source source;
  fetch_sink sink;
  boxretry_call *call;
  double began; /* seconds */
} fetch_call;

/** What all calls of a run have in common. */
typedef struct fetch_session {
  const fetch_query *query;
  boxretry_client *client;
  boxretry_queue *queue;
  boxretry_cancel *cancel;
  bool shows_table;
} fetch_session;

/** Makes the client, and what else is needed. End it in any case. */
boxretry_error fetch_session_begin(fetch_session *session, const fetch_query *query);
void fetch_session_end(fetch_session *session);

/** Checks a job's URL and headers without sending anything. TOOL_GO_ON, or TOOL_USAGE if the library refuses them. */
int fetch_call_check(const fetch_call *it, const fetch_session *session);

/**
 * Starts a job's call, which will come to the session's queue. TOOL_GO_ON if it has been started, or if not, and the job's result
 * says why (`call` is NULL then); or the code to exit with. End it in any case.
 */
int fetch_call_begin(fetch_call *it, fetch_session *session);

/** Takes what came of it, into the job's result. `signal_number`: of the signal that has ended it; 0. */
void fetch_call_end(fetch_call *it, int signal_number);

#endif
