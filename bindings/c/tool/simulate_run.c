/* The clients of a simulation: real strategies, retry loops and budgets, in the virtual time of a manual clock. */
#include "simulate_state.h"

#include <math.h>
#include <stdlib.h>

/* --- Calls --- */

static boxretry_error take_call(simulation *sim, uint32_t *number) {
  if (sim->first_free != NO_CALL) {
    *number = sim->first_free;
    sim->first_free = sim->calls[*number].client;
    return BOXRETRY_OK;
  }
  if (sim->call_count == sim->call_capacity) {
    const uint32_t capacity = sim->call_capacity ? sim->call_capacity * 2 : 1024;
    sim_call *grown = capacity < NO_CALL / 2 ? realloc(sim->calls, capacity * sizeof *grown) : NULL;
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

/* Advances the clock of the retry loops to the simulation's time. */
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

/* Sends an attempt, or lets it wait for its gate. */
static boxretry_error ask_gate(simulation *sim, uint32_t number) {
  sim_call *call = &sim->calls[number];
  if (!sim->gates.gates) return send_attempt(sim, number);
  const size_t gate = sim_group(sim, call->client);
  if (sim_gate_lets_through(&sim->gates, gate, sim->now, &call->pass)) return send_attempt(sim, number);
  return sim_gate_hold(&sim->gates, gate, number) ? BOXRETRY_OK : BOXRETRY_ERROR_OUT_OF_MEMORY;
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
  if (sim->budgets) options.budget = sim->budgets[sim_group(sim, client)];
  sim_call *call = &sim->calls[number];
  error = boxretry_retry_loop_new(sim->strategy, &options, &call->loop);
  if (error != BOXRETRY_OK) return error;
  call->began = sim->now;
  call->client = client;
  sim->result->calls++;
  return ask_gate(sim, number);
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

/* --- Events --- */

/* The server chose its Retry-After when the attempt arrived. */
static void count_down(simulation *sim) {
  const double arrived = sim->now - sim->world->latency, left = sim_outage_end(sim->world) - arrived;
  const double after_outage = 1; /* for a full queue */
  sim_set_retry_after(sim, left > 0 ? left : after_outage);
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

/* Starts attempts that the gate no longer holds. Calls whose deadline has passed meanwhile end here. */
static boxretry_error let_through(simulation *sim, size_t gate) {
  const double deadline =
      sim->policy->deadline_ms == BOXRETRY_NO_TIMEOUT ? HUGE_VAL : (double)sim->policy->deadline_ms / 1000;
  sim_pass pass;
  for (uint32_t call; (call = sim_gate_next(&sim->gates, gate, sim->now, &pass)) != no_held_call;) {
    const bool is_late = sim->now >= sim->calls[call].began + deadline;
    if (is_late) sim_gate_answered(&sim->gates, gate, GATE_NONE, 0, pass, sim->now);
    sim->calls[call].pass = pass;
    const boxretry_error error = is_late ? end_call(sim, call, false) : send_attempt(sim, call);
    if (error != BOXRETRY_OK) return error;
  }
  return BOXRETRY_OK;
}

/* The policy's wait after a Retry-After, with its jitter, up to its cap. */
static double shared_retry_after(const simulation *sim, size_t gate) {
  const boxretry_retry_options *options = &sim->policy->options;
  const double jitter = options->retry_after_jitter * sim_gate_unit_random(&sim->gates, gate);
  const double seconds = strtod(sim->retry_after_text, NULL) * (1 + jitter), cap = options->retry_after_cap;
  return cap > 0 && seconds > cap ? cap : seconds;
}

static boxretry_error tell_gate(simulation *sim, sim_event answer) {
  if (!sim->gates.gates) return BOXRETRY_OK;
  static const gate_answer meanings[] = {[FAILURE_503] = GATE_OVERLOADED, [FAILURE_503_RETRY_AFTER] = GATE_COME_BACK,
                                         [FAILURE_429] = GATE_COME_BACK,  [FAILURE_REFUSED] = GATE_NONE,
                                         [FAILURE_SILENT] = GATE_NONE,    [ANSWER_OK] = GATE_OTHER};
  const sim_call *call = &sim->calls[answer.number];
  const size_t gate = sim_group(sim, call->client);
  const double alarm =
      sim_gate_answered(&sim->gates, gate, meanings[answer.kind], shared_retry_after(sim, gate), call->pass, sim->now);
  if (alarm >= 0 && !event_heap_add(&sim->waits, (sim_event){alarm, (uint32_t)gate, GATE}))
    return BOXRETRY_ERROR_OUT_OF_MEMORY;
  return let_through(sim, gate);
}

/* A client has the result of its attempt: the library decides. */
static boxretry_error answered(simulation *sim, sim_event answer) {
  boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  describe(sim, answer.kind, &outcome);
  boxretry_error error = set_clock(sim);
  if (error == BOXRETRY_OK) error = tell_gate(sim, answer);
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

/* Handles the next event. Returns false if it is after the end of the run. */
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
  if (wait.kind != GATE) return wait.kind == RETRY ? ask_gate(sim, wait.number) : begin_call(sim, wait.number);
  sim_gate_time_has_come(&sim->gates, wait.number, sim->now);
  return let_through(sim, wait.number);
}

boxretry_error sim_run(const sim_world *world, const sim_policy *policy, sim_progress *progress, sim_result *result) {
  enum { STEPS_BETWEEN_LOOKS = 65536 };
  simulation sim;
  boxretry_error error = sim_state_begin(&sim, world, policy, result);
  if (error == BOXRETRY_OK) error = begin_arrivals(&sim);
  bool is_over = false;
  for (uint64_t steps = 0; error == BOXRETRY_OK && !is_over; steps++) {
    if (steps % STEPS_BETWEEN_LOOKS == 0) sim_progress_show(progress, policy->name, sim.now / world->duration);
    error = step(&sim, &is_over);
  }
  if (error == BOXRETRY_OK) sim_measures_end(result, world);
  sim_state_end(&sim);
  return error;
}
