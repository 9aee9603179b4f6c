#include "oracle.h"

#include <math.h>
#include <time.h>

double oracle_delay(double seconds) {
  if (!(seconds > 0)) return 0;
  return seconds < MAXIMUM_DELAY ? seconds : MAXIMUM_DELAY;
}

bool nearly_equal(double a, double b, double relative_tolerance) {
  return fabs(a - b) <= relative_tolerance * fmax(fabs(a), fabs(b)) + 1e-300;
}

/* --- Numbers --- */

static const char *const white_space = " \t";
static const char *const digits = "0123456789";

/* The end of the number that begins here: [+] (digits [. [digits]] | . digits) [(e|E) [+|-] digits]. NULL: there is none. */
static const char *end_of_number(const char *text) {
  if (*text == '+') text++;
  size_t whole = strspn(text, digits), fraction = 0;
  text += whole;
  if (*text == '.') {
    fraction = strspn(text + 1, digits);
    text += 1 + fraction;
  }
  if (whole + fraction == 0) return NULL;
  if (*text != 'e' && *text != 'E') return text;
  text++;
  if (*text == '+' || *text == '-') text++;
  size_t exponent = strspn(text, digits);
  return exponent > 0 ? text + exponent : NULL;
}

bool oracle_number(const char *text, double unit, double *seconds) {
  double largest = 0;
  for (;;) {
    text += strspn(text, white_space);
    const char *end = end_of_number(text);
    if (!end) return false;
    largest = fmax(largest, oracle_delay(strtod(text, NULL) * unit));
    text = end + strspn(end, white_space);
    if (*text == '\0') break;
    if (*text++ != ',') return false;
  }
  *seconds = largest;
  return true;
}

/* --- Dates. Fields are read leniently and printed again: only what comes out as it went in is a date. --- */

static const char *const weekdays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static bool is_weekday(const char *name, bool in_full) {
  for (size_t i = 0; i < 7; i++)
    if (in_full ? strcmp(name, weekdays[i]) == 0 : strlen(name) == 3 && strncmp(name, weekdays[i], 3) == 0) return true;
  return false;
}

static int month_number(const char *name) {
  for (int i = 0; i < 12; i++)
    if (strcmp(name, months[i]) == 0) return i;
  return -1;
}

/* A moment as one number that grows with it: YYYYMMDDhhmmss. */
static int64_t sortable(const struct tm *tm) {
  return (((((int64_t)tm->tm_year * 100 + tm->tm_mon) * 100 + tm->tm_mday) * 100 + tm->tm_hour) * 100 + tm->tm_min) *
             100 +
         tm->tm_sec;
}

/* The latest year with these two digits that is not more than 50 years ahead. */
static void choose_century(struct tm *tm, int two_digits, int64_t now) {
  time_t seconds = now;
  struct tm limit;
  REQUIRE(gmtime_r(&seconds, &limit) != NULL, "gmtime_r() knows the years 1 to 9999");
  limit.tm_year += 50;
  for (tm->tm_year = 10100 + two_digits - 1900; sortable(tm) > sortable(&limit); tm->tm_year -= 100) {
  }
}

/* What the three forms have in common once they are read; year is as it is written. */
typedef struct fields {
  struct tm tm;
  char weekday[16], month[4];
  int year;
} fields;

static bool read_fixed_form(const char *text, fields *f) {
  char again[64];
  struct tm *tm = &f->tm;
  if (sscanf(text, "%3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT", f->weekday, &tm->tm_mday, f->month, &f->year,
             &tm->tm_hour, &tm->tm_min, &tm->tm_sec) != 7)
    return false;
  snprintf(again, sizeof again, "%s, %02d %s %04d %02d:%02d:%02d GMT", f->weekday, tm->tm_mday, f->month, f->year,
           tm->tm_hour, tm->tm_min, tm->tm_sec);
  return strcmp(text, again) == 0 && is_weekday(f->weekday, false);
}

static bool read_two_digit_form(const char *text, fields *f) {
  char again[64];
  struct tm *tm = &f->tm;
  if (sscanf(text, "%9[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT", f->weekday, &tm->tm_mday, f->month, &f->year,
             &tm->tm_hour, &tm->tm_min, &tm->tm_sec) != 7)
    return false;
  snprintf(again, sizeof again, "%s, %02d-%s-%02d %02d:%02d:%02d GMT", f->weekday, tm->tm_mday, f->month, f->year,
           tm->tm_hour, tm->tm_min, tm->tm_sec);
  return strcmp(text, again) == 0 && is_weekday(f->weekday, true);
}

static bool read_asctime_form(const char *text, fields *f) {
  char again[64];
  struct tm *tm = &f->tm;
  if (sscanf(text, "%3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d", f->weekday, f->month, &tm->tm_mday, &tm->tm_hour,
             &tm->tm_min, &tm->tm_sec, &f->year) != 7)
    return false;
  /* The day has two digits, or a space and one. */
  const char *format = text[8] == ' ' ? "%s %s %2d %02d:%02d:%02d %04d" : "%s %s %02d %02d:%02d:%02d %04d";
  snprintf(again, sizeof again, format, f->weekday, f->month, tm->tm_mday, tm->tm_hour, tm->tm_min, tm->tm_sec,
           f->year);
  return strcmp(text, again) == 0 && is_weekday(f->weekday, false);
}

bool oracle_date(const char *text, int64_t now, int64_t *unix_time) {
  char trimmed[64];
  text += strspn(text, white_space);
  size_t length = strlen(text);
  while (length > 0 && strchr(white_space, text[length - 1]))
    length--;
  if (length >= sizeof trimmed) return false;
  memcpy(trimmed, text, length);
  trimmed[length] = '\0';

  fields f = {0};
  bool has_two_digits = false;
  if (!read_fixed_form(trimmed, &f) && !read_asctime_form(trimmed, &f)) {
    has_two_digits = true;
    if (!read_two_digit_form(trimmed, &f)) return false;
  }
  f.tm.tm_mon = month_number(f.month);
  if (f.tm.tm_mon < 0 || f.year < 0) return false;
  if (has_two_digits)
    choose_century(&f.tm, f.year, now);
  else
    f.tm.tm_year = f.year - 1900;
  if (f.tm.tm_year < 1 - 1900 || f.tm.tm_year > 9999 - 1900) return false;

  /* timegm() makes 1 March of 30 February: a date that does not exist does not come back. */
  struct tm normalised = f.tm;
  *unix_time = timegm(&normalised);
  return sortable(&normalised) == sortable(&f.tm);
}

/* --- Delays --- */

double oracle_backoff(const boxretry_retry_options *options, int32_t attempt_number, double unit_random) {
  long double factor = options->retry_randomization_factor;
  long double spread = 1 - factor + unit_random * 2 * factor;
  double delay = oracle_delay((double)(ldexpl(options->retry_base_interval, attempt_number) * spread));
  return options->backoff_cap > 0 && delay > options->backoff_cap ? options->backoff_cap : delay;
}

double oracle_token_delay(const boxretry_token_retry_policy *policy, int32_t failed_attempt, double unit_random) {
  long double longest = policy->maximum_delay, ratio = policy->jitter_ratio;
  long double base = policy->initial_delay * powl(policy->multiplier, failed_attempt - 1);
  if (policy->initial_delay == 0) base = 0;
  if (base > longest) base = longest;
  long double delay = base * (1 - ratio + 2 * ratio * unit_random);
  return oracle_delay((double)(delay < longest ? delay : longest));
}
