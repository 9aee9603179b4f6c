/* boxretry fetch: the progress bar of a transfer. */
#define _POSIX_C_SOURCE 200809L

#include "fetch_progress.h"

#include <stdio.h>
#include <time.h>

enum { BAR = 16, LINE = 100, SIZE = 16 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* "47.2 MB" */
static const char *format_bytes(char text[SIZE], double bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  int unit = 0;
  for (; bytes >= 999.95 && unit < 6; unit++)
    bytes /= 1000;
  snprintf(text, SIZE, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

static int draw_bar(char *line, double part) {
  int used = sprintf(line, "[");
  for (int i = 1; i <= BAR; i++)
    used += sprintf(line + used, "%c", part * BAR >= i ? '#' : ' ');
  return used + sprintf(line + used, "] %3.0f %%  ", part < 1 ? (double)(int)(part * 100) : 100.0);
}

/* Bytes per second since the first progress of this attempt. Bytes that a resumed download had before do not count. */
static double rate_of(fetch_progress *progress, const boxretry_progress *bytes, bool is_upload, int64_t done) {
  const double time = now();
  if (progress->bar_attempt != bytes->attempt_number || progress->bar_is_of_upload != is_upload) {
    progress->bar_attempt = bytes->attempt_number;
    progress->bar_is_of_upload = is_upload;
    progress->bar_began = time;
    progress->bar_first = done;
  }
  return time > progress->bar_began ? (double)(done - progress->bar_first) / (time - progress->bar_began) : 0;
}

void fetch_show_bar(void *context, const boxretry_progress *bytes) {
  fetch_progress *progress = context;
  if (!progress->is_line_open) return;
  const bool is_upload = bytes->received == 0 && (bytes->sent > 0 || bytes->send_total > 0);
  const int64_t done = is_upload ? bytes->sent : bytes->received;
  const int64_t total = is_upload ? bytes->send_total : bytes->receive_total;
  char line[LINE], size[SIZE];
  int used = total > 0 ? draw_bar(line, (double)done / (double)total) : 0;
  used += sprintf(line + used, "%s", format_bytes(size, (double)done));
  if (total > 0) used += sprintf(line + used, " of %s", format_bytes(size, (double)total));
  used += sprintf(line + used, " %s", is_upload ? "sent" : "received");
  const double rate = rate_of(progress, bytes, is_upload, done);
  if (rate > 0) used += sprintf(line + used, "  %s/s", format_bytes(size, rate));

  fprintf(stderr, "\r%7ld  %-*s", (long)progress->attempt_number, progress->bar_width, line);
  fflush(stderr);
  if (progress->bar_width < used) progress->bar_width = used;
}

void fetch_clear_bar(fetch_progress *progress) {
  if (progress->bar_width == 0) return;
  fprintf(stderr, "\r%7ld  %*s", (long)progress->attempt_number, progress->bar_width, "");
  fprintf(stderr, "\r%7ld  ", (long)progress->attempt_number);
  progress->bar_width = 0;
}
