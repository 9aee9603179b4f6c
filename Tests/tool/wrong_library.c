/*
 * Preloaded before the library, answers with a decision that contradicts the documented flow: WRONG_ACTION, WRONG_REASON
 * and WRONG_DELAY instead of what the library would say.
 */
#include <boxretry.h>

boxretry_error boxretry_strategy_should_retry(const boxretry_strategy *strategy, const boxretry_outcome *outcome,
                                              int32_t attempt_number, boxretry_decision *out) {
  (void)strategy;
  (void)outcome;
  out->action = WRONG_ACTION;
  out->reason = WRONG_REASON;
  out->delay = WRONG_DELAY;
  out->delay_source = BOXRETRY_DELAY_BACKOFF;
  out->attempt_number = attempt_number;
  return BOXRETRY_OK;
}
