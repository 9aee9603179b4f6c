#include "curl_handles.h"

#include "shim_process.h"
#include "shim_system.h"

#include <stdlib.h>

#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87 or newer is needed, for CURLOPT_QUICK_EXIT"
#endif

/* --- Set-up --- */

shim_transfer_callbacks shim_transfers;
unsigned shim_curl_version;

bool shim_curl_setup(const shim_transfer_callbacks *callbacks) {
  static bool is_set_up;
  shim_global_lock_take();
  if (!is_set_up) { /* after a failure, memory may be available the next time */
    shim_transfers = *callbacks;
    shim_curl_version = curl_version_info(CURLVERSION_NOW)->version_num;
    shim_tls_find();
    shim_exit_prepare_first();
    is_set_up = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && shim_curl_version >= 0x075700;
  }
  const bool is_ready = is_set_up && shim_exit_prepare();
  shim_global_lock_release();
  return is_ready;
}

bool shim_curl_is_at_least(unsigned version) {
  return shim_curl_version >= version;
}

const char *shim_curl_version_text(void) {
  return curl_version_info(CURLVERSION_NOW)->version;
}

/* --- Multi --- */

/* CURLMOPT_…, which headers before 8.20 lack. */
enum { RESOLVE_THREADS_MAX = 20, MULTI_QUICK_EXIT = 21 };

/* NULL for libcurl's internal handles, and for those without a transfer. Often the same handle is asked for several times
 * in a row. */
static void *transfer_of(shim_multi *multi, CURL *curl) {
  char *private = NULL;
  if (!multi->last || multi->last->curl != curl) {
    curl_easy_getinfo(curl, CURLINFO_PRIVATE, &private);
    multi->last = (shim_easy *)(void *)private;
  }
  return multi->last ? multi->last->transfer : NULL;
}

static int on_socket(CURL *easy, curl_socket_t socket, int action, void *user, void *known) {
  shim_multi *multi = user;
  if (multi->is_ending) return 0;
  int what = 0;
  (void)known;
  if (action == CURL_POLL_IN || action == CURL_POLL_INOUT) what |= SHIM_READABLE;
  if (action == CURL_POLL_OUT || action == CURL_POLL_INOUT) what |= SHIM_WRITABLE;
  multi->callbacks.watch(multi->loop, multi->group, transfer_of(multi, easy), socket, what);
  return 0;
}

static int on_timer(CURLM *curl, long timeout_ms, void *user) {
  shim_multi *multi = user;
  (void)curl;
  if (multi->is_ending) return 0;
  multi->callbacks.set_timer(multi->loop, multi->group, timeout_ms);
  return 0;
}

shim_multi *shim_multi_new(const shim_multi_callbacks *callbacks, long connections, bool shares, int group,
                           void *loop) {
  shim_multi *multi = malloc(sizeof *multi);
  CURLM *curl = curl_multi_init();
  if (!multi || !curl) {
    curl_multi_cleanup(curl);
    free(multi);
    return NULL;
  }
  *multi = (shim_multi){curl, *callbacks, loop, group, false, 0, NULL, false};
  curl_multi_setopt(curl, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(curl, CURLMOPT_SOCKETDATA, multi);
  curl_multi_setopt(curl, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(curl, CURLMOPT_TIMERDATA, multi);
  curl_multi_setopt(curl, CURLMOPT_PIPELINING, shares ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING);
  /* otherwise libcurl closes connections when a burst of requests ends */
  curl_multi_setopt(curl, CURLMOPT_MAXCONNECTS, connections);
  /* Since 8.20, look-ups use a thread pool in each multi handle (before, each had its own thread). The engine limits
   * the number of running look-ups itself; look-ups that it has abandoned must delay neither others nor the end of the
   * client. */
  curl_multi_setopt(curl, (CURLMoption)RESOLVE_THREADS_MAX, (long)INT32_MAX);
  curl_multi_setopt(curl, (CURLMoption)MULTI_QUICK_EXIT, 1L);
  return multi;
}

void shim_multi_free(shim_multi *multi) {
  if (!multi) return;
  multi->is_ending = true;
  curl_multi_cleanup(multi->curl);
  free(multi);
}

CURLcode shim_multi_add(shim_multi *multi, shim_easy *easy) {
  if (easy->multi != multi) {
    easy->multi = multi;
    curl_easy_setopt(easy->curl, CURLOPT_CLOSESOCKETDATA, multi);
  }
  multi->last = easy;
  const CURLMcode code = curl_multi_add_handle(multi->curl, easy->curl);
  return code == CURLM_OK ? CURLE_OK : code == CURLM_OUT_OF_MEMORY ? CURLE_OUT_OF_MEMORY : CURLE_FAILED_INIT;
}

void shim_multi_remove(shim_multi *multi, shim_easy *easy) {
  curl_multi_remove_handle(multi->curl, easy->curl);
  multi->last = NULL; /* the handle may be freed now */
}

void shim_multi_ready(shim_multi *multi, int socket, int what) {
  int running;
  const int mask = (what & SHIM_READABLE ? CURL_CSELECT_IN : 0) | (what & SHIM_WRITABLE ? CURL_CSELECT_OUT : 0) |
                   (what & SHIM_FAILED ? CURL_CSELECT_ERR : 0);
  curl_multi_socket_action(multi->curl, socket, mask, &running);
  multi->may_have_ended = true;
}

void shim_multi_timeout(shim_multi *multi) {
  int running;
  curl_multi_socket_action(multi->curl, CURL_SOCKET_TIMEOUT, 0, &running);
  multi->may_have_ended = true;
}

void *shim_multi_next_ended(shim_multi *multi, CURLcode *code) {
  int left;
  CURLMsg *message;
  while (multi->may_have_ended) {
    message = curl_multi_info_read(multi->curl, &left);
    multi->may_have_ended = message && left > 0;
    if (!message || message->msg != CURLMSG_DONE) continue;
    *code = message->data.result;
    return transfer_of(multi, message->easy_handle);
  }
  return NULL;
}

const char *shim_curl_code_text(int32_t code) {
  return curl_easy_strerror((CURLcode)code);
}
