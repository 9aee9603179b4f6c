/* The origin gates of a simulation (C3): one for each group of clients, which share it as the calls of one client
 * do. */
#ifndef BOXRETRY_TOOL_SIMULATE_GATES_H
#define BOXRETRY_TOOL_SIMULATE_GATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulate_random.h"

/** The right to one attempt. All 0: the attempt began while there was no gate. */
typedef struct sim_pass {
  uint32_t opening;
  int32_t step;
} sim_pass;

/** The meaning of an answer for a gate. */
typedef enum gate_answer {
  GATE_COME_BACK,  /* 429 or 503 with Retry-After */
  GATE_OVERLOADED, /* the same without Retry-After */
  GATE_OTHER,
  GATE_NONE /* the attempt ended without an answer */
} gate_answer;

typedef struct sim_gate sim_gate;

typedef struct sim_gates {
  sim_gate *gates; /* NULL: the policy does not use gates */
  sim_random random;
  size_t count;
  uint32_t *next_held; /* indexed by call: the next one in the queue of its gate */
  size_t capacity;
} sim_gates;

extern const uint32_t no_held_call;

/** Returns false if out of memory. */
bool sim_gates_begin(sim_gates *gates, size_t count, uint64_t seed);
/** The jitter of the next Retry-After that closes the gate, 0 to 1. */
double sim_gate_unit_random(const sim_gates *gates, size_t gate);
void sim_gates_free(sim_gates *gates);

/** Whether an attempt may begin now. If not, add its call with sim_gate_hold(). */
bool sim_gate_lets_through(sim_gates *gates, size_t gate, double now, sim_pass *pass);
/** Adds a call to the queue of the gate. Returns false if out of memory. */
bool sim_gate_hold(sim_gates *gates, size_t gate, uint32_t call);
/** The next call in the queue if its attempt may begin now, else `no_held_call`. */
uint32_t sim_gate_next(sim_gates *gates, size_t gate, double now, sim_pass *pass);
/** Call when an attempt has ended. Returns the time for calling sim_gate_time_has_come(); negative: not needed. */
double sim_gate_answered(sim_gates *gates, size_t gate, gate_answer answer, double retry_after, sim_pass pass,
                         double now);
void sim_gate_time_has_come(sim_gates *gates, size_t gate, double now);

#endif
