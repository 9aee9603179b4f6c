/* What the sources assume about the machine. If an assumption is wrong, the build fails, not a user's program.
 * docs/porting.md explains each of them and what to check for a port. */
#include "shim_curl.h"

#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>

#ifndef __linux__
#error "Only Linux: epoll, eventfd, SIOCOUTQ (docs/porting.md)"
#endif

#if !defined(__GLIBC__) && !defined(BOXRETRY_UNTRIED)
#error "Not tried with this C library; read docs/porting.md, and define BOXRETRY_UNTRIED to try"
#endif

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(BOXRETRY_UNTRIED)
#error "Not tried on this processor; read docs/porting.md, and define BOXRETRY_UNTRIED to try"
#endif

#if CURL_AT_LEAST_VERSION(9, 0, 0) && !defined(BOXRETRY_UNTRIED)
#error "Not tried with libcurl 9 or newer; read docs/porting.md, and define BOXRETRY_UNTRIED to try"
#endif

/* The sizes of the interface's structs, and Swift's Int, depend on these. */
_Static_assert(CHAR_BIT == 8 && sizeof(int) == 4, "int has 32 bits");
_Static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8 && sizeof(long) == 8, "a 64-bit machine (LP64)");
_Static_assert(_Alignof(int64_t) == 8 && _Alignof(double) == 8, "8-byte fields begin at multiples of 8");
/* Delays are computed with IEEE 754 arithmetic, so that the same seed gives the same delays everywhere. */
_Static_assert(sizeof(double) == 8, "a double has 64 bits");
/* Bodies may be larger than 2 GiB. */
_Static_assert(sizeof(curl_off_t) == 8 && sizeof(off_t) == 8, "sizes of files and bodies have 64 bits");
/* A lock inside an atomic would not be safe after fork(). */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_POINTER_LOCK_FREE == 2, "atomics need no lock");
