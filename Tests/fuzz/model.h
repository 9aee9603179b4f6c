/*
 * What a retry loop must decide: an independent model of B3 to B7, B9 to B12, B14 and R3, for the target `retry_loop`.
 */
#ifndef MODEL_H
#define MODEL_H

#include "fuzz.h"

typedef struct model {
  boxretry_retry_options options; /* of Box's strategy; a custom one has the defaults */
  boxretry_loop_options limits;
  double now; /* seconds on the clock's boottime, which was 0 when the loop was made */

  int32_t attempts, exceptions;

  bool is_custom;
  int32_t custom_action; /* what a custom strategy answered */
  bool has_custom_delay; /* it was asked for a delay, too */
  double custom_delay;
} model;

/* Counts the attempt that ended so. Before the loop is asked, so that callbacks can be checked. */
void model_count(model *model, const boxretry_outcome *outcome);

/* B4: each kind of attempt is counted by itself. */
int32_t model_number(const model *model, const boxretry_outcome *outcome);

bool is_retry(int32_t action);

/* Checks the decision about the attempt that was counted last. */
void model_check(const model *model, const boxretry_outcome *outcome, const boxretry_decision *decision);

#endif
