/* boxretry simulate: shows what the retries of many clients do to a server that fails for a while (C4). */
#include "simulate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print(const sim_query *query, const sim_result *results) {
  if (query->as_json) {
    sim_print_json(query, results);
  } else {
    sim_print_text(query, results);
  }
  if (!query->svg_path || sim_write_svg(query, results)) return TOOL_OK;
  char buffer[QUOTED_SIZE];
  fprintf(stderr, "boxretry simulate: cannot write '%s': %s\n", quoted(buffer, query->svg_path), strerror(errno));
  return TOOL_FAILED;
}

static int simulate(const sim_query *query) {
  sim_result results[SIM_MAX_POLICIES] = {0};
  sim_progress progress;
  boxretry_error error = BOXRETRY_OK;
  sim_progress_begin(&progress, query->policy_count);
  for (; error == BOXRETRY_OK && progress.index < query->policy_count; progress.index++)
    error = sim_run(&query->world, &query->policies[progress.index], &progress, &results[progress.index]);
  sim_progress_end(&progress);
  const int exit_code = error == BOXRETRY_OK ? print(query, results) : library_error(&simulate_command, error);
  for (int32_t i = 0; i < query->policy_count; i++)
    sim_result_free(&results[i]);
  return exit_code;
}

static int run(int argc, char **argv) {
  sim_query query;
  const int exit_code = sim_read_options(&query, argc, argv);
  return exit_code == TOOL_GO_ON ? simulate(&query) : exit_code;
}

static const char *const details[] = {
    "Examples:\n"
    "  boxretry simulate\n"
    "  boxretry simulate --clients 1000000 --outage 30,60,429 --svg load.svg\n"
    "  boxretry simulate --policy none --policy mine:max-attempts=3,budget-capacity=4\n"
    "\n"
    "Predefined policies. Use them unchanged, or with some options changed:\n"
    "  none        no retries\n"
    "  fixed       4 retries, 1 second apart, without jitter\n"
    "  box         Box's strategy with its defaults\n"
    "  box-budget  box with a retry budget of 10 for each client\n"
    "  box-jitter  box with a Retry-After jitter of 1\n"
    "  box-gate    box with Retry-After shared by the calls of each client\n"
    "  all         box with all three\n"
    "A policy with another name is box with the given options.\n"
    "\n"
    "Options of a policy: max-attempts, max-retries-on-exception,\n"
    "retry-base-interval, retry-randomization-factor, backoff-cap, retry-after-cap,\n"
    "retry-after-jitter, budget-capacity, budget-ratio, share-retry-after (0 or 1),\n"
    "deadline (seconds).\n"
    "\n"
    "Kinds of failure: 503, 503-retry-after and 429 (both with Retry-After), refused\n"
    "(no connection), silent (no answer).\n"
    "\n"
    "Model: the server handles one request at a time; each takes the same time. If\n"
    "its queue is full, a request fails at once. A request in the queue is processed\n"
    "even if its client has given up. Decisions, budgets and jitter come from the\n"
    "library; the gate of share-retry-after is a separate model. Time is virtual.\n"
    "\n"
    "Columns: peak load during the outage and after it, averaged over a second or\n"
    "more, relative to normal; requests that did not succeed; calls that failed;\n"
    "successes during the outage and after it, relative to normal; seconds after the\n"
    "outage until 99 % of the calls succeed again; median and maximum time to success\n"
    "of calls begun in the outage, in seconds. '-': not within the run, or none.\n"
    "\n"
    "JSON, an object with:\n"
    "  world     the simulated world: the options (retry_after null: end), and\n"
    "            normal_load (requests per second)\n"
    "  policies  an array of objects with: name, options, calls, succeeded, failed,\n"
    "            requests, wasted, peak_during, peak_after, goodput_during,\n"
    "            goodput_after, recovery, median_time, worst_time (null: as '-'\n"
    "            above), and load: {start, step, values}, relative to normal\n"
    "\n"
    "Exit codes: 0 success; 1 the output or the chart could not be written, or out\n"
    "of memory; 2 an option or its value is invalid; 3 internal error in boxretry.\n",
    NULL};

const tool_command simulate_command = {
    .name = "simulate",
    .summary = "compare the effects of retry policies on a server during an outage",
    .details = details,
    .run = run,
};
