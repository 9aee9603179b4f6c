/* boxretry simulate: its options. */
#define _POSIX_C_SOURCE 200809L

#include "options.h"
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Values with their own format --- */

static bool is_decimal(const char *text, size_t length) {
  return length > 0 && strspn(text, "0123456789.eE+-") >= length;
}

/* N or N/M. */
static int read_rate(const tool_command *command, const tool_option *option, char *value) {
  char buffer[QUOTED_SIZE], *end = NULL;
  double rate = strtod(value, &end);
  bool is_right = is_decimal(value, (size_t)(end - value));
  if (is_right && *end == '/') {
    const char *below = end + 1;
    rate /= strtod(below, &end);
    is_right = is_decimal(below, (size_t)(end - below));
  }
  if (!is_right || *end != '\0') {
    return usage_error(command, "--rate: '%s' is not a number or a fraction 'N/M'", quoted(buffer, value));
  }
  *(double *)option->target.own.variable = rate;
  return TOOL_GO_ON;
}

static int read_retry_after(const tool_command *command, const tool_option *option, char *value) {
  char buffer[QUOTED_SIZE], *end = NULL;
  double seconds = UNTIL_OUTAGE_END;
  if (strcmp(value, "end") != 0) {
    seconds = strtod(value, &end);
    if (!is_decimal(value, (size_t)(end - value)) || *end != '\0' || seconds < 0) {
      return usage_error(command, "--retry-after: '%s' is not a number of seconds or 'end'", quoted(buffer, value));
    }
  }
  *(double *)option->target.own.variable = seconds;
  return TOOL_GO_ON;
}

/* START,LENGTH[,KIND] */
static int read_outage(const tool_command *command, const tool_option *option, char *value) {
  sim_world *world = option->target.own.variable;
  char buffer[QUOTED_SIZE], *end = NULL;
  const double start = strtod(value, &end);
  bool is_right = is_decimal(value, (size_t)(end - value)) && *end == ',';
  if (is_right) {
    const char *length = end + 1;
    world->outage_length = strtod(length, &end);
    is_right = is_decimal(length, (size_t)(end - length)) && (*end == '\0' || *end == ',');
  }
  if (!is_right) {
    return usage_error(command, "--outage: '%s' is not START,LENGTH or START,LENGTH,KIND", quoted(buffer, value));
  }
  world->outage_start = start;
  if (*end == '\0') return TOOL_GO_ON;
  for (int32_t kind = 0; failure_names[kind]; kind++) {
    if (strcmp(end + 1, failure_names[kind]) != 0) continue;
    world->outage_kind = kind;
    return TOOL_GO_ON;
  }
  return usage_error(command, "--outage: '%s' is not a kind of failure", quoted(buffer, end + 1));
}

static int add_policy(const tool_command *command, const tool_option *option, char *value) {
  sim_query *query = option->target.own.variable;
  if (query->policy_count == SIM_MAX_POLICIES) {
    return usage_error(command, "--policy: at most %d policies can be compared", SIM_MAX_POLICIES);
  }
  sim_policy *policy = &query->policies[query->policy_count];
  const int exit_code = sim_parse_policy(value, policy);
  if (exit_code != TOOL_GO_ON) return exit_code;
  for (int32_t i = 0; i < query->policy_count; i++) {
    if (strcmp(query->policies[i].name, policy->name) == 0) {
      return usage_error(command, "--policy: there is already a policy '%s'", policy->name);
    }
  }
  query->policy_count++;
  return TOOL_GO_ON;
}

/* --- Checks, and defaults of options that were not given --- */

static const double not_given = -1999999999;
static const int32_t queue_not_given = INT32_MIN;

static int check(bool is_right, const char *what) {
  return is_right ? TOOL_GO_ON : usage_error(&simulate_command, "%s", what);
}

