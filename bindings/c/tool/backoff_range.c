/* The range of a backoff: what its jitter leaves open. */
#include "backoff_range.h"

boxretry_error backoff_range_of(const boxretry_retry_options *options, int32_t attempt_number, backoff_range *range) {
  boxretry_error error = boxretry_backoff_delay(options, attempt_number, 0.5, &range->base);
  if (error == BOXRETRY_OK) error = boxretry_backoff_delay(options, attempt_number, 0, &range->least);
  if (error == BOXRETRY_OK) error = boxretry_backoff_delay(options, attempt_number, 1, &range->most);
  return error;
}

void backoff_range_add(backoff_range *total, const backoff_range *range) {
  total->base += range->base;
  total->least += range->least;
  total->most += range->most;
}
