/* The origin gates of a simulation (C3): one for each group of clients that share one, as the calls of a client do. */
#ifndef BOXRETRY_TOOL_SIMULATE_GATES_H
#define BOXRETRY_TOOL_SIMULATE_GATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulate_random.h"

/** The right to one attempt. All 0: of an attempt that began while there was no gate. */
typedef struct sim_pass {
  uint32_t opening;
  int32_t step;
} sim_pass;

/** What an answer means for a gate. */
typedef enum gate_answer {
  GATE_COME_BACK,  /* 429 or 503 with Retry-After */
  GATE_OVERLOADED, /* the same without */
  GATE_OTHER,
  GATE_NONE /* the attempt ended without an answer */
} gate_answer;

typedef struct sim_gate sim_gate;

typedef struct sim_gates {
  sim_gate *gates; /* NULL: the policy has none */
  sim_random random;
  size_t count;
  uint32_t *next_held; /* by call: the one behind it in the line of its gate */
  size_t capacity;
} sim_gates;

extern const uint32_t no_held_call;

/** False: there is no memory. */
bool sim_gates_begin(sim_gates *gates, size_t count, uint64_t seed);
/** Where in the range of the jitter of Retry-After the next closing ends, 0 to 1. */
double sim_gate_unit_random(const sim_gates *gates, size_t gate);
void sim_gates_free(sim_gates *gates);

/** Whether an attempt may begin now. If not, its call stands in line. */
bool sim_gate_lets_through(sim_gates *gates, size_t gate, double now, sim_pass *pass);
/** A call that was not let through waits. False: there is no memory. */
bool sim_gate_hold(sim_gates *gates, size_t gate, uint32_t call);
/** The next call that waited and now may begin its attempt; `no_held_call`: there is none. */
uint32_t sim_gate_next(sim_gates *gates, size_t gate, double now, sim_pass *pass);
/** An attempt has ended. The time at which sim_gate_time_has_come() is to be called; negative: there is no need. */
double sim_gate_answered(sim_gates *gates, size_t gate, gate_answer answer, double retry_after, sim_pass pass,
                         double now);
void sim_gate_time_has_come(sim_gates *gates, size_t gate, double now);

#endif
