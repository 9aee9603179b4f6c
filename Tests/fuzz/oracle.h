/*
 * What the library should answer, computed in another way: with strtod(), sscanf(), timegm() and long double.
 * Written from docs/semantics.md and the header, not from the library's sources.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "fuzz.h"

/* A decimal number, or a list of which every member is one: the largest, times the unit, saturated (B7, B11). */
bool oracle_number(const char *text, double unit, double *seconds);

/* An HTTP date in any of its three forms; `now` decides the century of two digits (B7). */
bool oracle_date(const char *text, int64_t now, int64_t *unix_time);

/* B6. */
double oracle_backoff(const boxretry_retry_options *options, int32_t attempt_number, double unit_random);

/* T5. */
double oracle_token_delay(const boxretry_token_retry_policy *policy, int32_t failed_attempt, double unit_random);

/* Any number as a delay: NaN and negative ones are 0, large ones saturate (B9). */
double oracle_delay(double seconds);

/* Whether two delays are equal, but for rounding. */
bool nearly_equal(double a, double b, double relative_tolerance);

#endif
