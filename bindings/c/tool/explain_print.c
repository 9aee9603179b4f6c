/* The output of boxretry explain. */
#include "explain.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

/* --- Names and sentences from tables of the header for which the library has no functions --- */

#define TEXT_CASE(constant, value, name, text)                                                                         \
  case constant:                                                                                                       \
    return text;

static const char *cause_text(int32_t cause) {
  switch (cause) { BOXRETRY_CAUSE_MAP(TEXT_CASE) }
  return "unknown";
}

static const char *action_text(int32_t action) {
  switch (action) { BOXRETRY_ACTION_MAP(TEXT_CASE) }
  return "unknown";
}

static const char *retry_after_state_name(int32_t state) {
  switch (state) {
  case BOXRETRY_RETRY_AFTER_ABSENT:
    return "absent";
  case BOXRETRY_RETRY_AFTER_USABLE:
    return "usable";
  case BOXRETRY_RETRY_AFTER_NOT_USABLE:
    return "not_usable";
  default:
    return "unknown";
  }
}

/* --- JSON --- */

void explain_print_json(const explain_query *query, const explain_answer *answer) {
  const boxretry_decision *decision = &answer->decision;
  const decision_flow *flow = &answer->flow;
  json_begin(NULL, '{');
  json_integer("status", query->outcome.status);
  json_string("cause", boxretry_cause_name(query->outcome.cause));
  json_integer("attempt_number", decision->attempt_number);
  json_integer("exception_number", decision->exception_number);
  json_begin("path", '[');
  for (size_t i = 0; i < flow->step_count; i++) {
    json_begin(NULL, '{');
    json_string("name", flow->steps[i].name);
    json_string("question", flow->steps[i].question);
    json_bool("answer", flow->steps[i].answer);
    json_end('}');
  }
  json_end(']');
  json_string("action", boxretry_action_name(decision->action));
  json_string("reason", boxretry_reason_name(decision->reason));
  json_string("reason_text", boxretry_reason_text(decision->reason));
  json_number("delay", answer->range.base);
  json_number("delay_least", answer->range.least);
  json_number("delay_most", answer->range.most);
  json_string("delay_source", boxretry_delay_source_name(decision->delay_source));
  json_string("retry_after_state", retry_after_state_name(decision->retry_after_state));
  if (decision->retry_after_state == BOXRETRY_RETRY_AFTER_USABLE) {
    json_number("retry_after", decision->retry_after);
  } else {
    json_null("retry_after");
  }
  json_end('}');
  json_end_line();
}

/* --- Text --- */

static void print_path(const decision_flow *flow) {
  int width = 0;
  for (size_t i = 0; i < flow->step_count; i++) {
    int length = (int)strlen(flow->steps[i].question);
    if (length > width) width = length;
  }
  for (size_t i = 0; i < flow->step_count; i++) {
    const flow_step *step = &flow->steps[i];
    printf("  %zu. %-*s  ", i + 1, width, step->question);
    colour_begin(stdout, step->answer ? COLOUR_BOLD : COLOUR_DIM);
    fputs(step->answer ? "yes" : "no", stdout);
    colour_end(stdout);
    if (step->note) printf(" (%s)", step->note);
    if (step->verdict) printf(" -> %s", step->verdict);
    putchar('\n');
  }
}

/* One line of the answer: a label, the stable name, and its meaning. */
static void print_field(const char *label, output_colour colour, const char *name, const char *text) {
  int column = printf("%-8s", label);
  colour_begin(stdout, colour);
  column += printf("%s", name);
  colour_end(stdout);
  column += printf(" - ");
  print_wrapped(column, (int)strlen("Action  "), text);
}

enum { DELAY_TEXT_SIZE = 400 };

static void describe_backoff(char text[DELAY_TEXT_SIZE], const explain_query *query, const explain_answer *answer) {
  const boxretry_retry_options *options = &query->options;
  char least[NUMBER_SIZE], middle[NUMBER_SIZE], most[NUMBER_SIZE], base[NUMBER_SIZE], smallest[NUMBER_SIZE],
      largest[NUMBER_SIZE];
  const bool is_unusable = answer->decision.retry_after_state == BOXRETRY_RETRY_AFTER_NOT_USABLE;
  snprintf(text, DELAY_TEXT_SIZE, "%s s to %s s, %s s without jitter: 2^%ld * %s s * a random factor, %s to %s%s%s",
           format_number(least, answer->range.least), format_number(most, answer->range.most),
           format_number(middle, answer->range.base), (long)query->attempt_number,
           format_number(base, options->retry_base_interval),
           format_number(smallest, 1 - options->retry_randomization_factor),
           format_number(largest, 1 + options->retry_randomization_factor),
           options->backoff_cap > 0 ? "; never above backoff_cap" : "",
           is_unusable ? ". The Retry-After value is invalid" : "");
}

