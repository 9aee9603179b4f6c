/* boxretry fetch: all calls of a run, sequential or parallel, over one client. */
#define _POSIX_C_SOURCE 200809L

#include "fetch_transfer.h"
#include "interrupt.h"

#include <stdlib.h>

typedef struct fetch_run_state {
  fetch_session session;
  fetch_call *calls; /* one for each URL */
  size_t count;
  size_t started; /* number of calls started */
  size_t under_way;
  interrupt interrupt;
  bool is_watching;  /* signals are handled */
  int signal_number; /* of the signal that arrived; 0: none */
  int exit_code;     /* of the first call that failed */
} run_state;

static void note(run_state *run, int exit_code) {
  if (run->exit_code == TOOL_OK) run->exit_code = exit_code;
}

static bool is_to_stop(const run_state *run) {
  return run->signal_number != 0 || (run->session.query->fails_early && run->exit_code != TOOL_OK);
}

static void show_end(run_state *run, fetch_call *call) {
  fetch_call_end(call, run->signal_number);
  note(run, fetch_show(&call->job));
  fetch_job_free(&call->job);
}

/* During calls, Ctrl-C cancels them. Afterwards it ends the process, which may be blocked by the reader of its
 * output. */
static void watch(run_state *run, bool is_on) {
  if (is_on && !run->is_watching) interrupt_begin(&run->interrupt, run->session.cancel);
  if (!is_on && run->is_watching) run->signal_number = interrupt_end(&run->interrupt);
  run->is_watching = is_on;
}

static void start_next(run_state *run) {
  fetch_call *call = &run->calls[run->started++];
  watch(run, true);
  const int exit_code = fetch_call_begin(call, &run->session);
  if (exit_code == TOOL_GO_ON && call->call) {
    run->under_way++;
    return;
  }
  if (run->under_way == 0) watch(run, false);
  if (exit_code == TOOL_GO_ON) {
    show_end(run, call);
    return;
  }
  fetch_call_end(call, 0);
  note(run, exit_code);
  fetch_job_free(&call->job);
}

static void take_next(run_state *run) {
  boxretry_call *ended = NULL;
  if (boxretry_queue_take(run->session.queue, &ended, 1, BOXRETRY_NO_TIMEOUT) != 1) return;
  run->under_way--;
  if (run->under_way == 0) {
    watch(run, false);
  } else {
    run->signal_number = run->interrupt.number;
  }
  show_end(run, boxretry_call_user_pointer(ended));
}

static void run_all(run_state *run) {
  const size_t most = run->session.query->is_parallel ? (size_t)run->session.query->parallel_max : 1;
  if (run->session.shows_table && most > 1 && run->count > 1) fetch_print_title(true);
  for (;;) {
    while (run->under_way < most && run->started < run->count && !is_to_stop(run))
      start_next(run);
    if (run->under_way == 0) break;
    take_next(run);
  }
}

/* Checks all URLs before the first one is fetched. Returns TOOL_GO_ON or the exit code. */
static int make_jobs(run_state *run) {
  int exit_code = TOOL_GO_ON;
  for (size_t i = 0; i < run->count; i++) {
    const int result = fetch_job_init(&run->calls[i].job, run->session.query, i + 1);
    if (exit_code == TOOL_GO_ON) exit_code = result;
  }
  if (exit_code != TOOL_GO_ON || run->count == 1 || !run->session.client) return exit_code;
  return fetch_calls_check(run->calls, run->count, &run->session);
}

/* Without a client, each call ends with this error. */
static void show_no_client(run_state *run, boxretry_error error) {
  for (; run->started < run->count; run->started++) {
    fetch_call *call = &run->calls[run->started];
    call->job.result.error = error;
    note(run, fetch_show(&call->job));
    fetch_job_free(&call->job);
  }
}

int fetch_run(const fetch_query *query) {
  run_state run = {.count = query->urls.count, .calls = calloc(query->urls.count, sizeof *run.calls)};
  if (!run.calls) return library_error(&fetch_command, BOXRETRY_ERROR_OUT_OF_MEMORY);
  const boxretry_error error = fetch_session_begin(&run.session, query);
  int exit_code = error == BOXRETRY_ERROR_INVALID_ARGUMENT ? library_error(&fetch_command, error) : TOOL_GO_ON;
  if (exit_code == TOOL_GO_ON) exit_code = make_jobs(&run);
  if (exit_code == TOOL_GO_ON && error == BOXRETRY_OK) {
    run_all(&run);
  } else if (exit_code == TOOL_GO_ON) {
    show_no_client(&run, error);
  }
  if (exit_code == TOOL_GO_ON) exit_code = run.exit_code;
  while (run.started < run.count) /* not fetched because of a signal or --fail-early */
    fetch_job_free(&run.calls[run.started++].job);
  fetch_session_end(&run.session);
  free(run.calls);
  return exit_code;
}
