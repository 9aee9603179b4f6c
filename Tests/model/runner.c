/*
 * Runs generated sequences through the library's C interface and prints what it answers.
 *
 * The text format of both sides is described in text_format.py. Input that is not in the format ends the program.
 */
#include <boxretry.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 64, MOST_HEADERS = 32 };

/* One line, cut into its words in place. */
typedef struct command {
  char *values[MOST_WORDS]; /* the plain words; the first is the command's name */
  size_t value_count;
  char *keys[MOST_WORDS]; /* those with a '=', cut there */
  char *texts[MOST_WORDS];
  size_t field_count;
} command;

/* What a custom strategy answers. */
typedef struct script {
  char actions[512];
  char delays[512];
  int times_asked;
} script;

/* One sequence's state. */
static boxretry_strategy *strategy;
static boxretry_retry_loop *loop;
static boxretry_clock *manual_clock;
static script answers;
static int is_skipping;

static void fail(const char *what, const char *text) {
  fprintf(stderr, "runner: %s: %s\n", what, text);
  exit(2);
}

/* Percent-decoding in place. */
static char *decoded(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++) {
    unsigned byte = 0;
    if (*from == '%' && sscanf(from + 1, "%2x", &byte) == 1) {
      *to++ = (char)byte;
      from += 2;
    } else {
      *to++ = *from;
    }
  }
  *to = '\0';
  return text;
}

static void cut(char *line, command *out) {
  memset(out, 0, sizeof *out);
  line[strcspn(line, "\n")] = '\0';
  while (line) {
    char *word = line;
    line = strchr(line, ' ');
    if (line) *line++ = '\0';
    if (out->value_count == MOST_WORDS || out->field_count == MOST_WORDS) fail("too many words", word);
    char *equals = strchr(word, '=');
    if (equals) {
      *equals = '\0';
      out->keys[out->field_count] = word;
      out->texts[out->field_count++] = equals + 1;
    } else {
      out->values[out->value_count++] = word;
    }
  }
}

static const char *value_at(const command *line, size_t index) {
  if (index >= line->value_count) fail("a value is missing", line->values[0]);
  return line->values[index];
}

static double double_at(const command *line, size_t index) {
  return strtod(value_at(line, index), NULL);
}

static int64_t integer_at(const command *line, size_t index) {
  return strtoll(value_at(line, index), NULL, 10);
}

/* Fields of structs by their names. */
typedef struct field {
  const char *name;
  int32_t *as_int32;
  int64_t *as_int64;
  uint64_t *as_uint64;
  double *as_double;
} field;

/* Sets the fields that the line gives; leaves out those keys that are in `others`. */
static void fill(const command *line, const field *fields, size_t count, const char *others) {
  for (size_t index = 0; index < line->field_count; index++) {
    const char *text = line->texts[index];
    if (strstr(others, line->keys[index])) continue;
    size_t at = 0;
    while (at < count && strcmp(fields[at].name, line->keys[index]) != 0)
      at++;
    if (at == count) fail("unknown field", line->keys[index]);
    if (fields[at].as_int32) *fields[at].as_int32 = (int32_t)strtol(text, NULL, 10);
    if (fields[at].as_int64) *fields[at].as_int64 = strtoll(text, NULL, 10);
    if (fields[at].as_uint64) *fields[at].as_uint64 = strtoull(text, NULL, 10);
    if (fields[at].as_double) *fields[at].as_double = strtod(text, NULL);
  }
}

#define FIELD_COUNT(fields) (sizeof(fields) / sizeof(fields)[0])

/* Cuts NAME:VALUE in two; the name is decoded, the value as it stands. */
static char *cut_pair(char *pair) {
  char *colon = strchr(pair, ':');
  if (!colon) fail("a pair has no colon", pair);
  *colon = '\0';
  decoded(pair);
  return colon + 1;
}

static boxretry_retry_options retry_options(const command *line, boxretry_delay_header *headers) {
  boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
  const field fields[] = {
      {.name = "max_attempts", .as_int32 = &options.max_attempts},
      {.name = "max_retries_on_exception", .as_int32 = &options.max_retries_on_exception},
      {.name = "retry_base_interval", .as_double = &options.retry_base_interval},
      {.name = "retry_randomization_factor", .as_double = &options.retry_randomization_factor},
      {.name = "backoff_cap", .as_double = &options.backoff_cap},
      {.name = "retry_after_cap", .as_double = &options.retry_after_cap},
      {.name = "retry_after_jitter", .as_double = &options.retry_after_jitter},
      {.name = "retry_after_over_cap", .as_int32 = &options.retry_after_over_cap},
      {.name = "retry_unsafe_methods", .as_int32 = &options.retry_unsafe_methods},
  };
  fill(line, fields, FIELD_COUNT(fields), "delay_header");
  for (size_t index = 0; index < line->field_count; index++) {
    if (strcmp(line->keys[index], "delay_header") != 0) continue;
    if (options.delay_header_count == MOST_HEADERS) fail("too many delay headers", line->texts[index]);
    boxretry_delay_header *header = &headers[options.delay_header_count++];
    header->name = line->texts[index];
    header->unit = strtod(cut_pair(line->texts[index]), NULL);
  }
  if (options.delay_header_count) options.delay_headers = headers;
  return options;
}

