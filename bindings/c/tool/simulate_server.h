/* The model of a server: one that works at a fixed pace, with a queue before it, and an outage. */
#ifndef BOXRETRY_TOOL_SIMULATE_SERVER_H
#define BOXRETRY_TOOL_SIMULATE_SERVER_H

#include "simulate.h"

/** How an attempt ends: 200, or one of the failures. */
enum { ANSWER_OK = FAILURE_KINDS };

/** What becomes of an attempt. */
typedef struct sim_answer {
  double time; /* when the client knows */
  uint32_t kind;
  bool is_served; /* it went through the queue */
} sim_answer;

typedef struct sim_server {
  const sim_world *world;
  double service; /* seconds a request */
  double free_at; /* when all that was accepted will be done */
} sim_server;

void sim_server_begin(sim_server *server, const sim_world *world);

/** An attempt arrives. It is accepted, or fails; one that is accepted costs capacity even if its client gives up. */
sim_answer sim_server_arrival(sim_server *server, double now);

#endif
