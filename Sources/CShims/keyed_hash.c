/*
 * SipHash-1-3 with a random key. Tables of hosts and of connections use the hash instead of names and addresses, so a
 * collision would confuse two of them; and host names come from URLs and redirects, which a hostile server can choose.
 */
#include "keyed_hash.h"

#include "shims.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

/* 0: not chosen yet. Atomics are used because a fork() in another thread could leave a lock or pthread_once()
 * locked. */
static _Atomic uint64_t keys[2];

static uint64_t key(int index) {
  uint64_t value = atomic_load_explicit(&keys[index], memory_order_relaxed);
  if (value != 0) return value;
  uint64_t random = 0, unset = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random || random == 0)
    random = (shim_next_random_state() * 0xBF58476D1CE4E5B9U) | 1; /* the kernel has no randomness early during boot */
  return atomic_compare_exchange_strong(&keys[index], &unset, random) ? random : unset;
}

/* These are inline although the library is compiled for size: a request is hashed twice. */
#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t rotated(uint64_t word, int bits) {
  return word << bits | word >> (64 - bits);
}

INLINE void mix(uint64_t v[4]) {
  v[0] += v[1];
  v[1] = rotated(v[1], 13) ^ v[0];
  v[0] = rotated(v[0], 32);
  v[2] += v[3];
  v[3] = rotated(v[3], 16) ^ v[2];
  v[0] += v[3];
  v[3] = rotated(v[3], 21) ^ v[0];
  v[2] += v[1];
  v[1] = rotated(v[1], 17) ^ v[2];
  v[2] = rotated(v[2], 32);
}

INLINE void take_in_word(uint64_t v[4], uint64_t word) {
  v[3] ^= word;
  mix(v);
  v[0] ^= word;
}

/* Hashes a string and its NUL, which distinguishes ("a", "b") from ("ab", ""); the last word is padded. */
INLINE void take_in(uint64_t v[4], const char *text) {
  size_t left = strlen(text) + 1;
  uint64_t word;
  for (; left >= sizeof word; left -= sizeof word, text += sizeof word) {
    memcpy(&word, text, sizeof word);
    take_in_word(v, word);
  }
  if (left == 0) return;
  word = 0;
  memcpy(&word, text, left);
  take_in_word(v, word);
}

uint64_t keyed_hash(const char *first, const char *second, uint64_t number) {
  const uint64_t k0 = key(0), k1 = key(1);
  uint64_t v[4] = {k0 ^ 0x736F6D6570736575U, k1 ^ 0x646F72616E646F6DU, k0 ^ 0x6C7967656E657261U,
                   k1 ^ 0x7465646279746573U};
  take_in(v, first);
  take_in(v, second);
  take_in_word(v, number);
  v[2] ^= 0xFF;
  for (int i = 0; i < 3; i++)
    mix(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}
