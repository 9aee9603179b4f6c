/* The range of a wait: the values that jitter can give. */
#include "backoff_range.h"

boxretry_error backoff_range_of(const boxretry_retry_options *options, int32_t attempt_number, backoff_range *range) {
  boxretry_error error = boxretry_backoff_delay(options, attempt_number, 0.5, &range->base);
  if (error == BOXRETRY_OK) error = boxretry_backoff_delay(options, attempt_number, 0, &range->least);
  if (error == BOXRETRY_OK) error = boxretry_backoff_delay(options, attempt_number, 1, &range->most);
  return error;
}

backoff_range retry_after_range(const boxretry_retry_options *options, double seconds) {
  static const double longest_delay = 2147483647.0;
  const double cap = options->retry_after_cap > 0 ? options->retry_after_cap : longest_delay;
  const double jitter = options->retry_after_jitter;
  backoff_range range = {seconds * (1 + 0.5 * jitter), seconds, seconds * (1 + jitter)};
  if (range.base > cap) range.base = cap;
  if (range.least > cap) range.least = cap;
  if (range.most > cap) range.most = cap;
  return range;
}

void backoff_range_add(backoff_range *total, const backoff_range *range) {
  total->base += range->base;
  total->least += range->least;
  total->most += range->most;
}
