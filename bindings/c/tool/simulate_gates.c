/* A model of the library's origin gate, as described in docs/semantics.md, C3. */
#include "simulate_gates.h"

#include <stdlib.h>

/* The largest number of concurrent attempts of a client, and the seconds after which an unused gate is dropped. */
enum { UNLIMITED = 512, GATE_LIFE = 60 };

const uint32_t no_held_call = UINT32_MAX;

struct sim_gate {
  enum { GATE_OPEN, GATE_CLOSED, GATE_LIMITED } state;
  uint32_t opening, first_opening; /* of the period since the gate last opened: the current round and the first one */
  int32_t allowed, in_flight;
  bool is_full;       /* the allowed number of attempts has been in flight */
  double until;       /* of a closed gate */
  double unit_random; /* position in the range of the jitter, 0 to 1: the same until the gate has closed and opened */
  double limited_at;
  int64_t admitted, answered_well; /* since it was closed */
  int64_t quota;                   /* number answered well before it closed; 0: unknown */
  uint32_t first_held, last_held;
};

/* Removes the gate. The next one draws a new jitter. */
static void open_gate(sim_gates *gates, sim_gate *gate, uint32_t first_held, uint32_t last_held) {
  *gate = (sim_gate){.opening = gate->opening,
                     .first_opening = gate->opening + 1,
                     .unit_random = sim_random_unit(&gates->random),
                     .first_held = first_held,
                     .last_held = last_held};
}

bool sim_gates_begin(sim_gates *gates, size_t count, uint64_t seed) {
  gates->gates = calloc(count, sizeof *gates->gates);
  if (!gates->gates) return false;
  gates->count = count;
  sim_random_begin(&gates->random, seed);
  for (size_t i = 0; i < count; i++)
    open_gate(gates, &gates->gates[i], no_held_call, no_held_call);
  return true;
}

double sim_gate_unit_random(const sim_gates *gates, size_t gate) {
  return gates->gates[gate].unit_random;
}

void sim_gates_free(sim_gates *gates) {
  free(gates->gates);
  free(gates->next_held);
  *gates = (sim_gates){0};
}

static void begin_anew(sim_gate *gate) {
  gate->opening++;
  gate->allowed = 1;
  gate->in_flight = 0;
  gate->is_full = false;
}

bool sim_gate_lets_through(sim_gates *gates, size_t index, double now, sim_pass *pass) {
  sim_gate *gate = &gates->gates[index];
  *pass = (sim_pass){0};
  if (gate->state == GATE_LIMITED && gate->in_flight < gate->allowed && now - gate->limited_at >= GATE_LIFE)
    open_gate(gates, gate, gate->first_held, gate->last_held);
  if (gate->state != GATE_LIMITED) return gate->state == GATE_OPEN;
  if (gate->quota > 0 && gate->admitted >= gate->quota && gate->answered_well > 0) {
    begin_anew(gate);
    gate->quota = 0;
  }
  if (gate->in_flight >= gate->allowed) return false;
  gate->admitted++;
  if (++gate->in_flight == gate->allowed) {
    gate->is_full = true;
    gate->limited_at = now;
  }
  *pass = (sim_pass){gate->opening, gate->allowed};
  return true;
}

bool sim_gate_hold(sim_gates *gates, size_t index, uint32_t call) {
  sim_gate *gate = &gates->gates[index];
  if (call >= gates->capacity) {
    size_t capacity = gates->capacity ? gates->capacity : 1024;
    while (capacity <= call)
      capacity *= 2;
    uint32_t *grown = realloc(gates->next_held, capacity * sizeof *grown);
    if (!grown) return false;
    gates->next_held = grown;
    gates->capacity = capacity;
  }
  gates->next_held[call] = no_held_call;
  if (gate->last_held == no_held_call) {
    gate->first_held = call;
  } else {
    gates->next_held[gate->last_held] = call;
  }
  gate->last_held = call;
  return true;
}

uint32_t sim_gate_next(sim_gates *gates, size_t index, double now, sim_pass *pass) {
  sim_gate *gate = &gates->gates[index];
  const uint32_t call = gate->first_held;
  if (call == no_held_call || !sim_gate_lets_through(gates, index, now, pass)) return no_held_call;
  gate->first_held = gates->next_held[call];
  if (gate->first_held == no_held_call) gate->last_held = no_held_call;
  return call;
}

static double close_gate(sim_gate *gate, double until, double now) {
  if (gate->state == GATE_CLOSED && gate->until >= until) return -1;
  if (gate->state == GATE_LIMITED) gate->quota = gate->answered_well > 1 ? gate->answered_well : 1;
  gate->state = GATE_CLOSED;
  gate->until = until;
  gate->limited_at = now;
  return until;
}

/* Whether the attempt was let through since the gate last closed or, if it is closed, while it was last open. */
static bool is_of_last_opening(const sim_gate *gate, sim_pass pass) {
  return pass.step > 0 && pass.opening >= gate->first_opening;
}

static void free_place(sim_gate *gate, sim_pass pass) {
  if (pass.opening == gate->opening && gate->in_flight > 0) gate->in_flight--;
}

double sim_gate_answered(sim_gates *gates, size_t index, gate_answer answer, double retry_after, sim_pass pass,
                         double now) {
  sim_gate *gate = &gates->gates[index];
  if (answer == GATE_COME_BACK) return close_gate(gate, now + retry_after, now);
  if (gate->state == GATE_CLOSED) {
    if (answer == GATE_OTHER && is_of_last_opening(gate, pass) && gate->quota > 0) gate->quota++;
  } else if (gate->state == GATE_LIMITED) {
    const bool is_well = answer == GATE_OTHER;
    if (is_well && is_of_last_opening(gate, pass)) gate->answered_well++;
    free_place(gate, pass);
    if (!is_well || pass.opening != gate->opening || pass.step != gate->allowed || !gate->is_full) return -1;
    gate->allowed *= 2;
    gate->is_full = false;
    if (gate->allowed >= UNLIMITED) open_gate(gates, gate, gate->first_held, gate->last_held);
  }
  return -1;
}

void sim_gate_time_has_come(sim_gates *gates, size_t index, double now) {
  sim_gate *gate = &gates->gates[index];
  if (gate->state != GATE_CLOSED || now < gate->until) return;
  begin_anew(gate);
  gate->first_opening = gate->opening;
  gate->state = GATE_LIMITED;
  gate->unit_random = sim_random_unit(&gates->random);
  gate->admitted = gate->answered_well = 0;
  gate->limited_at = now;
}
