/* boxretry fetch: prints the progress of a call on stderr. */
#include "fetch_progress.h"
#include "output.h"
#include "tool.h"

#include <string.h>

enum { LINE_BEGIN = 9, RESULT_WIDTH = 12 };

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

/* Both return the length of the text. */
static size_t print_word(const char *word, output_colour colour) {
  colour_begin(stderr, colour);
  fputs(word, stderr);
  colour_end(stderr);
  return strlen(word);
}

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
  return print_word(result, colour_of(event));
}

/* With a number of a URL before it or without: what begins a line is LINE_BEGIN wide. */
static void open_line(fetch_progress *progress) {
  if (progress->is_line_open) return;
  progress->is_line_open = true;
  const bool has_number = progress->number > 0;
  if (has_number) fprintf(stderr, "%3zu", progress->number);
  if (progress->is_token_awaited) {
    fputs(has_number ? " token" : "  token  ", stderr);
  } else {
    fprintf(stderr, has_number ? "%5ld " : "%7ld  ", (long)progress->attempt_number);
  }
}

static void close_line(fetch_progress *progress) {
  fputc('\n', stderr);
  progress->is_line_open = false;
  progress->is_under_way = false;
}

void fetch_print_title(bool has_numbers) {
  colour_begin(stderr, COLOUR_DIM);
  fprintf(stderr, "%s      took  result        then", has_numbers ? "URL att." : "attempt ");
  colour_end(stderr);
  fputc('\n', stderr);
}

static void print_title(fetch_progress *progress) {
  if (!progress->has_title) fetch_print_title(false);
  progress->has_title = true;
}

static void print_duration(double began_ms, const boxretry_event *event) {
  fprintf(stderr, "%7.3f s  ", (event->at_ms - began_ms) / 1000);
}

static void begin_token_line(fetch_progress *progress, const boxretry_event *event) {
  print_title(progress);
  progress->is_token_awaited = true;
  progress->token_began_ms = event->at_ms;
  if (progress->is_live) open_line(progress);
}

/* The event that ends the wait does not tell its result; the next event, which follows at once, does. */
static void end_token_line(fetch_progress *progress, const boxretry_event *event) {
  if (!progress->is_token_awaited) return;
  open_line(progress);
  print_duration(progress->token_began_ms, event);
  if (event->kind == BOXRETRY_EVENT_ATTEMPT_BEGAN) {
    print_word("got", COLOUR_GREEN);
  } else {
    print_word(event->error != BOXRETRY_OK ? boxretry_error_name(event->error) : "none", COLOUR_RED);
  }
  progress->is_token_awaited = false;
  close_line(progress);
}

static void begin_line(fetch_progress *progress, const boxretry_event *event) {
  print_title(progress);
  /* An attempt may be sent several times: after redirects, and on a new connection. */
  if (progress->attempt_number != event->attempt_number) progress->began_ms = event->at_ms;
  progress->attempt_number = event->attempt_number;
  progress->is_under_way = true;
  if (progress->is_live) open_line(progress);
}

static void end_line(fetch_progress *progress, const boxretry_event *event) {
  if (progress->is_beside_body) {
    progress->held = *event;
    progress->is_held = true;
    progress->is_under_way = false;
    return;
  }
  open_line(progress);
  print_duration(progress->began_ms, event);
  size_t length = print_result(event);
  /* If the call has ended, no retry follows; the event then has the reason of an earlier attempt. */
  if (event->kind == BOXRETRY_EVENT_ATTEMPT_ENDED && event->reason >= 0) {
    fprintf(stderr, "%*s  ", length < RESULT_WIDTH ? (int)(RESULT_WIDTH - length) : 0, "");
    print_next(event);
  }
  close_line(progress);
}

/* The attempt continues on a new line. */
static void continue_line(fetch_progress *progress, const boxretry_event *event) {
  open_line(progress);
  if (event->kind == BOXRETRY_EVENT_REDIRECTED) {
    char buffer[QUOTED_SIZE];
    fprintf(stderr, "redirect to %s", public_part(buffer, event->url));
  } else {
    fputs("dead connection: sent again on a new one", stderr);
  }
  close_line(progress);
}

void fetch_show_event(void *context, const boxretry_event *event) {
  fetch_progress *progress = context;
  fetch_clear_bar(progress);
  switch (event->kind) {
  case BOXRETRY_EVENT_TOKEN_WAIT_BEGAN:
    begin_token_line(progress, event);
    break;
  case BOXRETRY_EVENT_ATTEMPT_BEGAN:
    end_token_line(progress, event);
    begin_line(progress, event);
    break;
  case BOXRETRY_EVENT_RECONNECT:
  case BOXRETRY_EVENT_REDIRECTED:
    continue_line(progress, event);
    break;
  case BOXRETRY_EVENT_ATTEMPT_ENDED:
    end_line(progress, event);
    break;
  case BOXRETRY_EVENT_CALL_ENDED:
    end_token_line(progress, event);
    /* Canceled, past the deadline, or stopped by a local failure. */
    if (progress->is_under_way) end_line(progress, event);
    break;
  default:
    break; /* The line of the attempt already says that a retry is scheduled. */
  }
}

void fetch_make_way_for_body(fetch_progress *progress) {
  if (progress->is_beside_body) return;
  fetch_clear_bar(progress);
  if (progress->is_line_open) fprintf(stderr, "\r%*s\r", LINE_BEGIN, "");
  progress->is_line_open = false;
  progress->is_beside_body = true;
}

void fetch_show_held(fetch_progress *progress, bool is_at_line_begin) {
  progress->is_beside_body = false;
  if (!progress->is_held) return;
  if (!is_at_line_begin) fputc('\n', stderr);
  end_line(progress, &progress->held);
}
