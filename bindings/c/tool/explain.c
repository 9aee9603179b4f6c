/* boxretry explain: prints what happens after one outcome of an attempt, and which questions lead there. */
#include "explain.h"

static const int32_t status_not_given = INT32_MIN;

#define CHOICE_NAME(constant, value, name, text) [value] = name,
static const char *const cause_names[] = {BOXRETRY_CAUSE_MAP(CHOICE_NAME) NULL};

static const char *const sent_names[] = {[BOXRETRY_SENT_UNKNOWN] = "unknown",
                                         [BOXRETRY_SENT_NOTHING] = "nothing",
                                         [BOXRETRY_SENT_SOME] = "some",
                                         [BOXRETRY_SENT_SOME + 1] = NULL};

/* Asks the library for its decision. */
static boxretry_error decide(const explain_query *query, explain_answer *answer) {
  boxretry_strategy *strategy = NULL;
  boxretry_error error = boxretry_strategy_new(&query->options, &strategy);
  if (error != BOXRETRY_OK) return error;
  boxretry_decision *decision = &answer->decision;
  error = boxretry_strategy_should_retry(strategy, &query->outcome, query->attempt_number, decision);
  boxretry_strategy_free(strategy);
  if (error != BOXRETRY_OK) return error;

  if (decision->delay_source == BOXRETRY_DELAY_BACKOFF) {
    return backoff_range_of(&query->options, query->attempt_number, &answer->range);
  }
  const bool is_retry_after = decision->delay_source != BOXRETRY_DELAY_NONE;
  answer->range = is_retry_after ? retry_after_range(&query->options, decision->retry_after) : (backoff_range){0, 0, 0};
  return BOXRETRY_OK;
}

/* Makes sure that the printed answer matches the library's. Returns TOOL_GO_ON or the exit code. */
static int check_agreement(const explain_answer *answer) {
  const boxretry_decision *decision = &answer->decision;
  if (!flow_agrees(&answer->flow, decision)) {
    return internal_error(&explain_command, "the flow ends in %s (%s), but the library decides %s (%s)",
                          boxretry_action_name(answer->flow.action), boxretry_reason_name(answer->flow.reason),
                          boxretry_action_name(decision->action), boxretry_reason_name(decision->reason));
  }
  if (decision->delay < answer->range.least || decision->delay > answer->range.most) {
    return internal_error(&explain_command, "the library's delay %.17g is not between %.17g and %.17g", decision->delay,
                          answer->range.least, answer->range.most);
  }
  return TOOL_GO_ON;
}

static int explain(explain_query *query) {
  boxretry_outcome *outcome = &query->outcome;
  if (outcome->status == status_not_given) {
    if (outcome->cause == BOXRETRY_CAUSE_NONE) {
      return usage_error(&explain_command, "one of --status and --exception is required");
    }
    outcome->status = 0;
  }
  if (outcome->status != 0 && (outcome->status < 100 || outcome->status > 999)) {
    return usage_error(&explain_command, "--status: must be 0, or from 100 to 999 (got %ld)", (long)outcome->status);
  }
  outcome->headers = query->headers.items;
  outcome->header_count = query->headers.count;
  outcome->request = &query->request;

  explain_answer answer = {.decision = BOXRETRY_DECISION_INIT};
  boxretry_error error = decide(query, &answer);
  if (error != BOXRETRY_OK) return library_error(&explain_command, error);
  flow_walk(&answer.flow, &query->options, outcome, query->attempt_number, &answer.decision);
  int exit_code = check_agreement(&answer);
  if (exit_code != TOOL_GO_ON) return exit_code;
  if (query->as_json) {
    explain_print_json(query, &answer);
  } else {
    explain_print_text(query, &answer);
  }
  return TOOL_OK;
}

static int run(int argc, char **argv) {
  explain_query query = {
      .options = BOXRETRY_RETRY_OPTIONS_INIT,
      .request = BOXRETRY_REQUEST_INIT,
      .outcome = BOXRETRY_OUTCOME_INIT,
      .attempt_number = 1,
  };
  query.outcome.status = status_not_given;
  const tool_option table[] = {
      INTEGER("status", &query.outcome.status, "status of the response, 100 to 999; 0: no response"),
      RECEIVED_HEADERS('H', "header", &query.headers, "response header, 'Name: value'. May be repeated"),
      INTEGER("attempt", &query.attempt_number,
              "number of the attempt, or of the network exception if it ended in one (default 1)"),
      FLAG(0, "auth", &query.outcome.auth_available, "a new access token can be obtained"),
      CHOICE("exception", "CAUSE", &query.outcome.cause, cause_names,
             "the attempt ended in a network exception; the causes are below"),
      TEXT('X', "method", "METHOD", &query.request.method, "method of the request (default GET)"),
      CHOICE("request-sent", "HOW-MUCH", &query.outcome.request_sent, sent_names,
             "how much of the request was sent: unknown (default), nothing or some"),
      FLAG(0, "body-not-replayable", &query.outcome.body_not_replayable, "the request's body cannot be sent again"),
      BACKOFF_OPTIONS(&query.options),
      BEYOND_OPTIONS(&query.options),
      FLAG(0, "json", &query.as_json, "print one line of JSON"),
  };
  int exit_code = read_options(&explain_command, table, sizeof table / sizeof table[0], argc, argv);
  if (exit_code == TOOL_GO_ON) exit_code = explain(&query);
  header_list_free(&query.headers);
  return exit_code;
}

#define HELP_LINE(constant, value, name, text) "  " name ": " text "\n"
#define CAUSE_LINES BOXRETRY_CAUSE_MAP(HELP_LINE)

static const char *const details[] = {"Examples:\n"
                                      "  boxretry explain --status 503 --attempt 2\n"
                                      "  boxretry explain --status 429 -H 'Retry-After: 7'\n"
                                      "  boxretry explain --exception timeout_idle --json\n"
                                      "\n"
                                      "Causes:\n" CAUSE_LINES "\n"
                                      "This explains a single outcome. In a call, max_attempts also limits the total\n"
                                      "number of retries of both kinds.\n"
                                      "\n"
                                      "JSON, an object with:\n"
                                      "  status, cause      as given\n"
                                      "  attempt_number     as given\n"
                                      "  exception_number   as given for a network exception; 0 for a response\n"
                                      "  path               the questions in order, each an object with name,\n"
                                      "                     question (text), answer (true or false)\n"
                                      "  action             stop, retry, refresh_token_and_retry or succeed\n"
                                      "  reason             stable name of the reason\n"
                                      "  reason_text        the same as a sentence\n"
                                      "  delay              seconds, without jitter; 0 if there is no retry\n"
                                      "  delay_least        shortest delay that jitter can give\n"
                                      "  delay_most         longest delay that jitter can give\n"
                                      "  delay_source       none, backoff, retry_after or retry_after_date\n"
                                      "  retry_after_state  absent, usable or not_usable\n"
                                      "  retry_after        seconds requested by the server, or null\n"
                                      "\n"
                                      "Exit codes: 0 for every action; 1 the output could not be written, or out of\n"
                                      "memory; 2 an option or its value is invalid; 3 internal error: the questions\n"
                                      "do not match the library's decision.\n",
                                      NULL};

const tool_command explain_command = {
    .name = "explain",
    .summary = "print whether an outcome is retried, after what delay, and why",
    .details = details,
    .run = run,
};
