#ifndef BOXRETRY_KEYED_HASH_H
#define BOXRETRY_KEYED_HASH_H

#include <stdint.h>

/* A number for two texts and a number. Different ones have the same hash only by chance, once in 2^64 pairs: the hash has a
 * secret key, so nobody can choose texts that collide. The key differs from process to process. */
uint64_t keyed_hash(const char *first, const char *second, uint64_t number);

#endif