static int complete(sim_query *query) {
  enum { MOST_CLIENTS = 100000000, MOST_QUEUE = 1000000000 };
  sim_world *world = &query->world;
  const double longest = 1e6, most = 1e9;
  int exit_code =
      check(world->clients >= 1 && world->clients <= MOST_CLIENTS, "--clients: must be from 1 to 100000000");
  if (exit_code != TOOL_GO_ON) return exit_code;
  if (world->rate == not_given) world->rate = 1.0 / 60;
  const double load = world->rate * world->clients;
  if (world->capacity == not_given) world->capacity = 1.5 * load;
  if (world->queue == queue_not_given)
    world->queue = world->capacity < MOST_QUEUE ? (int32_t)ceil(world->capacity) : MOST_QUEUE;
  if (world->duration == not_given) world->duration = sim_outage_end(world) + 120;
  const struct {
    bool is_right;
    const char *what;
  } checks[] = {
      {world->rate > 0 && load <= most, "--rate: must be above 0, and at most 1e9 for all clients together"},
      {world->clients_per_budget >= 1, "--clients-per-budget: must be 1 or more"},
      {world->capacity > 0 && world->capacity <= most, "--capacity: must be above 0, and at most 1e9"},
      {world->queue >= 0, "--queue: must be 0 or more"},
      {world->latency >= 0 && world->latency <= longest, "--latency: must be from 0 to 1e6 seconds"},
      {world->timeout > 0 && world->timeout <= longest, "--timeout: must be above 0, and at most 1e6 seconds"},
      {world->retry_after == UNTIL_OUTAGE_END || (world->retry_after >= 0 && world->retry_after <= longest),
       "--retry-after: must be from 0 to 1e6 seconds, or end"},
      {world->outage_start >= 0 && world->outage_start <= longest, "--outage: START must be from 0 to 1e6 seconds"},
      {world->outage_length >= 0 && world->outage_length <= longest, "--outage: LENGTH must be from 0 to 1e6 seconds"},
      {world->duration >= 1 && world->duration <= 3 * longest, "--duration: must be from 1 to 3e6 seconds"},
      {world->duration >= sim_outage_end(world) + 1,
       "--duration: must be at least 1 second longer than the time until the outage's end"},
  };
  for (size_t i = 0; exit_code == TOOL_GO_ON && i < sizeof checks / sizeof checks[0]; i++)
    exit_code = check(checks[i].is_right, checks[i].what);
  if (query->policy_count == 0) {
    for (; sim_ready_made_names[query->policy_count]; query->policy_count++)
      sim_ready_made(sim_ready_made_names[query->policy_count], &query->policies[query->policy_count]);
  }
  return exit_code;
}

int sim_read_options(sim_query *query, int argc, char **argv) {
  *query = (sim_query){.world = {
                           .clients = 10000,
                           .rate = not_given,
                           .clients_per_budget = 1,
                           .timeout = 10,
                           .capacity = not_given,
                           .queue = queue_not_given,
                           .latency = 0.05,
                           .outage_start = 30,
                           .outage_length = 60,
                           .retry_after = 10,
                           .duration = not_given,
                           .seed = 1,
                       }};
  sim_world *world = &query->world;
  const tool_option table[] = {
      INTEGER("clients", &world->clients, "number of clients (default 10000)"),
      OWN("rate", "R", read_rate, &world->rate,
          "requests per second of each client, a number or a fraction (default 1/60)"),
      FLAG(0, "closed", &world->is_closed,
           "each client waits for the end of its call before it pauses and starts the next one (default: clients start "
           "calls at random times, as a Poisson process)"),
      REAL("capacity", "R", &world->capacity,
           "requests per second that the server can handle (default: 1.5 times the normal load)"),
      INTEGER("queue", &world->queue,
              "number of requests that can wait at the server (default: one second of its capacity)"),
      REAL("latency", "S", &world->latency,
           "seconds for each answer, in addition to waiting and service (default 0.05)"),
      CHOICE("overflow", "KIND", &world->overflow, failure_names,
             "how requests fail when the server's queue is full (default 503)"),
      OWN("outage", "OUTAGE", read_outage, world,
          "START,LENGTH,KIND: beginning and length of the outage in seconds, and how requests fail during it "
          "(default 30,60,503)"),
      OWN("retry-after", "S", read_retry_after, &world->retry_after,
          "Retry-After in seconds, for 503-retry-after and 429 (default 10); end: the time until the outage ends"),
      REAL("timeout", "S", &world->timeout, "timeout of an attempt in seconds (default 10)"),
      REAL("duration", "S", &world->duration,
           "length of the run in seconds (default: until 120 seconds after the outage)"),
      OWN("policy", "POLICY", add_policy, query,
          "NAME, or NAME:OPTION=VALUE,... (see below). May be repeated (default: all predefined policies)"),
      INTEGER("clients-per-budget", &world->clients_per_budget,
              "number of clients that share a retry budget and a gate, if the policy has them (default 1)"),
      INTEGER("seed", &world->seed, "seed of the random numbers; the same seed gives the same run (default 1)"),
      FLAG(0, "json", &query->as_json, "print one line of JSON"),
      TEXT(0, "svg", "FILE", &query->svg_path, "write a chart of the load over time to FILE"),
  };
  const int exit_code = read_options(&simulate_command, table, sizeof table / sizeof table[0], argc, argv);
  return exit_code == TOOL_GO_ON ? complete(query) : exit_code;
}
