/* boxretry fetch: the call as it goes, for people. */
#include "fetch.h"
#include "output.h"

#include <string.h>

enum { RESULT_WIDTH = 12 };

/* "server_error, retry in 1.723 s (backoff)" */
static void print_next(const boxretry_event *event) {
  char delay[NUMBER_SIZE];
  fputs(boxretry_reason_name(event->reason), stderr);
  if (event->action != BOXRETRY_ACTION_RETRY && event->action != BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY) return;
  fprintf(stderr, ", retry in %s s (%s)", format_number(delay, event->delay),
          boxretry_delay_source_name(event->delay_source));
}

static output_colour colour_of(const boxretry_event *event) {
  if (event->kind == BOXRETRY_EVENT_CALL_ENDED || event->action == BOXRETRY_ACTION_STOP) return COLOUR_RED;
  return event->action == BOXRETRY_ACTION_SUCCEED ? COLOUR_GREEN : COLOUR_YELLOW;
}

/* How long that is. */
static size_t print_result(const boxretry_event *event) {
  char status[NUMBER_SIZE];
  const char *result = status;
  if (event->kind == BOXRETRY_EVENT_CALL_ENDED) {
    result = boxretry_error_name(event->error);
  } else if (event->cause != BOXRETRY_CAUSE_NONE) {
    result = boxretry_cause_name(event->cause);
  } else {
    snprintf(status, sizeof status, "%ld", (long)event->status);
  }
  colour_begin(stderr, colour_of(event));
  fputs(result, stderr);
  colour_end(stderr);
  return strlen(result);
}

static void begin_line(fetch_progress *progress, const boxretry_event *event) {
  if (!progress->has_title) {
    colour_begin(stderr, COLOUR_DIM);
    fputs("attempt       took  result        then", stderr);
    colour_end(stderr);
    fputc('\n', stderr);
  }
  fprintf(stderr, "%7ld  ", (long)event->attempt_number);
  progress->has_title = true;
  progress->is_line_open = true;
  progress->began_ms = event->at_ms;
}

static void end_line(fetch_progress *progress, const boxretry_event *event) {
  fprintf(stderr, "%7.3f s  ", (event->at_ms - progress->began_ms) / 1000);
  size_t length = print_result(event);
  /* When the call has ended, nothing comes next; the event then has the reason of an earlier attempt. */
  if (event->kind == BOXRETRY_EVENT_ATTEMPT_ENDED && event->reason >= 0) {
    fprintf(stderr, "%*s  ", length < RESULT_WIDTH ? (int)(RESULT_WIDTH - length) : 0, "");
    print_next(event);
  }
  fputc('\n', stderr);
  progress->is_line_open = false;
}

void fetch_show_event(void *context, const boxretry_event *event) {
  fetch_progress *progress = context;
  switch (event->kind) {
  case BOXRETRY_EVENT_ATTEMPT_BEGAN:
    begin_line(progress, event);
    break;
  case BOXRETRY_EVENT_RECONNECT:
    fputs("the connection was dead: sent again, on a new one\n", stderr);
    progress->is_line_open = false;
    break;
  case BOXRETRY_EVENT_ATTEMPT_ENDED:
    end_line(progress, event);
    break;
  case BOXRETRY_EVENT_CALL_ENDED:
    /* Cancelled, past the deadline, or stopped by a failure on this machine. */
    if (progress->is_line_open) end_line(progress, event);
    break;
  default:
    break; /* That a retry is scheduled has been said with the attempt's end. */
  }
}
