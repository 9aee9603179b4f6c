/*
 * The documented decision flow as questions and answers, for people to follow.
 *
 * The library decides; this only shows how. It walks through the flow by itself, and flow_agrees() compares where it
 * ends with what the library decided.
 */
#ifndef BOXRETRY_TOOL_FLOW_H
#define BOXRETRY_TOOL_FLOW_H

#include <boxretry.h>
#include <stdbool.h>

/** One question of the flow. */
typedef struct flow_step {
  const char *name;    /* stable, such as "server_error" */
  char question[80];   /* for people */
  bool answer;         /* yes */
  const char *note;    /* why, where it does not show in the question; NULL: nothing to add */
  const char *verdict; /* where the answer leads; NULL: to the next question */
} flow_step;

/** More questions than there are. */
enum { FLOW_STEP_CAPACITY = 16 };

typedef struct decision_flow {
  flow_step steps[FLOW_STEP_CAPACITY]; /* in the order in which they are asked */
  size_t step_count;
  int32_t action; /* where the flow ends */
  int32_t reason;
} decision_flow;

/** Whether the attempt ended in a network exception (B2): a response that broke off is one too. */
bool flow_is_exception(const boxretry_outcome *outcome);

/**
 * Walks through the flow. Of `decision` it only takes what the library read in the response's headers:
 * `retry_after_state` and `retry_after`.
 */
void flow_walk(decision_flow *flow, const boxretry_retry_options *options, const boxretry_outcome *outcome,
               int32_t attempt_number, const boxretry_decision *decision);

/** Whether the walk has ended where the library did, for the same reason. */
bool flow_agrees(const decision_flow *flow, const boxretry_decision *decision);

#endif