/* An outcome and what it points to. */
typedef struct outcome {
  boxretry_outcome outcome;
  boxretry_request request;
  boxretry_header headers[MOST_HEADERS];
} outcome;

static const boxretry_outcome *read_outcome(const command *line, outcome *out) {
  out->outcome = (boxretry_outcome)BOXRETRY_OUTCOME_INIT;
  out->request = (boxretry_request)BOXRETRY_REQUEST_INIT;
  boxretry_outcome *result = &out->outcome;
  const field fields[] = {
      {.name = "status", .as_int32 = &result->status},
      {.name = "cause", .as_int32 = &result->cause},
      {.name = "auth_available", .as_int32 = &result->auth_available},
      {.name = "request_sent", .as_int32 = &result->request_sent},
      {.name = "body_not_replayable", .as_int32 = &result->body_not_replayable},
      {.name = "retry_safety", .as_int32 = &out->request.retry_safety},
  };
  fill(line, fields, FIELD_COUNT(fields), "header method");
  for (size_t index = 0; index < line->field_count; index++) {
    if (strcmp(line->keys[index], "header") == 0) {
      if (result->header_count == MOST_HEADERS) fail("too many headers", line->texts[index]);
      boxretry_header *header = &out->headers[result->header_count++];
      header->name = line->texts[index];
      header->value = decoded(cut_pair(line->texts[index]));
    } else if (strcmp(line->keys[index], "method") == 0) {
      out->request.method = decoded(line->texts[index]);
      result->request = &out->request;
    } else if (strcmp(line->keys[index], "retry_safety") == 0) {
      result->request = &out->request;
    }
  }
  if (result->header_count) result->headers = out->headers;
  return result;
}

static void print_error(boxretry_error error) {
  printf("error %s %s\n", boxretry_error_name(error), boxretry_last_error_detail());
}

static void print_done(boxretry_error error) {
  if (error) {
    print_error(error);
  } else {
    puts("ok");
  }
}

static void print_value(boxretry_error error, double value) {
  if (error) {
    print_error(error);
  } else {
    printf("value %.17g\n", value);
  }
}

static void print_decision(boxretry_error error, const boxretry_decision *decision) {
  static const char *const states[] = {"absent", "usable", "not_usable"};
  if (error) {
    print_error(error);
    return;
  }
  int32_t state = decision->retry_after_state;
  printf("decision %s %s %.17g %s %" PRId32 " %" PRId32 " %s %.17g\n", boxretry_action_name(decision->action),
         boxretry_reason_name(decision->reason), decision->delay, boxretry_delay_source_name(decision->delay_source),
         decision->attempt_number, decision->exception_number, state >= 0 && state <= 2 ? states[state] : "unknown",
         decision->retry_after);
}

/* The entry at `place` of a list that starts again at its end. */
static const char *entry(const char *list, int place) {
  int count = 1;
  for (const char *at = list; *at; at++)
    count += *at == ',';
  for (place %= count; place > 0; place--)
    list = strchr(list, ',') + 1;
  return list;
}

static void print_asked(const char *callback, const boxretry_outcome *seen, int32_t attempt_number) {
  printf("asked %s %" PRId32 " %" PRId32 " %" PRId32 " %d %zu\n", callback, attempt_number, seen->status, seen->cause,
         seen->auth_available != 0, seen->header_count);
}

static void should_retry(void *context, const boxretry_outcome *seen, int32_t attempt_number, int32_t *action) {
  script *told = context;
  print_asked("should_retry", seen, attempt_number);
  *action = (int32_t)strtol(entry(told->actions, told->times_asked++), NULL, 10);
}

static void retry_after(void *context, const boxretry_outcome *seen, int32_t attempt_number, double *delay) {
  const script *told = context;
  print_asked("retry_after", seen, attempt_number);
  const char *text = entry(told->delays, told->times_asked ? told->times_asked - 1 : 0);
  if (strncmp(text, "unanswered", strlen("unanswered")) != 0) *delay = strtod(text, NULL);
}

static void make_custom(const command *line) {
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  callbacks.context = &answers;
  callbacks.should_retry = should_retry;
  memset(&answers, 0, sizeof answers);
  for (size_t index = 0; index < line->field_count; index++) {
    int is_delays = strcmp(line->keys[index], "retry_after") == 0;
    snprintf(is_delays ? answers.delays : answers.actions, sizeof answers.actions, "%s", line->texts[index]);
    if (is_delays) callbacks.retry_after = retry_after;
  }
  print_done(boxretry_strategy_new_custom(&callbacks, &strategy));
}

static void make_strategy(const command *line) {
  boxretry_delay_header headers[MOST_HEADERS];
  boxretry_retry_options options = retry_options(line, headers);
  boxretry_error error = boxretry_strategy_new(&options, &strategy);
  is_skipping = error != BOXRETRY_OK;
  print_done(error);
}

