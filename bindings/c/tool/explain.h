/* boxretry explain: the question, and its answer. */
#ifndef BOXRETRY_TOOL_EXPLAIN_H
#define BOXRETRY_TOOL_EXPLAIN_H

#include "backoff_range.h"
#include "flow.h"
#include "options.h"

/** What the user asks about. */
typedef struct explain_query {
  boxretry_retry_options options;
  boxretry_request request;
  boxretry_outcome outcome;
  header_list headers;
  int32_t attempt_number;
  int32_t as_json;
} explain_query;

/** What the library answers, and the way there. */
typedef struct explain_answer {
  boxretry_decision decision;
  backoff_range range; /* of the delay */
  decision_flow flow;
} explain_answer;

/** Prints the answer as one line of JSON. */
void explain_print_json(const explain_query *query, const explain_answer *answer);

/** Prints the answer for people. */
void explain_print_text(const explain_query *query, const explain_answer *answer);

#endif
