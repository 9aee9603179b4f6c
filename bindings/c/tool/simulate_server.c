/* A model of a server. Service times are constant (M/D/1 with Poisson arrivals), so its future is known at each
 * arrival. */
#include "simulate_server.h"

#include <math.h>

const char *const failure_names[] = {[FAILURE_503] = "503",       [FAILURE_503_RETRY_AFTER] = "503-retry-after",
                                     [FAILURE_429] = "429",       [FAILURE_REFUSED] = "refused",
                                     [FAILURE_SILENT] = "silent", [FAILURE_KINDS] = NULL};

void sim_server_begin(sim_server *server, const sim_world *world) {
  *server = (sim_server){.world = world, .service = 1 / world->capacity, .free_at = 0};
}

/* Failures cost the server no time. A client whose timeout is shorter than the latency sees only its timeout. */
static sim_answer failed(const sim_world *world, double now, int32_t kind) {
  const bool is_silent = kind == FAILURE_SILENT || world->latency > world->timeout;
  return (sim_answer){
      .time = now + (is_silent ? world->timeout : world->latency),
      .kind = is_silent ? (uint32_t)FAILURE_SILENT : (uint32_t)kind,
      .is_served = false,
  };
}

sim_answer sim_server_arrival(sim_server *server, double now) {
  const sim_world *world = server->world;
  if (now >= world->outage_start && now < sim_outage_end(world)) return failed(world, now, world->outage_kind);
  /* Requests that arrive while the server is busy wait in the queue. */
  const double ahead = ceil((server->free_at - now) / server->service);
  if (ahead > world->queue) return failed(world, now, world->overflow);
  server->free_at = (server->free_at > now ? server->free_at : now) + server->service;
  const double done = server->free_at + world->latency;
  if (done > now + world->timeout) return failed(world, now, FAILURE_SILENT);
  return (sim_answer){.time = done, .kind = ANSWER_OK, .is_served = true};
}
