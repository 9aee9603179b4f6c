/* What the whole process does while the library is at work: fork(), exit(), threads that end or are cancelled. */
#ifndef BOXRETRY_PROCESS_H
#define BOXRETRY_PROCESS_H

#include <stdbool.h>

/* --- Exit (W8). Once exit() has begun, loops leave libcurl, and no thread enters it any more: exit() waits for them, two
 * seconds at most, since the TLS library's own exit handler frees what they use. --- */

/* Must precede the global initialization of libcurl: this handler runs after the TLS library's, and lets threads end that
 * have been inside. */
void shim_exit_prepare_first(void);

/* Must follow the global initialization of libcurl: handlers run in reverse order. False: no memory or no descriptor. */
bool shim_exit_prepare(void);

/* Readable once exit() has begun. Each loop polls it. */
int shim_exit_descriptor(void);

bool shim_exit_has_begun(void);

/* Around the use of libcurl by a thread; they nest. False: the process exits, and this thread must not enter. */
bool shim_libcurl_enter(void);
void shim_libcurl_leave(void);

/* Around what takes its time without libcurl, such as poll(): fork() does not wait for that. Does nothing outside libcurl. */
void shim_libcurl_rest(void);
void shim_libcurl_resume(void);

/* --- Callbacks: how deep this thread is in them (K4). --- */

/* False: do not call. exit() has begun, and this is a thread of the library, or one that drives a loop: what the callback
 * uses may have been destroyed. */
bool shim_callback_enter(void);
void shim_callback_leave(void);
bool shim_in_callback(void);

/* --- Threads --- */

/* Starts a thread that nobody joins, with all signals blocked. `last` (may be NULL) is called when the thread is about to be
 * gone: the TLS library has freed what it keeps for it. False: out of threads or memory. */
bool shim_thread_start(void (*body)(void *context), void (*last)(void *context), void *context);

/* Around what a cancelled thread (pthread_cancel) must not leave half done. */
void shim_thread_disable_cancel(void); /* they nest */
void shim_thread_restore_cancel(void);

/* --- Initialization of libcurl: fork() waits while this lock is held, so that no child inherits it, or libcurl's own, as
 * held by a thread that the child does not have (W9). --- */

void shim_global_lock_take(void);
void shim_global_lock_release(void);

#endif
