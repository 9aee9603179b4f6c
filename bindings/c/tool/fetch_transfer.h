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

/** Gives the request its body. TOOL_GO_ON, or the code to exit with. Ended in both cases. */
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

/** Gives the request a place for the body of its response. False: errno. */
bool fetch_sink_begin(fetch_sink *it, const fetch_query *query, fetch_progress *progress, boxretry_request *request);

/** After the call: waits until all is written, unless the call was cancelled. What has failed goes into the result. */
void fetch_sink_end(fetch_sink *it, const fetch_query *query, fetch_result *result);

#endif
