/* What concerns the whole process: fork(), exit(), and threads that end or are canceled. */
#ifndef BOXRETRY_PROCESS_H
#define BOXRETRY_PROCESS_H

#include <stdbool.h>

/* --- Exit (W8). After exit() has begun, loops leave libcurl and no thread enters it: exit() waits for them, at most
 * two seconds, because the TLS library's own exit handler frees what they use. --- */

/* Must precede the global initialization of libcurl: this handler runs after the TLS library's, and allows threads to
 * end that have been inside. */
void shim_exit_prepare_first(void);

/* Must follow the global initialization of libcurl: handlers run in reverse order. False: out of memory or
 * descriptors. */
bool shim_exit_prepare(void);

/* Readable after exit() has begun. Each loop polls it. */
int shim_exit_descriptor(void);

bool shim_exit_has_begun(void);

/* Call around the use of libcurl by a thread; calls may be nested. False: the process exits, and this thread must not
 * enter. */
bool shim_libcurl_enter(void);
void shim_libcurl_leave(void);

/* Call around slow operations outside of libcurl, such as poll(): fork() does not wait for them. Does nothing outside
 * of shim_libcurl_enter(). */
void shim_libcurl_rest(void);
void shim_libcurl_resume(void);

/* --- Callbacks: the nesting depth of callbacks in this thread (K4). --- */

/* False: do not run the callback. exit() has begun, and this is a thread of the library or one that drives a loop: the
 * data of the callback may have been destroyed. */
bool shim_callback_enter(void);
void shim_callback_leave(void);
bool shim_in_callback(void);

/* --- Threads --- */

/* Starts a detached thread with all signals blocked. `last` (may be NULL) is called just before the thread ends: the
 * TLS library has already freed its data for the thread. False: out of threads or memory. */
bool shim_thread_start(void (*body)(void *context), void (*last)(void *context), void *context);

/* Call around code in which the thread must not be canceled (pthread_cancel). */
void shim_thread_disable_cancel(void); /* calls may be nested */
void shim_thread_restore_cancel(void);

/* --- Initialization of libcurl: fork() waits while this lock is held, so that a child inherits neither this lock nor
 * libcurl's own lock from a thread that does not exist in the child (W9). --- */

void shim_global_lock_take(void);
void shim_global_lock_release(void);

#endif
