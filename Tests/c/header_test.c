/* Given nothing but the header, twice: it compiles, and so does each of its macros. Compiled, never run. */
#include "boxretry.h"
#include "boxretry.h"

#if !BOXRETRY_VERSION_AT_LEAST(0, 1, 0) || BOXRETRY_VERSION_AT_LEAST(BOXRETRY_VERSION_MAJOR + 1, 0, 0)
#error "BOXRETRY_VERSION_AT_LEAST"
#endif

const char version[] = BOXRETRY_VERSION;
int version_number = BOXRETRY_VERSION_NUMBER;
int64_t no_timeout = BOXRETRY_NO_TIMEOUT;

boxretry_request request = BOXRETRY_REQUEST_INIT;
boxretry_retry_options retry_options = BOXRETRY_RETRY_OPTIONS_INIT;
boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
boxretry_decision decision = BOXRETRY_DECISION_INIT;
boxretry_strategy_callbacks strategy_callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
boxretry_loop_options loop_options = BOXRETRY_LOOP_OPTIONS_INIT;
boxretry_token_retry_policy token_retry_policy = BOXRETRY_TOKEN_RETRY_POLICY_INIT;
boxretry_token_retry_policy no_token_retry = BOXRETRY_TOKEN_RETRY_POLICY_NONE;

#define NAME(constant, value, name, text) name,
const char *names[] = {BOXRETRY_ERROR_MAP(NAME) BOXRETRY_CAUSE_MAP(NAME) BOXRETRY_ACTION_MAP(NAME)
                           BOXRETRY_DELAY_MAP(NAME) BOXRETRY_REASON_MAP(NAME)};
