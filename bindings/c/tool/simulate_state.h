/* boxretry simulate: the state of one run. */
#ifndef BOXRETRY_TOOL_SIMULATE_STATE_H
#define BOXRETRY_TOOL_SIMULATE_STATE_H

#include "simulate.h"
#include "simulate_events.h"
#include "simulate_gates.h"
#include "simulate_random.h"
#include "simulate_server.h"

/* A call under way. */
typedef struct sim_call {
  boxretry_retry_loop *loop;
  double began;
  sim_pass pass;   /* of the attempt under way */
  uint32_t client; /* of a free one: the next free one */
} sim_call;

#define NO_CALL UINT32_MAX
/* What ends a wait: the attempt of a call, the first attempt of a client's next call; or when a gate opens. */
enum { RETRY, THINK, GATE };

typedef struct simulation {
  const sim_world *world;
  const sim_policy *policy;
  sim_result *result;
  sim_server server;
  double now;

  boxretry_strategy *strategy;
  boxretry_clock *clock;
  double clock_time;
  boxretry_budget **budgets; /* NULL: the policy has none */
  size_t budget_count;
  sim_gates gates;
  boxretry_header retry_after;
  char retry_after_text[32];

  sim_call *calls;
  uint32_t call_count, call_capacity, first_free;

  event_heap waits;                     /* of calls that will be retried, and of clients that think */
  event_queue served, failed, timeouts; /* answers on their way; each kind comes in the order of its attempts */
  double next_arrival;                  /* of an open world */
  sim_random arrivals, seeds;
} simulation;

/** The clients that share a budget share a gate. */
static inline size_t sim_group(const simulation *sim, uint32_t client) {
  return client / (uint32_t)sim->world->clients_per_budget;
}

/** Prepares a run. sim_state_end() is for one that could not be prepared, too. */
boxretry_error sim_state_begin(simulation *sim, const sim_world *world, const sim_policy *policy, sim_result *result);
void sim_state_end(simulation *sim);

/** The value of the next Retry-After. */
void sim_set_retry_after(simulation *sim, double seconds);

#endif
