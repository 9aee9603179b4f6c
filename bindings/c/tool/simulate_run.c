/* The clients of a simulation: real strategies, retry loops and budgets, in the virtual time of a manual clock. */
#include "simulate.h"

#include "simulate_events.h"
#include "simulate_random.h"
#include "simulate_server.h"

#include <stdio.h>
#include <stdlib.h>

/* A call under way. */
typedef struct sim_call {
  boxretry_retry_loop *loop;
  double began;
  uint32_t client; /* of a free one: the next free one */
} sim_call;

static const uint32_t no_call = UINT32_MAX;
enum { RETRY, THINK }; /* what ends a wait: the attempt of a call, the first attempt of a client's next call */

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
  boxretry_header retry_after;
  char retry_after_text[32];

  sim_call *calls;
  uint32_t call_count, call_capacity, first_free;

  event_heap waits;                     /* of calls that will be retried, and of clients that think */
  event_queue served, failed, timeouts; /* answers on their way; each kind comes in the order of its attempts */
  double next_arrival;                  /* of an open world */
  sim_random arrivals, seeds;
} simulation;

/* --- Making and ending --- */

static boxretry_error make_budgets(simulation *sim) {
  if (sim->policy->budget_capacity == 0) return BOXRETRY_OK;
  const int32_t shared = sim->world->clients_per_budget;
  const size_t count = ((size_t)sim->world->clients + (size_t)shared - 1) / (size_t)shared;
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

static void set_retry_after(simulation *sim, double seconds) {
  snprintf(sim->retry_after_text, sizeof sim->retry_after_text, "%.3f", seconds);
}

static boxretry_error begin(simulation *sim, const sim_world *world, const sim_policy *policy, sim_result *result) {
  *sim = (simulation){.world = world, .policy = policy, .result = result, .first_free = no_call};
  sim_server_begin(&sim->server, world);
  /* All policies meet the same arrivals, and calls have the same jitter as far as they go the same way. */
  sim_random_begin(&sim->arrivals, (uint64_t)(uint32_t)world->seed);
  sim_random_begin(&sim->seeds, ~(uint64_t)(uint32_t)world->seed);
  set_retry_after(sim, world->retry_after);
  sim->retry_after = (boxretry_header){"Retry-After", sim->retry_after_text};
  boxretry_error error = sim_measures_begin(result, world);
  if (error == BOXRETRY_OK) error = boxretry_strategy_new(&policy->options, &sim->strategy);
  if (error == BOXRETRY_OK) error = boxretry_clock_new_manual(&sim->clock);
  if (error == BOXRETRY_OK) error = make_budgets(sim);
  return error;
}

static void end(simulation *sim) {
  /* Ended calls have given theirs back. */
  for (uint32_t i = 0; i < sim->call_count; i++)
    boxretry_retry_loop_free(sim->calls[i].loop);
  free(sim->calls);
  for (size_t i = 0; i < sim->budget_count; i++)
    boxretry_budget_free(sim->budgets[i]);
  free(sim->budgets);
  boxretry_clock_free(sim->clock);
  boxretry_strategy_free(sim->strategy);
  event_heap_free(&sim->waits);
  event_queue_free(&sim->served);
  event_queue_free(&sim->failed);
  event_queue_free(&sim->timeouts);
}

/* --- Calls --- */

static boxretry_error take_call(simulation *sim, uint32_t *number) {
  if (sim->first_free != no_call) {
    *number = sim->first_free;
    sim->first_free = sim->calls[*number].client;
    return BOXRETRY_OK;
  }
  if (sim->call_count == sim->call_capacity) {
    const uint32_t capacity = sim->call_capacity ? sim->call_capacity * 2 : 1024;
    sim_call *grown = capacity < no_call / 2 ? realloc(sim->calls, capacity * sizeof *grown) : NULL;
    if (!grown) return BOXRETRY_ERROR_OUT_OF_MEMORY;
    sim->calls = grown;
    sim->call_capacity = capacity;
  }
  *number = sim->call_count++;
  sim->calls[*number].loop = NULL;
  return BOXRETRY_OK;
}

static boxretry_error think(simulation *sim, uint32_t client) {
  const double time = sim->now + sim_random_exponential(&sim->arrivals, 1 / sim->world->rate);
  return event_heap_add(&sim->waits, (sim_event){time, client, THINK}) ? BOXRETRY_OK : BOXRETRY_ERROR_OUT_OF_MEMORY;
}

/* Moves the clock of the retry loops on, before one of them looks at it. */
static boxretry_error set_clock(simulation *sim) {
  const double seconds = sim->now - sim->clock_time;
  sim->clock_time = sim->now;
  return boxretry_clock_advance(sim->clock, seconds);
}

static boxretry_error send_attempt(simulation *sim, uint32_t number) {
  sim_result *result = sim->result;
  result->series.load[sim_cell(&result->series, sim->now)]++;
  result->attempts++;
  const sim_answer answer = sim_server_arrival(&sim->server, sim->now);
  event_queue *queue = answer.is_served ? &sim->served : answer.kind == FAILURE_SILENT ? &sim->timeouts : &sim->failed;
  const bool ok = event_queue_add(queue, (sim_event){answer.time, number, answer.kind});
  return ok ? BOXRETRY_OK : BOXRETRY_ERROR_OUT_OF_MEMORY;
}

static boxretry_error begin_call(simulation *sim, uint32_t client) {
  uint32_t number;
  boxretry_error error = set_clock(sim);
  if (error == BOXRETRY_OK) error = take_call(sim, &number);
  if (error != BOXRETRY_OK) return error;
  boxretry_loop_options options = BOXRETRY_LOOP_OPTIONS_INIT;
  options.clock = sim->clock;
  options.deadline_ms = sim->policy->deadline_ms;
  options.seed = sim_random_next(&sim->seeds) | 1; /* 0 would be random */
  if (sim->budgets) options.budget = sim->budgets[client / (uint32_t)sim->world->clients_per_budget];
  sim_call *call = &sim->calls[number];
  error = boxretry_retry_loop_new(sim->strategy, &options, &call->loop);
  if (error != BOXRETRY_OK) return error;
  call->began = sim->now;
  call->client = client;
  sim->result->calls++;
  return send_attempt(sim, number);
}

static boxretry_error note_time_to_success(simulation *sim, const sim_call *call) {
  sim_result *result = sim->result;
  const bool is_of_outage = call->began >= sim->world->outage_start && call->began < sim_outage_end(sim->world);
  if (!is_of_outage) return BOXRETRY_OK;
  if (result->time_count == result->time_capacity) {
    const size_t capacity = result->time_capacity ? result->time_capacity * 2 : 1024;
    float *grown = realloc(result->times, capacity * sizeof *grown);
    if (!grown) return BOXRETRY_ERROR_OUT_OF_MEMORY;
    result->times = grown;
    result->time_capacity = capacity;
  }
  result->times[result->time_count++] = (float)(sim->now - call->began);
  return BOXRETRY_OK;
}

static boxretry_error end_call(simulation *sim, uint32_t number, bool has_succeeded) {
  sim_result *result = sim->result;
  sim_call *call = &sim->calls[number];
  const uint32_t client = call->client;
  const size_t cell = sim_cell(&result->series, sim->now);
  boxretry_error error = BOXRETRY_OK;
  if (has_succeeded) {
    result->series.succeeded[cell]++;
    result->succeeded++;
    error = note_time_to_success(sim, call);
  } else {
    result->series.failed[cell]++;
    result->failed++;
  }
  boxretry_retry_loop_free(call->loop);
  call->loop = NULL;
  call->client = sim->first_free;
  sim->first_free = number;
  if (error == BOXRETRY_OK && sim->world->is_closed) error = think(sim, client);
  return error;
}

/* --- What happens --- */

/* The server has written its Retry-After when the attempt arrived. */
static void count_down(simulation *sim) {
  const double arrived = sim->now - sim->world->latency, left = sim_outage_end(sim->world) - arrived;
  const double after_outage = 1; /* for a queue that is full */
  set_retry_after(sim, left > 0 ? left : after_outage);
}

static void describe(simulation *sim, uint32_t kind, boxretry_outcome *outcome) {
  switch (kind) {
  case ANSWER_OK:
    outcome->status = 200;
    break;
  case FAILURE_503:
    outcome->status = 503;
    break;
  case FAILURE_503_RETRY_AFTER:
  case FAILURE_429:
    outcome->status = kind == FAILURE_429 ? 429 : 503;
    if (sim->world->retry_after == UNTIL_OUTAGE_END) count_down(sim);
    outcome->headers = &sim->retry_after;
    outcome->header_count = 1;
    break;
  case FAILURE_REFUSED:
    outcome->cause = BOXRETRY_CAUSE_CONNECT;
    outcome->request_sent = BOXRETRY_SENT_NOTHING;
    break;
  default:
    outcome->cause = BOXRETRY_CAUSE_TIMEOUT_IDLE;
    outcome->request_sent = BOXRETRY_SENT_SOME;
  }
}

/* A client knows how its attempt ended: the library decides. */
static boxretry_error answered(simulation *sim, sim_event answer) {
  boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  describe(sim, answer.kind, &outcome);
  boxretry_error error = set_clock(sim);
  if (error == BOXRETRY_OK) error = boxretry_retry_loop_next(sim->calls[answer.number].loop, &outcome, &decision);
  if (error != BOXRETRY_OK) return error;
  if (decision.action == BOXRETRY_ACTION_RETRY) {
    const sim_event retry = {sim->now + decision.delay, answer.number, RETRY};
    return event_heap_add(&sim->waits, retry) ? BOXRETRY_OK : BOXRETRY_ERROR_OUT_OF_MEMORY;
  }
  return end_call(sim, answer.number, decision.action == BOXRETRY_ACTION_SUCCEED);
}

static boxretry_error arrival(simulation *sim) {
  const sim_world *world = sim->world;
  const uint32_t client = (uint32_t)(sim_random_unit(&sim->arrivals) * world->clients);
  sim->next_arrival += sim_random_exponential(&sim->arrivals, 1 / (world->rate * world->clients));
  return begin_call(sim, client < (uint32_t)world->clients ? client : 0);
}

static boxretry_error begin_arrivals(simulation *sim) {
  const sim_world *world = sim->world;
  sim->next_arrival = world->duration + 1;
  if (!world->is_closed) {
    sim->next_arrival = sim_random_exponential(&sim->arrivals, 1 / (world->rate * world->clients));
    return BOXRETRY_OK;
  }
  boxretry_error error = BOXRETRY_OK;
  for (int32_t client = 0; error == BOXRETRY_OK && client < world->clients; client++)
    error = think(sim, (uint32_t)client);
  return error;
}

static double time_of(const event_queue *queue, double otherwise) {
  return queue->count > 0 ? queue->items[queue->first].time : otherwise;
}

/* The next thing that happens. False: it lies beyond the end of the run. */
static boxretry_error step(simulation *sim, bool *is_over) {
  const double beyond = sim->world->duration;
  event_queue *queues[] = {&sim->served, &sim->failed, &sim->timeouts};
  event_queue *earliest = NULL;
  double time = sim->waits.count > 0 ? sim->waits.items[0].time : beyond;
  const bool is_arrival = sim->next_arrival < time;
  if (is_arrival) time = sim->next_arrival;
  for (size_t i = 0; i < sizeof queues / sizeof queues[0]; i++) {
    if (time_of(queues[i], beyond) >= time) continue;
    earliest = queues[i];
    time = time_of(earliest, beyond);
  }
  *is_over = time >= beyond;
  if (*is_over) return BOXRETRY_OK;
  sim->now = time;
  if (earliest) return answered(sim, event_queue_take(earliest));
  if (is_arrival) return arrival(sim);
  const sim_event wait = event_heap_take(&sim->waits);
  return wait.kind == RETRY ? send_attempt(sim, wait.number) : begin_call(sim, wait.number);
}

boxretry_error sim_run(const sim_world *world, const sim_policy *policy, sim_progress *progress, sim_result *result) {
  enum { STEPS_BETWEEN_LOOKS = 65536 };
  simulation sim;
  boxretry_error error = begin(&sim, world, policy, result);
  if (error == BOXRETRY_OK) error = begin_arrivals(&sim);
  bool is_over = false;
  for (uint64_t steps = 0; error == BOXRETRY_OK && !is_over; steps++) {
    if (steps % STEPS_BETWEEN_LOOKS == 0) sim_progress_show(progress, policy->name, sim.now / world->duration);
    error = step(&sim, &is_over);
  }
  if (error == BOXRETRY_OK) sim_measures_end(result, world);
  end(&sim);
  return error;
}
