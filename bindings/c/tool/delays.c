/* boxretry delays: prints tables of the possible waits of a call. */
#include "backoff_range.h"
#include "options.h"
#include "output.h"

#include <stdio.h>

/** The waits of one kind: after attempts or network exceptions 1 to `count`. */
typedef struct wait_table {
  const char *key;
  const char *title;
  const char *number_name;
  const char *limit_name; /* the option that limits the number */
  int32_t limit;
  int32_t count;
} wait_table;

typedef void row_printer(int32_t attempt, const backoff_range *range);

/* There may be a million rows, so each is printed as soon as it is computed, and none is stored. */
static boxretry_error print_rows(const wait_table *table, const boxretry_retry_options *options, row_printer *print_row,
                                 backoff_range *total) {
  *total = (backoff_range){0, 0, 0};
  for (int32_t attempt = 1; attempt <= table->count; attempt++) {
    backoff_range range;
    boxretry_error error = backoff_range_of(options, attempt, &range);
    if (error != BOXRETRY_OK) return error;
    print_row(attempt, &range);
    backoff_range_add(total, &range);
  }
  return BOXRETRY_OK;
}

/* --- JSON --- */

static void print_json_range(const backoff_range *range) {
  json_number("base", range->base);
  json_number("least", range->least);
  json_number("most", range->most);
}

static void print_json_row(int32_t attempt, const backoff_range *range) {
  json_begin(NULL, '{');
  json_integer("attempt", attempt);
  print_json_range(range);
  json_end('}');
}

static boxretry_error print_json_table(const wait_table *table, const boxretry_retry_options *options) {
  backoff_range total;
  json_begin(table->key, '{');
  json_begin("waits", '[');
  boxretry_error error = print_rows(table, options, print_json_row, &total);
  json_end(']');
  json_begin("total", '{');
  print_json_range(&total);
  json_end('}');
  json_end('}');
  return error;
}

/* --- Text --- */

static void print_cells(const char *name, const char *base, const char *least, const char *most) {
  printf("  %9s  %10s  %10s  %10s\n", name, base, least, most);
}

static void print_named_row(const char *name, const backoff_range *range) {
  char base[NUMBER_SIZE], least[NUMBER_SIZE], most[NUMBER_SIZE];
  print_cells(name, format_number(base, range->base), format_number(least, range->least),
              format_number(most, range->most));
}

static void print_row(int32_t attempt, const backoff_range *range) {
  char name[NUMBER_SIZE];
  snprintf(name, sizeof name, "%ld", (long)attempt);
  print_named_row(name, range);
}

static void print_title(const char *title, int32_t count, const char *limit_name, int32_t limit) {
  putchar('\n');
  colour_begin(stdout, COLOUR_BOLD);
  fputs(title, stdout);
  colour_end(stdout);
  printf(": at most %ld %s (%s %ld)\n", (long)count, count == 1 ? "retry" : "retries", limit_name, (long)limit);
}

static boxretry_error print_table(const wait_table *table, const boxretry_retry_options *options) {
  print_title(table->title, table->count, table->limit_name, table->limit);
  if (table->count == 0) return BOXRETRY_OK;
  backoff_range total;
  colour_begin(stdout, COLOUR_DIM);
  print_cells(table->number_name, "base", "least", "most");
  colour_end(stdout);
  boxretry_error error = print_rows(table, options, print_row, &total);
  print_named_row("total", &total);
  return error;
}

static void print_formula(const boxretry_retry_options *options) {
  char base[NUMBER_SIZE], least[NUMBER_SIZE], most[NUMBER_SIZE], cap[NUMBER_SIZE];
  printf("Seconds to wait before a retry: 2^attempt * %s * a random factor, %s to %s",
         format_number(base, options->retry_base_interval),
         format_number(least, 1 - options->retry_randomization_factor),
         format_number(most, 1 + options->retry_randomization_factor));
  if (options->backoff_cap > 0) printf(",\ncapped at %s", format_number(cap, options->backoff_cap));
  puts(".\nIf the response has a Retry-After header, the wait is its value instead.");
}

