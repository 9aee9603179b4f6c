/*
 * HTTP dates (B7): each is compared with timegm().
 *
 * The input is the time at which it is (8 bytes), a form (1 byte) and, for form 3, the text as it is; else the fields of
 * a date, which is printed in that form and then changed here and there, so that most inputs are almost dates.
 */
#include <time.h>

#include "oracle.h"

enum { LONGEST_DATE = 40 };

static const int64_t first_second = -62135596800, last_second = 253402300799;

static int64_t take_time(input *in) {
  int64_t time = take_i64(in);
  return time >= first_second && time <= last_second ? time : time % first_second;
}

/* The fields of a date: any numbers, or those of a moment about 50 years ahead, where the century is decided. */
static struct tm take_fields(input *in, int64_t now) {
  static const int64_t units[] = {1, 3600, 86400};
  struct tm tm = {0};
  if (take_flag(in)) {
    time_t time = now;
    gmtime_r(&time, &tm);
    tm.tm_year += 50;
    time = timegm(&tm);
    int8_t count = (int8_t)take_byte(in);
    time += count * units[take_byte(in) % 3];
    gmtime_r(&time, &tm);
  } else {
    tm.tm_year = take_u16(in) % 10001 - 1900;
    tm.tm_mon = take_byte(in) % 12;
    tm.tm_mday = take_byte(in) % 34;
    tm.tm_hour = take_byte(in) % 25;
    tm.tm_min = take_byte(in) % 61;
    tm.tm_sec = take_byte(in) % 62;
    tm.tm_wday = take_byte(in) % 7;
  }
  return tm;
}

static void print_date(const struct tm *tm, uint8_t form, char *text, size_t size) {
  static const char *const weekdays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
  static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const char *weekday = weekdays[tm->tm_wday], *month = months[tm->tm_mon];
  int day = tm->tm_mday, year = tm->tm_year + 1900;
  char time[32];
  snprintf(time, sizeof time, "%02d:%02d:%02d", tm->tm_hour, tm->tm_min, tm->tm_sec);
  if (form == 0)
    snprintf(text, size, "%.3s, %02d %s %04d %s GMT", weekday, day, month, year, time);
  else if (form == 1)
    snprintf(text, size, "%s, %02d-%s-%02d %s GMT", weekday, day, month, year % 100, time);
  else
    snprintf(text, size, "%.3s %s %2d %s %04d", weekday, month, day, time, year);
}

/* Replaces, inserts or removes a byte, as long as there is input for it. */
static void change(input *in, char *text, size_t size) {
  while (in->size > 0) {
    size_t length = strlen(text);
    uint8_t how = take_byte(in);
    size_t at = take_byte(in) % (length + 1);
    char byte = (char)take_byte(in);
    if (how % 3 == 0) {
      if (at < length) text[at] = byte;
    } else if (how % 3 == 1) {
      if (length + 2 > size) continue;
      memmove(text + at + 1, text + at, length + 1 - at);
      text[at] = byte;
    } else if (at < length) {
      memmove(text + at, text + at + 1, length - at);
    }
  }
}

static void check(const char *value, int64_t now) {
  double seconds = -5, number;
  int64_t date = 0;
  bool is_number = oracle_number(value, 1, &number), is_date = oracle_date(value, now, &date);
  boxretry_error error = boxretry_parse_retry_after(value, now, &seconds);
  REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_NOT_USABLE, "the arguments are valid");
  REQUIRE((error == BOXRETRY_OK) == (is_number || is_date), "B7: dates that exist are usable, others are not");
  if (is_date) REQUIRE(seconds == oracle_delay((double)(date - now)), "B7: the delay counts from the given time");
  if (error != BOXRETRY_OK) REQUIRE(seconds == -5, "convention 2: nothing is written on failure");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, size};
  int64_t now = take_time(&in);
  uint8_t form = take_byte(&in) % 4;
  char *value;
  if (form == 3) {
    value = new_string(in.data, in.size);
  } else {
    char text[2 * LONGEST_DATE] = "";
    struct tm tm = take_fields(&in, now);
    print_date(&tm, form, text, sizeof text);
    change(&in, text, sizeof text);
    value = new_string(text, strlen(text));
  }
  check(value, now);
  free(value);
  return 0;
}
