/* The range of a wait: the values that jitter can give. */
#ifndef BOXRETRY_TOOL_BACKOFF_RANGE_H
#define BOXRETRY_TOOL_BACKOFF_RANGE_H

#include <boxretry.h>

/** The possible length of one wait, or of several in total, in seconds. */
typedef struct backoff_range {
  double base; /* without jitter */
  double least;
  double most;
} backoff_range;

/** The range of the backoff after that attempt, as the library computes it. Error: INVALID_ARGUMENT. */
boxretry_error backoff_range_of(const boxretry_retry_options *options, int32_t attempt_number, backoff_range *range);

/** The range of the wait for a Retry-After of that number of seconds, after cap and jitter (B11, C2). */
backoff_range retry_after_range(const boxretry_retry_options *options, double seconds);

void backoff_range_add(backoff_range *total, const backoff_range *range);

#endif
