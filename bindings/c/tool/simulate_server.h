/* A model of a server that works at a constant rate, with a queue and an outage. */
#ifndef BOXRETRY_TOOL_SIMULATE_SERVER_H
#define BOXRETRY_TOOL_SIMULATE_SERVER_H

#include "simulate.h"

/** How an attempt ends: 200, or one of the failures. */
enum { ANSWER_OK = FAILURE_KINDS };

/** The result of an attempt. */
typedef struct sim_answer {
  double time; /* when the client gets it */
  uint32_t kind;
  bool is_served; /* it was queued and processed */
} sim_answer;

typedef struct sim_server {
  const sim_world *world;
  double service; /* seconds per request */
  double free_at; /* when everything in the queue will be done */
} sim_server;

void sim_server_begin(sim_server *server, const sim_world *world);

/** An attempt arrives. It is accepted, or fails; an accepted one costs capacity even if its client gives up. */
sim_answer sim_server_arrival(sim_server *server, double now);

#endif
