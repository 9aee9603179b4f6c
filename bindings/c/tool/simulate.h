/* boxretry simulate: what its parts share. Times are seconds since the beginning of a run. */
#ifndef BOXRETRY_TOOL_SIMULATE_H
#define BOXRETRY_TOOL_SIMULATE_H

#include <boxretry.h>
#include <stdbool.h>
#include <stdint.h>

#include "tool.h"

/** How the server fails: in an outage, or when its queue is full. The order is that of `failure_names`. */
typedef enum failure_kind {
  FAILURE_503,
  FAILURE_503_RETRY_AFTER,
  FAILURE_429,     /* with Retry-After, as rate limiters send it */
  FAILURE_REFUSED, /* the connection is refused */
  FAILURE_SILENT,  /* no answer: the client's timeout ends the attempt */
  FAILURE_KINDS
} failure_kind;

extern const char *const failure_names[];

/** A server that knows when it will be back says so: Retry-After counts down to the end of the outage. */
#define UNTIL_OUTAGE_END (-1.0)

/** What all policies meet: the clients, and the server. */
typedef struct sim_world {
  int32_t clients;
  double rate;       /* requests a second of each client */
  int32_t is_closed; /* each client waits for the end of its call before it thinks about the next one */
  int32_t clients_per_budget;
  double timeout; /* of an attempt */

  double capacity; /* requests a second */
  int32_t queue;   /* requests that can wait */
  double latency;  /* of each answer, beside waiting and service */
  int32_t overflow;
  double outage_start;
  double outage_length;
  int32_t outage_kind;
  double retry_after; /* the value of Retry-After, where there is one; UNTIL_OUTAGE_END */

  double duration; /* of the run */
  int32_t seed;
} sim_world;

/** Requests a second without retries, when all is well. */
double sim_normal_load(const sim_world *world);

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
  int32_t shares_retry_after; /* the calls of a budget have a gate */
} sim_policy;

/** What came of a run, in cells of `cell` seconds; one of them begins with the outage. */
typedef struct sim_series {
  double cell;
  double first; /* when the first cell begins: 0 or before */
  size_t count;
  uint32_t *load;      /* attempts that arrived at the server */
  uint32_t *succeeded; /* calls that ended well, at their end */
  uint32_t *failed;    /* calls that ended badly */
} sim_series;

/** The result of one policy. */
typedef struct sim_result {
  sim_series series;
  double calls;                         /* that were begun */
  double attempts;                      /* that arrived at the server */
  double succeeded;                     /* calls */
  double failed;                        /* calls */
  double peak_during, peak_after;       /* highest load in one bucket, relative to normal */
  double goodput_during, goodput_after; /* successes relative to normal */
  double recovery;                      /* seconds after the outage; negative: not within the run */
  double median_time, worst_time;       /* to success, of calls begun in the outage; negative: there are none */
  float *times;                         /* of these calls, while the run lasts */
  size_t time_count, time_capacity;
} sim_result;

/** What boxretry simulate is asked for. */
typedef struct sim_query {
  sim_world world;
  sim_policy policies[SIM_MAX_POLICIES];
  int32_t policy_count;
  int32_t as_json;
  const char *svg_path;
} sim_query;

/** Reads the command line. TOOL_GO_ON, or the code to exit with. */
int sim_read_options(sim_query *query, int argc, char **argv);

/** The ready-made policy of that name; false: there is none. */
bool sim_ready_made(const char *name, sim_policy *policy);
extern const char *const sim_ready_made_names[];

/** Reads NAME[:OPTION=VALUE,...]. TOOL_GO_ON, or the code to exit with. Overwrites `text`. */
int sim_parse_policy(char *text, sim_policy *policy);

/** Shows how far a long run is, on a terminal. */
typedef struct sim_progress {
  bool is_on;
  bool is_drawn;
  double began;
  int32_t index, count; /* which policy, of how many */
} sim_progress;

void sim_progress_begin(sim_progress *progress, int32_t count);
void sim_progress_show(sim_progress *progress, const char *name, double part);
void sim_progress_end(sim_progress *progress);

/** Runs one policy. The caller frees the result with sim_result_free(), also after an error. */
boxretry_error sim_run(const sim_world *world, const sim_policy *policy, sim_progress *progress, sim_result *result);
void sim_result_free(sim_result *result);

/** Prepares the series of a result. OUT_OF_MEMORY. */
boxretry_error sim_measures_begin(sim_result *result, const sim_world *world);
/** Computes what a result says as a whole from its series. */
void sim_measures_end(sim_result *result, const sim_world *world);
/** The cell in which that moment lies. */
size_t sim_cell(const sim_series *series, double time);
/** How long a bucket is, in cells: what load is averaged over. */
size_t sim_bucket_cells(const sim_series *series, const sim_world *world);
/** The cell with which the first bucket begins, so that one begins with the outage. */
size_t sim_first_bucket(const sim_series *series, const sim_world *world);
/** The load of a bucket that begins with that cell, relative to normal. */
double sim_bucket_load(const sim_series *series, const sim_world *world, size_t first_cell);

void sim_print_text(const sim_query *query, const sim_result *results);
void sim_print_json(const sim_query *query, const sim_result *results);
/** Writes the picture. False: errno says why not. */
bool sim_write_svg(const sim_query *query, const sim_result *results);

#endif
