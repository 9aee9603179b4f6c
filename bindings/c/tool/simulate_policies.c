/* The policies of a simulation: predefined ones, and those defined on the command line. */
#include "simulate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sim_ready_made_names[] = {"none",       "fixed",    "box", "box-budget",
                                            "box-jitter", "box-gate", "all", NULL};

/* The budget of one client allows 5 retries before a success adds to it. */
enum { READY_MADE_BUDGET = 10 };

static bool is_one_of(const char *name, const char *first, const char *second) {
  return strcmp(name, first) == 0 || strcmp(name, second) == 0;
}

bool sim_ready_made(const char *name, sim_policy *policy) {
  size_t index = 0;
  while (sim_ready_made_names[index] && strcmp(name, sim_ready_made_names[index]) != 0)
    index++;
  if (!sim_ready_made_names[index]) return false;
  *policy = (sim_policy){.options = BOXRETRY_RETRY_OPTIONS_INIT, .deadline_ms = BOXRETRY_NO_TIMEOUT};
  snprintf(policy->name, sizeof policy->name, "%s", name);
  boxretry_retry_options *options = &policy->options;
  if (strcmp(name, "none") == 0) {
    options->max_attempts = 1;
    options->max_retries_on_exception = 0;
  } else if (strcmp(name, "fixed") == 0) {
    /* The first backoff is twice the base, so the cap makes all backoffs equally long. */
    options->backoff_cap = 1;
    options->retry_randomization_factor = 0;
    options->max_retries_on_exception = options->max_attempts - 1;
  }
  if (is_one_of(name, "box-budget", "all")) policy->budget_capacity = READY_MADE_BUDGET;
  if (is_one_of(name, "box-jitter", "all")) options->retry_after_jitter = 1;
  policy->shares_retry_after = is_one_of(name, "box-gate", "all");
  return true;
}

/* --- NAME:OPTION=VALUE,... --- */

static bool is_name(const char *text) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  const size_t length = strlen(text);
  return length > 0 && length < SIM_NAME_SIZE && text[strspn(text, allowed)] == '\0';
}

/* An option of a policy: a count or a number. */
typedef struct policy_option {
  const char *name;
  int32_t *count;
  double *number;
} policy_option;

static bool read_double(const char *value, double *number) {
  char *end;
  *number = strtod(value, &end);
  return end != value && *end == '\0' && value[strspn(value, "0123456789.eE+-")] == '\0';
}

static bool read_policy_value(const policy_option *option, const char *value) {
  double number;
  if (!read_double(value, &number)) return false;
  if (option->number) {
    *option->number = number;
    return true;
  }
  if (number < INT32_MIN || number > INT32_MAX || number != floor(number)) return false;
  *option->count = (int32_t)number;
  return true;
}

static int set_policy_option(char *assignment, sim_policy *policy) {
  boxretry_retry_options *options = &policy->options;
  double deadline = 0;
  const policy_option known[] = {
      {"max-attempts", &options->max_attempts, NULL},
      {"max-retries-on-exception", &options->max_retries_on_exception, NULL},
      {"retry-base-interval", NULL, &options->retry_base_interval},
      {"retry-randomization-factor", NULL, &options->retry_randomization_factor},
      {"backoff-cap", NULL, &options->backoff_cap},
      {"retry-after-cap", NULL, &options->retry_after_cap},
      {"retry-after-jitter", NULL, &options->retry_after_jitter},
      {"budget-capacity", &policy->budget_capacity, NULL},
      {"budget-ratio", NULL, &policy->budget_ratio},
      {"share-retry-after", &policy->shares_retry_after, NULL},
      {"deadline", NULL, &deadline},
  };
  char quoted_text[QUOTED_SIZE];
  char *value = strchr(assignment, '=');
  if (!value) {
    return usage_error(&simulate_command, "--policy: '%s' has no '='; write OPTION=VALUE",
                       quoted(quoted_text, assignment));
  }
  *value++ = '\0';
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(assignment, known[i].name) != 0) continue;
    if (!read_policy_value(&known[i], value)) {
      return usage_error(&simulate_command, "--policy: %s: '%s' is not a valid number", known[i].name,
                         quoted(quoted_text, value));
    }
    if (known[i].number != &deadline) return TOOL_GO_ON;
    if (!(deadline >= 0.001 && deadline <= 1e9)) {
      return usage_error(&simulate_command, "--policy: deadline: must be from 0.001 to 1e9 seconds");
    }
    policy->deadline_ms = (int64_t)(deadline * 1000 + 0.5);
    return TOOL_GO_ON;
  }
  return usage_error(&simulate_command, "--policy: unknown option '%s'", quoted(quoted_text, assignment));
}

/* The library checks the ranges, and names the option that is out of range. */
static int check_policy(const sim_policy *policy) {
  if (policy->shares_retry_after != 0 && policy->shares_retry_after != 1) {
    return usage_error(&simulate_command, "--policy %s: share-retry-after: must be 0 or 1", policy->name);
  }
  boxretry_strategy *strategy = NULL;
  boxretry_budget *budget = NULL;
  boxretry_error error = boxretry_strategy_new(&policy->options, &strategy);
  if (error == BOXRETRY_OK && policy->budget_capacity != 0) {
    error = boxretry_budget_new(policy->budget_capacity, policy->budget_ratio, &budget);
  }
  boxretry_strategy_free(strategy);
  boxretry_budget_free(budget);
  if (error != BOXRETRY_ERROR_INVALID_ARGUMENT) {
    return error == BOXRETRY_OK ? TOOL_GO_ON : library_error(&simulate_command, error);
  }
  return usage_error(&simulate_command, "--policy %s: %s", policy->name, boxretry_last_error_detail());
}

int sim_parse_policy(char *text, sim_policy *policy) {
  char quoted_text[QUOTED_SIZE];
  char *rest = strchr(text, ':');
  if (rest) *rest++ = '\0';
  if (!is_name(text)) {
    return usage_error(&simulate_command,
                       "--policy: '%s' is not a valid name; use 1 to %d letters, digits, '.', '_' and '-'",
                       quoted(quoted_text, text), SIM_NAME_SIZE - 1);
  }
  if (!sim_ready_made(text, policy)) {
    if (!rest) {
      return usage_error(&simulate_command, "--policy: unknown policy '%s'; to define one, write NAME:OPTION=VALUE,...",
                         text);
    }
    sim_ready_made("box", policy);
    snprintf(policy->name, sizeof policy->name, "%s", text);
  }
  while (rest) {
    char *assignment = rest;
    rest = strchr(assignment, ',');
    if (rest) *rest++ = '\0';
    int exit_code = set_policy_option(assignment, policy);
    if (exit_code != TOOL_GO_ON) return exit_code;
  }
  return check_policy(policy);
}
