/* The documented decision flow (B3) and the options that extend it, as questions and answers. */
#define _POSIX_C_SOURCE 200809L

#include "flow.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

/* What the questions are about. */
typedef struct flow_subject {
  const boxretry_retry_options *options;
  const boxretry_outcome *outcome;
  const boxretry_decision *decision;
  int32_t attempt_number;
  bool is_exception;
  bool has_retry_after;
} flow_subject;

/* Records a question, and returns its answer. */
__attribute__((format(printf, 5, 6))) static bool ask(decision_flow *flow, const char *name, bool answer,
                                                      const char *note, const char *question, ...) {
  flow_step *step = &flow->steps[flow->step_count++];
  *step = (flow_step){.name = name, .answer = answer, .note = note};
  va_list arguments;
  va_start(arguments, question);
  vsnprintf(step->question, sizeof step->question, question, arguments);
  va_end(arguments);
  return answer;
}

/* Records where the last answer leads. */
static void conclude(decision_flow *flow, int32_t action, int32_t reason, const char *verdict) {
  flow->action = action;
  flow->reason = reason;
  flow->steps[flow->step_count - 1].verdict = verdict;
}

static void retry(decision_flow *flow, int32_t reason) {
  conclude(flow, BOXRETRY_ACTION_RETRY, reason, "retry");
}

static void do_not_retry(decision_flow *flow, int32_t reason) {
  conclude(flow, BOXRETRY_ACTION_STOP, reason, "no retry");
}

/* The flow, as in its diagram. */
static void walk_documented(decision_flow *flow, const flow_subject *subject) {
  const int32_t status = subject->outcome->status;
  const int32_t number = subject->attempt_number;
  const int32_t max_attempts = subject->options->max_attempts;
  const int32_t max_exceptions = subject->options->max_retries_on_exception;
  const char *accepted_note = NULL;
  if (status == 202 && !subject->has_retry_after) accepted_note = "no Retry-After";
  if (status == 202 && subject->decision->retry_after_state == BOXRETRY_RETRY_AFTER_NOT_USABLE) {
    accepted_note = "invalid value";
  }
  const char *auth_note = status == 401 && !subject->outcome->auth_available ? "no auth" : NULL;
  const char *cause_note = status != 0 && subject->is_exception ? "broken off" : NULL;

  if (ask(flow, "network_exception", subject->is_exception, cause_note, "Status 0 (network exception)?")) {
    if (ask(flow, "exceptions_left", number <= max_exceptions, NULL, "Exception %ld <= max_retries_on_exception (%ld)?",
            (long)number, (long)max_exceptions)) {
      retry(flow, BOXRETRY_REASON_NETWORK_EXCEPTION);
    } else {
      do_not_retry(flow, BOXRETRY_REASON_EXCEPTIONS_EXHAUSTED);
    }
  } else if (ask(flow, "attempts_exhausted", number >= max_attempts, NULL, "Attempt %ld >= max_attempts (%ld)?",
                 (long)number, (long)max_attempts)) {
    do_not_retry(flow, BOXRETRY_REASON_ATTEMPTS_EXHAUSTED);
  } else if (ask(flow, "accepted", status == 202 && subject->has_retry_after, accepted_note,
                 "Status 202 and a Retry-After header?")) {
    retry(flow, BOXRETRY_REASON_ACCEPTED);
  } else if (ask(flow, "server_error", status >= 500, NULL, "Status >= 500 (server error)?")) {
    retry(flow, BOXRETRY_REASON_SERVER_ERROR);
  } else if (ask(flow, "rate_limited", status == 429, NULL, "Status 429 (rate limited)?")) {
    retry(flow, BOXRETRY_REASON_RATE_LIMITED);
  } else if (ask(flow, "unauthorized", status == 401 && subject->outcome->auth_available, auth_note,
                 "Status 401 and auth available?")) {
    conclude(flow, BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY, BOXRETRY_REASON_UNAUTHORIZED,
             "refresh the token, then retry");
  } else {
    do_not_retry(flow, BOXRETRY_REASON_NOT_RETRYABLE);
  }
}

