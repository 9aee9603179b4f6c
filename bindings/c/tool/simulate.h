/* boxretry simulate: shared declarations. Times are in seconds since the beginning of a run. */
#ifndef BOXRETRY_TOOL_SIMULATE_H
#define BOXRETRY_TOOL_SIMULATE_H

#include <boxretry.h>
#include <stdbool.h>
#include <stdint.h>

#include "tool.h"

/** How the server fails: in an outage, or when its queue is full. In the order of `failure_names`. */
typedef enum failure_kind {
  FAILURE_503,
  FAILURE_503_RETRY_AFTER,
  FAILURE_429,     /* with Retry-After, like rate limiters */
  FAILURE_REFUSED, /* the connection is refused */
  FAILURE_SILENT,  /* no answer: the client's timeout ends the attempt */
  FAILURE_KINDS
} failure_kind;

extern const char *const failure_names[];

/** A server that knows when the outage ends: Retry-After counts down to that moment. */
#define UNTIL_OUTAGE_END (-1.0)

/** The simulated world, the same for all policies: the clients and the server. */
typedef struct sim_world {
  int32_t clients;
  double rate;       /* requests per second of each client */
  int32_t is_closed; /* each client waits for the end of its call before it pauses and starts the next one */
  int32_t clients_per_budget;
  double timeout; /* of an attempt */

  double capacity; /* requests per second */
  int32_t queue;   /* requests that can wait */
  double latency;  /* of each answer, in addition to waiting and service */
  int32_t overflow;
  double outage_start;
  double outage_length;
  int32_t outage_kind;
  double retry_after; /* value of Retry-After, for the failures that have one; or UNTIL_OUTAGE_END */

  double duration; /* of the run */
  int32_t seed;
} sim_world;

/** Requests per second without retries and failures. */
double sim_normal_load(const sim_world *world);

/** "client" or "clients", for their number. */
const char *sim_clients_noun(const sim_world *world);

static inline double sim_outage_end(const sim_world *world) {
  return world->outage_start + world->outage_length;
}

enum { SIM_NAME_SIZE = 25, SIM_MAX_POLICIES = 16 };

/** How the clients retry. */
typedef struct sim_policy {
  char name[SIM_NAME_SIZE];
  boxretry_retry_options options;
  int32_t budget_capacity; /* 0: no budget */
  double budget_ratio;
  int64_t deadline_ms;
  int32_t shares_retry_after; /* the calls that share a budget also share a gate */
} sim_policy;

/** The results of a run, in cells of `cell` seconds; one of the cells begins with the outage. */
typedef struct sim_series {
  double cell;
  double first; /* when the first cell begins: 0 or earlier */
  size_t count;
  uint32_t *load;      /* attempts that arrived at the server */
  uint32_t *succeeded; /* calls that succeeded, counted when they end */
  uint32_t *failed;    /* calls that failed, counted when they end */
} sim_series;

/** The result of one policy. */
typedef struct sim_result {
  sim_series series;
  double calls;                         /* started */
  double attempts;                      /* received by the server */
  double succeeded;                     /* calls */
  double failed;                        /* calls */
  double peak_during, peak_after;       /* highest load in one bucket, relative to normal */
  double goodput_during, goodput_after; /* successes relative to normal */
  double recovery;                      /* seconds after the outage; negative: not within the run */
  double median_time, worst_time;       /* to success, of calls started in the outage; negative: none */
  float *times;                         /* of these calls, during the run */
  size_t time_count, time_capacity;
} sim_result;

/** The options of boxretry simulate. */
typedef struct sim_query {
  sim_world world;
  sim_policy policies[SIM_MAX_POLICIES];
  int32_t policy_count;
  int32_t as_json;
  const char *svg_path;
} sim_query;

/** Reads the command line. Returns TOOL_GO_ON or the exit code. */
int sim_read_options(sim_query *query, int argc, char **argv);

/** Gets the predefined policy with that name. Returns false if there is none. */
bool sim_ready_made(const char *name, sim_policy *policy);
extern const char *const sim_ready_made_names[];

/** Reads NAME[:OPTION=VALUE,...]. Returns TOOL_GO_ON or the exit code. Overwrites `text`. */
int sim_parse_policy(char *text, sim_policy *policy);

/** Shows the progress of a long run on a terminal. */
typedef struct sim_progress {
  bool is_on;
  bool is_drawn;
  double began;
  int32_t index, count; /* number of the policy, from 0, and number of policies */
} sim_progress;

void sim_progress_begin(sim_progress *progress, int32_t count);
void sim_progress_show(sim_progress *progress, const char *name, double part);
void sim_progress_end(sim_progress *progress);

/** Runs one policy. Free the result with sim_result_free(), also after an error. */
boxretry_error sim_run(const sim_world *world, const sim_policy *policy, sim_progress *progress, sim_result *result);
void sim_result_free(sim_result *result);

/** Allocates the series of a result. Error: OUT_OF_MEMORY. */
boxretry_error sim_measures_begin(sim_result *result, const sim_world *world);
/** Computes the totals of a result from its series. */
void sim_measures_end(sim_result *result, const sim_world *world);
/** The cell that contains that moment. */
size_t sim_cell(const sim_series *series, double time);
/** The length of a bucket in cells: loads are averaged over a bucket. */
size_t sim_bucket_cells(const sim_series *series, const sim_world *world);
/** The cell where the first bucket begins; chosen so that one bucket begins with the outage. */
size_t sim_first_bucket(const sim_series *series, const sim_world *world);
/** The load in the bucket that begins with that cell, relative to normal. */
double sim_bucket_load(const sim_series *series, const sim_world *world, size_t first_cell);

void sim_print_text(const sim_query *query, const sim_result *results);
void sim_print_json(const sim_query *query, const sim_result *results);
/** Writes the chart. On failure returns false and sets errno. */
bool sim_write_svg(const sim_query *query, const sim_result *results);

#endif
