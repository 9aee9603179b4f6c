/* Beginning and end of a simulation run. */
#include "simulate_state.h"

#include <stdio.h>
#include <stdlib.h>

static boxretry_error make_budgets(simulation *sim) {
  if (sim->policy->budget_capacity == 0) return BOXRETRY_OK;
  const size_t count = sim_group(sim, (uint32_t)sim->world->clients - 1) + 1;
  sim->budgets = calloc(count, sizeof *sim->budgets);
  if (!sim->budgets) return BOXRETRY_ERROR_OUT_OF_MEMORY;
  boxretry_error error = BOXRETRY_OK;
  while (error == BOXRETRY_OK && sim->budget_count < count) {
    error =
        boxretry_budget_new(sim->policy->budget_capacity, sim->policy->budget_ratio, &sim->budgets[sim->budget_count]);
    if (error == BOXRETRY_OK) sim->budget_count++;
  }
  return error;
}

static boxretry_error make_gates(simulation *sim) {
  if (!sim->policy->shares_retry_after) return BOXRETRY_OK;
  const size_t count = sim_group(sim, (uint32_t)sim->world->clients - 1) + 1;
  return sim_gates_begin(&sim->gates, count, 3 * (uint64_t)(uint32_t)sim->world->seed) ? BOXRETRY_OK
                                                                                       : BOXRETRY_ERROR_OUT_OF_MEMORY;
}

void sim_set_retry_after(simulation *sim, double seconds) {
  snprintf(sim->retry_after_text, sizeof sim->retry_after_text, "%.3f", seconds);
}

boxretry_error sim_state_begin(simulation *sim, const sim_world *world, const sim_policy *policy, sim_result *result) {
  *sim = (simulation){.world = world, .policy = policy, .result = result, .first_free = NO_CALL};
  sim_server_begin(&sim->server, world);
  /* All policies get the same arrivals, and the same jitter as long as their calls take the same course. */
  sim_random_begin(&sim->arrivals, (uint64_t)(uint32_t)world->seed);
  sim_random_begin(&sim->seeds, ~(uint64_t)(uint32_t)world->seed);
  sim_set_retry_after(sim, world->retry_after);
  sim->retry_after = (boxretry_header){"Retry-After", sim->retry_after_text};
  boxretry_error error = sim_measures_begin(result, world);
  if (error == BOXRETRY_OK) error = boxretry_strategy_new(&policy->options, &sim->strategy);
  if (error == BOXRETRY_OK) error = boxretry_clock_new_manual(&sim->clock);
  if (error == BOXRETRY_OK) error = make_budgets(sim);
  if (error == BOXRETRY_OK) error = make_gates(sim);
  return error;
}

void sim_state_end(simulation *sim) {
  /* Calls that have ended have already freed theirs. */
  for (uint32_t i = 0; i < sim->call_count; i++)
    boxretry_retry_loop_free(sim->calls[i].loop);
  free(sim->calls);
  for (size_t i = 0; i < sim->budget_count; i++)
    boxretry_budget_free(sim->budgets[i]);
  free(sim->budgets);
  sim_gates_free(&sim->gates);
  boxretry_clock_free(sim->clock);
  boxretry_strategy_free(sim->strategy);
  event_heap_free(&sim->waits);
  event_queue_free(&sim->served);
  event_queue_free(&sim->failed);
  event_queue_free(&sim->timeouts);
}