static void describe_retry_after(char text[DELAY_TEXT_SIZE], const explain_answer *answer) {
  const boxretry_decision *decision = &answer->decision;
  const backoff_range *range = &answer->range;
  char delay[NUMBER_SIZE], asked[NUMBER_SIZE], most[NUMBER_SIZE];
  format_number(delay, range->least);
  format_number(asked, decision->retry_after);
  if (decision->retry_after > range->least) {
    snprintf(text, DELAY_TEXT_SIZE, "%s s, which is retry_after_cap: Retry-After asks for %s s", delay, asked);
  } else if (range->most > range->least) {
    snprintf(text, DELAY_TEXT_SIZE, "%s s to %s s: Retry-After asks for %s s, plus retry_after_jitter", delay,
             format_number(most, range->most), asked);
  } else if (decision->delay_source == BOXRETRY_DELAY_RETRY_AFTER_DATE) {
    snprintf(text, DELAY_TEXT_SIZE, "%s s, until the date in Retry-After (from the response's Date, else from now)",
             delay);
  } else {
    snprintf(text, DELAY_TEXT_SIZE, "%s s, as requested by Retry-After", delay);
  }
}

static void describe_no_delay(char text[DELAY_TEXT_SIZE], const boxretry_decision *decision) {
  char asked[NUMBER_SIZE];
  if (decision->reason == BOXRETRY_REASON_RETRY_AFTER_OVER_CAP) {
    snprintf(text, DELAY_TEXT_SIZE, "no retry; Retry-After asks for %s s", format_number(asked, decision->retry_after));
  } else {
    snprintf(text, DELAY_TEXT_SIZE, "no retry");
  }
}

static void print_delay(const explain_query *query, const explain_answer *answer) {
  const boxretry_decision *decision = &answer->decision;
  char text[DELAY_TEXT_SIZE];
  switch (decision->delay_source) {
  case BOXRETRY_DELAY_NONE:
    describe_no_delay(text, decision);
    break;
  case BOXRETRY_DELAY_BACKOFF:
    describe_backoff(text, query, answer);
    break;
  default:
    describe_retry_after(text, answer);
  }
  print_field("Delay", COLOUR_BOLD, boxretry_delay_source_name(decision->delay_source), text);
}

static output_colour colour_of(int32_t action) {
  switch (action) {
  case BOXRETRY_ACTION_SUCCEED:
    return COLOUR_GREEN;
  case BOXRETRY_ACTION_STOP:
    return COLOUR_RED;
  default:
    return COLOUR_YELLOW;
  }
}

static void print_outcome(const explain_query *query) {
  const boxretry_outcome *outcome = &query->outcome;
  char text[200], broken_off[40] = "";
  if (!flow_is_exception(outcome)) {
    printf("Attempt %ld ended with status %ld.\n", (long)query->attempt_number, (long)outcome->status);
    return;
  }
  if (outcome->cause == BOXRETRY_CAUSE_NONE) {
    printf("Network exception %ld, of unknown cause.\n", (long)query->attempt_number);
    return;
  }
  if (outcome->status != 0) snprintf(broken_off, sizeof broken_off, ", after status %ld", (long)outcome->status);
  snprintf(text, sizeof text, "Network exception %ld%s: %s - %s.", (long)query->attempt_number, broken_off,
           boxretry_cause_name(outcome->cause), cause_text(outcome->cause));
  print_wrapped(0, 0, text);
}

void explain_print_text(const explain_query *query, const explain_answer *answer) {
  const boxretry_decision *decision = &answer->decision;
  print_outcome(query);
  putchar('\n');
  print_path(&answer->flow);
  putchar('\n');
  print_field("Action", colour_of(decision->action), boxretry_action_name(decision->action),
              action_text(decision->action));
  print_delay(query, answer);
  print_field("Why", COLOUR_BOLD, boxretry_reason_name(decision->reason), boxretry_reason_text(decision->reason));
  if (flow_is_exception(&query->outcome) && decision->action != BOXRETRY_ACTION_STOP &&
      query->attempt_number > query->options.max_attempts) {
    print_field("But", COLOUR_BOLD, boxretry_reason_name(BOXRETRY_REASON_RETRIES_EXHAUSTED),
                "a call stops here: the total of its retries of both kinds never exceeds max_attempts");
  }
}
