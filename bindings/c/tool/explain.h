/* boxretry explain: the query and its answer. */
#ifndef BOXRETRY_TOOL_EXPLAIN_H
#define BOXRETRY_TOOL_EXPLAIN_H

#include "backoff_range.h"
#include "flow.h"
#include "options.h"

/** The user's query. */
typedef struct explain_query {
  boxretry_retry_options options;
  boxretry_request request;
  boxretry_outcome outcome;
  header_list headers;
  int32_t attempt_number;
  int32_t as_json;
} explain_query;

/** The library's decision, and the questions that lead to it. */
typedef struct explain_answer {
  boxretry_decision decision;
  backoff_range range; /* of the delay */
  decision_flow flow;
} explain_answer;

/** Prints the answer as one line of JSON. */
void explain_print_json(const explain_query *query, const explain_answer *answer);

/** Prints the answer as text. */
void explain_print_text(const explain_query *query, const explain_answer *answer);

#endif
