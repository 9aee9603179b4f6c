/* SplitMix64: its only state is a counter. */
#include "simulate_random.h"

#include <math.h>

void sim_random_begin(sim_random *random, uint64_t seed) {
  random->state = seed;
  random->state = sim_random_next(random); /* makes sequences from successive seeds start far apart */
}

uint64_t sim_random_next(sim_random *random) {
  uint64_t mixed = random->state += 0x9E3779B97F4A7C15U;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
  return mixed ^ (mixed >> 31);
}

double sim_random_unit(sim_random *random) {
  return ((double)(sim_random_next(random) >> 11) + 0.5) / 9007199254740992.0;
}

double sim_random_exponential(sim_random *random, double mean) {
  return -log(sim_random_unit(random)) * mean;
}