static void make_loop(const command *line) {
  boxretry_loop_options options = BOXRETRY_LOOP_OPTIONS_INIT;
  const field fields[] = {
      {.name = "auth_available", .as_int32 = &options.auth_available},
      {.name = "deadline_ms", .as_int64 = &options.deadline_ms},
      {.name = "seed", .as_uint64 = &options.seed},
      {.name = "max_total_attempts", .as_int32 = &options.max_total_attempts},
  };
  options.clock = manual_clock;
  fill(line, fields, FIELD_COUNT(fields), "");
  boxretry_error error = boxretry_retry_loop_new(strategy, &options, &loop);
  is_skipping = error != BOXRETRY_OK;
  print_done(error);
}

static void make_clock(const command *line) {
  boxretry_error error = boxretry_clock_new_manual(&manual_clock);
  if (!error) error = boxretry_clock_set_wall(manual_clock, double_at(line, 1));
  if (error) fail("no clock", boxretry_last_error_detail());
}

static void attempt(const command *line) {
  outcome read;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  print_decision(boxretry_retry_loop_next(loop, read_outcome(line, &read), &decision), &decision);
}

static void ask_should_retry(const command *line) {
  outcome read;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  int32_t number = (int32_t)integer_at(line, 1);
  print_decision(boxretry_strategy_should_retry(strategy, read_outcome(line, &read), number, &decision), &decision);
}

static void ask_retry_after(const command *line) {
  outcome read;
  double delay = -1;
  int32_t number = (int32_t)integer_at(line, 1);
  boxretry_error error = boxretry_strategy_retry_after(strategy, read_outcome(line, &read), number, &delay);
  print_value(error, delay);
}

static void backoff(const command *line) {
  boxretry_delay_header headers[MOST_HEADERS];
  boxretry_retry_options options = retry_options(line, headers);
  double delay = -1;
  boxretry_error error = boxretry_backoff_delay(&options, (int32_t)integer_at(line, 1), double_at(line, 2), &delay);
  print_value(error, delay);
}

static void parse(const command *line) {
  double seconds = -1;
  char *value = decoded((char *)value_at(line, 2));
  boxretry_error error = boxretry_parse_retry_after(value, integer_at(line, 1), &seconds);
  print_value(error, seconds);
}

static void token_delay(const command *line) {
  boxretry_token_retry_policy policy = BOXRETRY_TOKEN_RETRY_POLICY_INIT;
  const field fields[] = {
      {.name = "maximum_attempts", .as_int32 = &policy.maximum_attempts},
      {.name = "initial_delay", .as_double = &policy.initial_delay},
      {.name = "multiplier", .as_double = &policy.multiplier},
      {.name = "maximum_delay", .as_double = &policy.maximum_delay},
      {.name = "jitter_ratio", .as_double = &policy.jitter_ratio},
  };
  double delay = -1;
  fill(line, fields, FIELD_COUNT(fields), "");
  boxretry_error error = boxretry_token_delay(&policy, (int32_t)integer_at(line, 1), double_at(line, 2), &delay);
  print_value(error, delay);
}

static void drop_all(void) {
  boxretry_retry_loop_free(loop);
  boxretry_strategy_free(strategy);
  boxretry_clock_free(manual_clock);
  loop = NULL;
  strategy = NULL;
  manual_clock = NULL;
  is_skipping = 0;
}

static void begin_sequence(const command *line) {
  drop_all();
  printf("sequence %s\n", value_at(line, 1));
}

static void advance(const command *line) {
  print_done(boxretry_clock_advance(manual_clock, double_at(line, 1)));
}

static void suspend(const command *line) {
  print_done(boxretry_clock_suspend(manual_clock, double_at(line, 1)));
}

static void set_wall(const command *line) {
  print_done(boxretry_clock_set_wall(manual_clock, double_at(line, 1)));
}

static const struct {
  const char *name;
  void (*run)(const command *line);
} commands[] = {
    {"sequence", begin_sequence},
    {"clock", make_clock},
    {"strategy", make_strategy},
    {"custom", make_custom},
    {"loop", make_loop},
    {"advance", advance},
    {"suspend", suspend},
    {"wall", set_wall},
    {"attempt", attempt},
    {"should_retry", ask_should_retry},
    {"retry_after", ask_retry_after},
    {"backoff", backoff},
    {"parse", parse},
    {"token_delay", token_delay},
};

static void run(const command *line) {
  const char *name = line->values[0];
  if (is_skipping && strcmp(name, "sequence") != 0) return;
  for (size_t index = 0; index < sizeof commands / sizeof commands[0]; index++) {
    if (strcmp(commands[index].name, name) == 0) {
      commands[index].run(line);
      return;
    }
  }
  fail("unknown command", name);
}

int main(void) {
  static char line[1 << 17];
  static command words;
  setvbuf(stdout, NULL, _IOLBF, 1 << 16); /* so that a crash loses nothing that was answered before it */
  while (fgets(line, sizeof line, stdin)) {
    if (!strchr(line, '\n')) fail("the line is too long", line);
    cut(line, &words);
    run(&words);
  }
  drop_all();
  return ferror(stdin) || ferror(stdout) ? 1 : 0;
}
