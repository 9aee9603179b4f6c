/* Random numbers of a simulation: the same for the same seed on every machine. */
#ifndef BOXRETRY_TOOL_SIMULATE_RANDOM_H
#define BOXRETRY_TOOL_SIMULATE_RANDOM_H

#include <stdint.h>

/** A SplitMix64 generator. */
typedef struct sim_random {
  uint64_t state;
} sim_random;

void sim_random_begin(sim_random *random, uint64_t seed);
uint64_t sim_random_next(sim_random *random);
/** Uniform in (0, 1). */
double sim_random_unit(sim_random *random);
/** Exponentially distributed with that mean; always above 0. */
double sim_random_exponential(sim_random *random, double mean);

#endif