/* --- The command --- */

static wait_table waits_after_response(const boxretry_retry_options *options) {
  return (wait_table){
      .key = "after_response",
      .title = "After a response",
      .number_name = "attempt",
      .limit_name = "max_attempts",
      .limit = options->max_attempts,
      .count = options->max_attempts > 0 ? options->max_attempts - 1 : 0,
  };
}

/* The retries of a call, including those after exceptions, never exceed max_attempts in total (B5). */
static wait_table waits_after_exception(const boxretry_retry_options *options) {
  bool is_bounded = options->max_attempts < options->max_retries_on_exception;
  int32_t limit = is_bounded ? options->max_attempts : options->max_retries_on_exception;
  return (wait_table){
      .key = "after_exception",
      .title = "After a network exception",
      .number_name = "exception",
      .limit_name = is_bounded ? "max_attempts" : "max_retries_on_exception",
      .limit = limit,
      .count = limit,
  };
}

static boxretry_error print_json(const boxretry_retry_options *options) {
  const wait_table after_response = waits_after_response(options);
  const wait_table after_exception = waits_after_exception(options);
  json_begin(NULL, '{');
  boxretry_error error = print_json_table(&after_response, options);
  if (error == BOXRETRY_OK) error = print_json_table(&after_exception, options);
  json_end('}');
  json_end_line();
  return error;
}

static boxretry_error print_text(const boxretry_retry_options *options) {
  const wait_table after_response = waits_after_response(options);
  const wait_table after_exception = waits_after_exception(options);
  print_formula(options);
  boxretry_error error = print_table(&after_response, options);
  if (error == BOXRETRY_OK) error = print_table(&after_exception, options);
  /* One more than retries after responses alone, because the last attempt may end in an exception (B5). */
  const int32_t after_responses = options->max_attempts > 0 ? options->max_attempts - 1 : 0;
  print_title("In one call, both kinds combined",
              options->max_retries_on_exception > 0 ? options->max_attempts : after_responses, "max_attempts",
              options->max_attempts);
  if (options->max_attempts > 0 && options->max_retries_on_exception > 0) {
    printf("Attempt %ld is the last if it ends with a response. If it ends with a network\n"
           "exception, attempt %ld may follow.\n",
           (long)options->max_attempts, (long)options->max_attempts + 1);
  }
  return error;
}

static int run(int argc, char **argv) {
  boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
  int32_t as_json = 0;
  const tool_option table[] = {
      BACKOFF_OPTIONS(&options),
      FLAG(0, "json", &as_json, "print one line of JSON"),
  };
  int exit_code = read_options(&delays_command, table, sizeof table / sizeof table[0], argc, argv);
  if (exit_code != TOOL_GO_ON) return exit_code;

  backoff_range range;
  boxretry_error error = backoff_range_of(&options, 1, &range); /* rejects invalid options before anything is printed */
  if (error == BOXRETRY_OK) error = as_json ? print_json(&options) : print_text(&options);
  return error == BOXRETRY_OK ? TOOL_OK : library_error(&delays_command, error);
}

static const char *const details[] = {"Columns: number of the attempt or network exception, then the wait after it in\n"
                                      "seconds: without jitter (base), and the shortest and longest possible with\n"
                                      "jitter. The last row is the total: the waits of a call that uses all retries.\n"
                                      "\n"
                                      "JSON: {\"after_response\": T, \"after_exception\": T}, where T is\n"
                                      "  {\"waits\": [{\"attempt\": 1, \"base\": 2, \"least\": 1, \"most\": 3}, ...],\n"
                                      "   \"total\": {\"base\": 2, \"least\": 1, \"most\": 3}}\n"
                                      "\n"
                                      "Exit codes: 0 success; 1 the output could not be written, or out of memory;\n"
                                      "2 an option or its value is invalid; 3 internal error.\n",
                                      NULL};

const tool_command delays_command = {
    .name = "delays",
    .summary = "print the waits between retries",
    .details = details,
    .run = run,
};
