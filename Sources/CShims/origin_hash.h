#ifndef BOXRETRY_ORIGIN_HASH_H
#define BOXRETRY_ORIGIN_HASH_H

#include <stdint.h>

/* A number for a host and a port. Different origins have the same number only by chance, once in 2^64 pairs: the hash has
 * a secret key, so nobody can choose names that collide. The key differs from process to process. */
uint64_t origin_hash(const char *host, const char *port);

#endif
