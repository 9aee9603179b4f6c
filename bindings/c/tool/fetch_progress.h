/* boxretry fetch: the call as it goes, for people, on stderr. Runs on the loop. */
#ifndef BOXRETRY_TOOL_FETCH_PROGRESS_H
#define BOXRETRY_TOOL_FETCH_PROGRESS_H

#include <boxretry.h>
#include <stdbool.h>

/** A table that grows by a line with each attempt, and a bar in the line of the attempt under way. Starts from zeros, but for is_live. */
typedef struct fetch_progress {
  size_t number; /* of the URL, where the table has lines of several; 0 */
  bool has_title;
  bool is_live; /* on a terminal, a line begins when its attempt does; elsewhere nobody looks at it before its end */
  bool is_under_way; /* an attempt is */
  bool is_line_open; /* and its number is printed */
  bool is_token_awaited;
  double token_began_ms;
  int32_t attempt_number;
  double began_ms;

  int bar_width; /* of the bar that stands in the open line */
  int32_t bar_attempt;
  bool bar_is_of_upload;
  double bar_began; /* seconds */
  int64_t bar_first;

  bool is_beside_body; /* a body is on its way to the place of the table */
  bool is_held;        /* and an attempt has ended meanwhile: its line waits until the body is whole */
  boxretry_event held;
} fetch_progress;

/** The first line of a table. */
void fetch_print_title(bool has_numbers);

/** For a client's on_event and a request's on_progress; `context` is a fetch_progress. */
void fetch_show_event(void *context, const boxretry_event *event);
void fetch_show_bar(void *context, const boxretry_progress *bytes);

/** A body is about to be printed where the table stands. */
void fetch_make_way_for_body(fetch_progress *progress);

/** It has been, and what was to be shown meanwhile comes now. */
void fetch_show_held(fetch_progress *progress, bool is_at_line_begin);

/** Takes the bar away. */
void fetch_clear_bar(fetch_progress *progress);

#endif
