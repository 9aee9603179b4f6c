/* boxretry simulate: the state of one run. */
#ifndef BOXRETRY_TOOL_SIMULATE_STATE_H
#define BOXRETRY_TOOL_SIMULATE_STATE_H

#include "simulate.h"
#include "simulate_events.h"
#include "simulate_gates.h"
#include "simulate_random.h"
#include "simulate_server.h"

/* A running call. */
typedef struct sim_call {
  boxretry_retry_loop *loop;
  double began;
  sim_pass pass;   /* of the current attempt */
  uint32_t client; /* in the list of free calls: the next free one */
} sim_call;

#define NO_CALL UINT32_MAX
/* What happens when a wait ends: the next attempt of a call, the first attempt of a client's next call, or a gate
 * opens. */
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
  boxretry_budget **budgets; /* NULL: the policy does not use budgets */
  size_t budget_count;
  sim_gates gates;
  boxretry_header retry_after;
  char retry_after_text[32];

  sim_call *calls;
  uint32_t call_count, call_capacity, first_free;

  event_heap waits;                     /* of calls that will be retried, and of clients between calls */
  event_queue served, failed, timeouts; /* future answers; those of one kind are in the order of their attempts */
  double next_arrival;                  /* unless the world is closed */
  sim_random arrivals, seeds;
} simulation;

/** Clients that share a budget also share a gate. */
static inline size_t sim_group(const simulation *sim, uint32_t client) {
  return client / (uint32_t)sim->world->clients_per_budget;
}

/** Prepares a run. Call sim_state_end() also after an error. */
boxretry_error sim_state_begin(simulation *sim, const sim_world *world, const sim_policy *policy, sim_result *result);
void sim_state_end(simulation *sim);

/** Sets the value of the next Retry-After. */
void sim_set_retry_after(simulation *sim, double seconds);

#endif
