/* boxretry fetch: the progress of a call on stderr. Runs on the loop's thread. */
#ifndef BOXRETRY_TOOL_FETCH_PROGRESS_H
#define BOXRETRY_TOOL_FETCH_PROGRESS_H

#include <boxretry.h>
#include <stdbool.h>

/** A table with one line for each attempt, and a bar in the line of the current attempt. Zero-initialize it, then set
 * is_live. */
typedef struct fetch_progress {
  size_t number; /* of the URL, if the table shows several calls; else 0 */
  bool has_title;
  bool is_live;      /* on a terminal, a line begins when its attempt begins; elsewhere, when the attempt has ended */
  bool is_under_way; /* an attempt is running */
  bool is_line_open; /* and its number is printed */
  bool is_token_awaited;
  double token_began_ms;
  int32_t attempt_number;
  double began_ms;

  int bar_width; /* of the bar in the open line; 0: none */
  int32_t bar_attempt;
  bool bar_is_of_upload;
  double bar_began; /* seconds */
  int64_t bar_first;

  bool is_beside_body; /* the body is being printed to the same place as the table */
  bool is_held;        /* an attempt has ended meanwhile; its line is printed after the body */
  boxretry_event held;
} fetch_progress;

/** Prints the first line of a table. */
void fetch_print_title(bool has_numbers);

/** Callbacks for a client's on_event and a request's on_progress; `context` is a fetch_progress. */
void fetch_show_event(void *context, const boxretry_event *event);
void fetch_show_bar(void *context, const boxretry_progress *bytes);

/** Call before a body is printed to the same place as the table. */
void fetch_make_way_for_body(fetch_progress *progress);

/** Call after the body: prints the lines that were held back. */
void fetch_show_held(fetch_progress *progress, bool is_at_line_begin);

/** Removes the bar. */
void fetch_clear_bar(fetch_progress *progress);

#endif
