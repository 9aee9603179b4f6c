/* The tables of the public header, indexed by number. */
#include "boxretry.h"
#include "shims.h"

#define NAME_CASE(constant, value, name, text)                                                                         \
  case value:                                                                                                          \
    return name;
#define TEXT_CASE(constant, value, name, text)                                                                         \
  case value:                                                                                                          \
    return text;

#define DEFINE_LOOKUP(function, MAP, CASE, otherwise)                                                                  \
  const char *function(int32_t number) {                                                                               \
    switch (number) {                                                                                                  \
      MAP(CASE)                                                                                                        \
    default:                                                                                                           \
      return otherwise;                                                                                                \
    }                                                                                                                  \
  }

DEFINE_LOOKUP(shim_error_name, BOXRETRY_ERROR_MAP, NAME_CASE, "unknown")
DEFINE_LOOKUP(shim_error_text, BOXRETRY_ERROR_MAP, TEXT_CASE, "not an error of this library")
DEFINE_LOOKUP(shim_cause_name, BOXRETRY_CAUSE_MAP, NAME_CASE, "unknown")
DEFINE_LOOKUP(shim_action_name, BOXRETRY_ACTION_MAP, NAME_CASE, "unknown")
DEFINE_LOOKUP(shim_delay_source_name, BOXRETRY_DELAY_MAP, NAME_CASE, "unknown")
DEFINE_LOOKUP(shim_reason_name, BOXRETRY_REASON_MAP, NAME_CASE, "unknown")
DEFINE_LOOKUP(shim_reason_text, BOXRETRY_REASON_MAP, TEXT_CASE, "not a reason of this library")

const char *shim_version(void) {
  return BOXRETRY_VERSION;
}

const char *shim_default_user_agent(void) {
  return "boxretry/" BOXRETRY_VERSION;
}
