/* The output of boxretry simulate. */
#include "output.h"
#include "simulate.h"

#include <stdio.h>

/* --- JSON --- */

static void json_seconds(const char *key, double seconds) {
  if (seconds < 0) {
    json_null(key);
  } else {
    json_number(key, seconds);
  }
}

static void print_json_world(const sim_world *world) {
  json_begin("world", '{');
  json_integer("clients", world->clients);
  json_number("rate", world->rate);
  json_bool("closed", world->is_closed);
  json_number("normal_load", sim_normal_load(world));
  json_number("capacity", world->capacity);
  json_integer("queue", world->queue);
  json_number("latency", world->latency);
  json_string("overflow", failure_names[world->overflow]);
  json_begin("outage", '{');
  json_number("start", world->outage_start);
  json_number("length", world->outage_length);
  json_string("kind", failure_names[world->outage_kind]);
  json_end('}');
  json_seconds("retry_after", world->retry_after);
  json_number("timeout", world->timeout);
  json_number("duration", world->duration);
  json_integer("clients_per_budget", world->clients_per_budget);
  json_integer("seed", world->seed);
  json_end('}');
}

static void print_json_policy(const sim_policy *policy) {
  const boxretry_retry_options *options = &policy->options;
  json_begin("options", '{');
  json_integer("max_attempts", options->max_attempts);
  json_integer("max_retries_on_exception", options->max_retries_on_exception);
  json_number("retry_base_interval", options->retry_base_interval);
  json_number("retry_randomization_factor", options->retry_randomization_factor);
  json_number("backoff_cap", options->backoff_cap);
  json_number("retry_after_cap", options->retry_after_cap);
  json_number("retry_after_jitter", options->retry_after_jitter);
  json_integer("budget_capacity", policy->budget_capacity);
  json_number("budget_ratio", policy->budget_ratio);
  json_bool("share_retry_after", policy->shares_retry_after);
  if (policy->deadline_ms == BOXRETRY_NO_TIMEOUT) {
    json_null("deadline");
  } else {
    json_number("deadline", (double)policy->deadline_ms / 1000);
  }
  json_end('}');
}

static void print_json_load(const sim_result *result, const sim_world *world) {
  const sim_series *series = &result->series;
  const size_t length = sim_bucket_cells(series, world);
  const size_t first = sim_first_bucket(series, world);
  json_begin("load", '{');
  json_number("start", series->first + (double)first * series->cell);
  json_number("step", (double)length * series->cell);
  json_begin("values", '[');
  for (size_t cell = first; cell + length < series->count; cell += length)
    json_number(NULL, sim_bucket_load(series, world, cell));
  json_end(']');
  json_end('}');
}

void sim_print_json(const sim_query *query, const sim_result *results) {
  const sim_world *world = &query->world;
  json_begin(NULL, '{');
  print_json_world(world);
  json_begin("policies", '[');
  for (int32_t i = 0; i < query->policy_count; i++) {
    const sim_result *result = &results[i];
    json_begin(NULL, '{');
    json_string("name", query->policies[i].name);
    print_json_policy(&query->policies[i]);
    json_number("calls", result->calls);
    json_number("succeeded", result->succeeded);
    json_number("failed", result->failed);
    json_number("requests", result->attempts);
    json_number("wasted", result->attempts - result->succeeded);
    json_number("peak_during", result->peak_during);
    json_number("peak_after", result->peak_after);
    json_number("goodput_during", result->goodput_during);
    json_number("goodput_after", result->goodput_after);
    json_seconds("recovery", result->recovery);
    json_seconds("median_time", result->median_time);
    json_seconds("worst_time", result->worst_time);
    print_json_load(result, world);
    json_end('}');
  }
  json_end(']');
  json_end('}');
  putchar('\n');
}

/* --- Text --- */

static const char *seconds_text(char text[NUMBER_SIZE], double seconds) {
  if (seconds < 0) return "-";
  snprintf(text, NUMBER_SIZE, seconds < 9.95 ? "%.2f" : "%.1f", seconds);
  return text;
}

static const char *count_text(char text[NUMBER_SIZE], double count) {
  snprintf(text, NUMBER_SIZE, count < 1e6 ? "%.0f" : "%.4g M", count < 1e6 ? count : count / 1e6);
  return text;
}

static void print_heading(const sim_world *world) {
  char load[NUMBER_SIZE], capacity[NUMBER_SIZE], start[NUMBER_SIZE], length[NUMBER_SIZE];
  printf("%ld %s, %s requests per second in total; the server can handle %s.\n", (long)world->clients,
         sim_clients_noun(world), format_number(load, sim_normal_load(world)),
         format_number(capacity, world->capacity));
  printf("Outage at %s s, for %s s: %s.\n\n", format_number(start, world->outage_start),
         format_number(length, world->outage_length), failure_names[world->outage_kind]);
}

/* Whether the server asks clients to come back later. */
static bool has_retry_after(failure_kind kind) {
  return kind == FAILURE_503_RETRY_AFTER || kind == FAILURE_429;
}

/* Explains rows that are the same. */
static void print_note(const sim_query *query) {
  if (has_retry_after(query->world.outage_kind) || has_retry_after(query->world.overflow)) return;
  bool depends_on_it = false;
  for (int32_t i = 0; i < query->policy_count; i++)
    depends_on_it |= query->policies[i].shares_retry_after || query->policies[i].options.retry_after_jitter > 0;
  if (depends_on_it) {
    puts("\nNo failure here has a Retry-After: retry-after-jitter and share-retry-after have\nno effect.");
  }
}

void sim_print_text(const sim_query *query, const sim_result *results) {
  print_heading(&query->world);
  colour_begin(stdout, COLOUR_DIM);
  printf("%-11s  %-13s %8s  %7s  %-11s  %7s  %12s\n", "", "peak load", "requests", "calls", "goodput", "99 % ok",
         "to success");
  printf("%-11s  %6s %6s  %7s  %7s  %5s %5s  %7s  %5s %6s\n", "policy", "during", "after", "wasted", "failed", "dur.",
         "after", "after", "med.", "worst");
  colour_end(stdout);
  for (int32_t i = 0; i < query->policy_count; i++) {
    const sim_result *result = &results[i];
    char wasted[NUMBER_SIZE], failed[NUMBER_SIZE], recovery[NUMBER_SIZE], median[NUMBER_SIZE], worst[NUMBER_SIZE];
    colour_begin(stdout, COLOUR_BOLD);
    printf("%-11s", query->policies[i].name);
    colour_end(stdout);
    printf("  %6.2f %6.2f  %7s  %7s  %5.2f %5.2f  %7s  %5s %6s\n", result->peak_during, result->peak_after,
           count_text(wasted, result->attempts - result->succeeded), count_text(failed, result->failed),
           result->goodput_during, result->goodput_after, seconds_text(recovery, result->recovery),
           seconds_text(median, result->median_time), seconds_text(worst, result->worst_time));
  }
  print_note(query);
}
