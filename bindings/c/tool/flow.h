/*
 * The documented decision flow as readable questions and answers.
 *
 * The library decides; this code only shows how. It follows the flow independently, and flow_agrees() compares the
 * result with the library's decision.
 */
#ifndef BOXRETRY_TOOL_FLOW_H
#define BOXRETRY_TOOL_FLOW_H

#include <boxretry.h>
#include <stdbool.h>

/** One question of the flow. */
typedef struct flow_step {
  const char *name;    /* stable, such as "server_error" */
  char question[80];   /* text */
  bool answer;         /* yes */
  const char *note;    /* reason for the answer, if the question does not show it; else NULL */
  const char *verdict; /* result of the answer; NULL: the next question follows */
} flow_step;

/** More than the number of questions. */
enum { FLOW_STEP_CAPACITY = 16 };

typedef struct decision_flow {
  flow_step steps[FLOW_STEP_CAPACITY]; /* in the order of the flow */
  size_t step_count;
  int32_t action; /* the result of the flow */
  int32_t reason;
} decision_flow;

/** Whether the attempt ended in a network exception (B2), which includes a response that broke off. */
bool flow_is_exception(const boxretry_outcome *outcome);

/**
 * Follows the flow. Uses only `retry_after_state` and `retry_after` of `decision`, which the library read from the
 * response's headers.
 */
void flow_walk(decision_flow *flow, const boxretry_retry_options *options, const boxretry_outcome *outcome,
               int32_t attempt_number, const boxretry_decision *decision);

/** Whether the flow ends with the library's action and reason. */
bool flow_agrees(const decision_flow *flow, const boxretry_decision *decision);

#endif
