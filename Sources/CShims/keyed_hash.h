#ifndef BOXRETRY_KEYED_HASH_H
#define BOXRETRY_KEYED_HASH_H

#include <stdint.h>

/* A hash of two texts and a number. Different inputs have the same hash only by chance, with a probability of 2^-64 per
 * pair: the hash has a secret key, so an attacker cannot choose texts that collide. The key is different in each
 * process. */
uint64_t keyed_hash(const char *first, const char *second, uint64_t number);

#endif
