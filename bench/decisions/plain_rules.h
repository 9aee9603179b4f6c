#ifndef PLAIN_RULES_H
#define PLAIN_RULES_H

#include <boxretry.h>

void plain_should_retry(const boxretry_retry_options *options, const boxretry_outcome *outcome, int32_t attempt_number,
                        boxretry_decision *out);

#endif