/* Why the server cannot have acted on the request (B12); NULL: it may have. */
static const char *proof_of_inaction(const decision_flow *flow, const flow_subject *subject) {
  if (subject->outcome->request_sent == BOXRETRY_SENT_NOTHING) return "nothing was sent";
  if (flow->action == BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY) return "401";
  if (subject->is_exception) return NULL;
  if (subject->outcome->status == 429) return "429";
  if (subject->outcome->status == 503 && subject->has_retry_after) return "503 with Retry-After";
  return NULL;
}

/* What can prevent a retry in addition to the documented flow. Questions that do not apply to the options are not
 * asked. */
static void walk_beyond(decision_flow *flow, const flow_subject *subject) {
  const boxretry_retry_options *options = subject->options;
  const boxretry_request *request = subject->outcome->request;
  if (!options->retry_unsafe_methods && request) {
    const char *method = request->method ? request->method : "GET";
    bool is_unsafe = strcasecmp(method, "POST") == 0 || strcasecmp(method, "PATCH") == 0;
    if (ask(flow, "unsafe_method", is_unsafe, NULL, "POST or PATCH (not safe to send twice)?")) {
      const char *proof = proof_of_inaction(flow, subject);
      if (!ask(flow, "proven_inaction", proof != NULL, proof, "Is it certain that the server did not act?")) {
        do_not_retry(flow, BOXRETRY_REASON_UNSAFE_REQUEST);
        return;
      }
    }
  }
  if (subject->outcome->body_not_replayable) {
    ask(flow, "replayable", false, NULL, "Can the request's body be sent again?");
    do_not_retry(flow, BOXRETRY_REASON_NOT_REPLAYABLE);
    return;
  }
  if (options->retry_after_cap > 0 && options->retry_after_over_cap == BOXRETRY_OVER_CAP_STOP) {
    bool is_over_cap = subject->decision->retry_after_state == BOXRETRY_RETRY_AFTER_USABLE &&
                       subject->decision->retry_after > options->retry_after_cap;
    if (ask(flow, "over_cap", is_over_cap, NULL, "Retry-After > retry_after_cap (%g s)?", options->retry_after_cap)) {
      do_not_retry(flow, BOXRETRY_REASON_RETRY_AFTER_OVER_CAP);
    }
  }
}

/* A response that is not retried is a success or a failure (B10). */
static void walk_end(decision_flow *flow, const flow_subject *subject) {
  const int32_t status = subject->outcome->status;
  if (!ask(flow, "success", status >= 200 && status < 400, NULL, "Status 200 to 399 (success or redirect)?")) {
    conclude(flow, BOXRETRY_ACTION_STOP, flow->reason, "stop");
    return;
  }
  /* A 202 with Retry-After would normally be retried, so the answer keeps the reason why it is not. */
  bool is_unfinished = status == 202 && subject->has_retry_after;
  conclude(flow, BOXRETRY_ACTION_SUCCEED, is_unfinished ? flow->reason : (int32_t)BOXRETRY_REASON_SUCCESS, "succeed");
}

bool flow_is_exception(const boxretry_outcome *outcome) {
  return outcome->status == 0 || outcome->cause != BOXRETRY_CAUSE_NONE;
}

void flow_walk(decision_flow *flow, const boxretry_retry_options *options, const boxretry_outcome *outcome,
               int32_t attempt_number, const boxretry_decision *decision) {
  const flow_subject subject = {
      .options = options,
      .outcome = outcome,
      .decision = decision,
      .attempt_number = attempt_number,
      .is_exception = flow_is_exception(outcome),
      .has_retry_after = decision->retry_after_state != BOXRETRY_RETRY_AFTER_ABSENT,
  };
  flow->step_count = 0;
  walk_documented(flow, &subject);
  if (flow->action != BOXRETRY_ACTION_STOP) walk_beyond(flow, &subject);
  if (flow->action == BOXRETRY_ACTION_STOP && !subject.is_exception) walk_end(flow, &subject);
}

bool flow_agrees(const decision_flow *flow, const boxretry_decision *decision) {
  return flow->action == decision->action && flow->reason == decision->reason;
}
