/* Options of a command: one table, used to read them and to print --help. */
#ifndef BOXRETRY_TOOL_OPTIONS_H
#define BOXRETRY_TOOL_OPTIONS_H

#include <stdbool.h>

#include "form_data.h"
#include "request_data.h"
#include "tool.h"

/** Header lines, as -H gives them. */
typedef struct header_list {
  boxretry_header *items;
  size_t count;
} header_list;

/** Adds a line. The list takes ownership of the allocated strings. Returns false if out of memory. */
bool header_list_add(header_list *list, char *name, char *value);

/** Whether a line has that name (in any case), with a value, or with NULL if the header is to be removed. */
bool header_list_has(const header_list *list, const char *name);

void header_list_free(header_list *list);

/** Words of the command line; they are not copied. */
typedef struct text_list {
  const char **items;
  size_t count;
} text_list;

/** Returns false if out of memory. */
bool text_list_add(text_list *list, const char *text);

typedef enum option_kind {
  OPTION_FLAG, /* no value: writes `flag_writes` */
  OPTION_INTEGER,
  OPTION_LIMIT,   /* a whole number from 1 up, or "none", which writes BOXRETRY_NO_TIMEOUT */
  OPTION_SECONDS, /* a decimal number from 0 up; writes milliseconds to a limit, and BOXRETRY_NO_TIMEOUT for 0 */
  OPTION_REAL,
  OPTION_TEXT,
  OPTION_CHOICE,          /* one of `choices`: writes its index */
  OPTION_HEADER,          /* 'Name: value', 'Name;' (empty), 'Name:' (value NULL): appends; may be repeated */
  OPTION_RECEIVED_HEADER, /* 'Name: value' or 'Name:'; a line end is removed, because the line may be copied from a log */
  OPTION_DATA,            /* text, or a file: appends; may be repeated */
  OPTION_ENCODED_DATA,    /* the same, percent-encoded */
  OPTION_FORM,            /* a form field: appends; may be repeated */
  OPTION_OWN,             /* read by the command's own function */
  OPTION_OPERANDS,        /* not an option: all words without a name; at least one is required */
  OPTION_GROUP            /* not an option: the heading of the options that follow */
} option_kind;

struct tool_option;

/** Reads a value, which it may overwrite. Returns TOOL_GO_ON, or prints an error and returns the exit code. */
typedef int (*option_reader)(const tool_command *command, const struct tool_option *option, char *value);

/** A row of a command's table. The macros below make rows, and check the type of the target. */
typedef struct tool_option {
  option_kind kind;
  char letter;       /* short form; 0: none */
  const char *name;  /* long form, without the dashes */
  const char *value; /* placeholder for the value in --help; NULL: the option takes none */
  const char *help;
  const char *const *choices; /* ends in NULL */
  union {
    int32_t *integer; /* flags, integers and choices */
    int64_t *limit;
    double *real;
    const char **text;
    text_list *texts; /* operands */
    header_list *headers;
    request_data *data;
    form_data *form;
    struct {
      option_reader read;
      void *variable;
    } own;
  } target;
  int32_t flag_writes;
} tool_option;

/* clang-format off */
#define FLAG(letter, name, variable, help) FLAG_AS(letter, name, 1, variable, help)
#define FLAG_OFF(name, variable, help) FLAG_AS(0, name, 0, variable, help)
#define FLAG_AS(letter, name, writes, variable, help) {OPTION_FLAG, letter, name, NULL, help, NULL, {.integer = (variable)}, writes}
#define INTEGER(name, variable, help) {OPTION_INTEGER, 0, name, "N", help, NULL, {.integer = (variable)}, 0}
#define LIMIT(name, variable, help) {OPTION_LIMIT, 0, name, "N", help, NULL, {.limit = (variable)}, 0}
#define REAL(name, value, variable, help) {OPTION_REAL, 0, name, value, help, NULL, {.real = (variable)}, 0}
#define TEXT(letter, name, value, variable, help) {OPTION_TEXT, letter, name, value, help, NULL, {.text = (variable)}, 0}
#define CHOICE(name, value, variable, choices, help) {OPTION_CHOICE, 0, name, value, help, choices, {.integer = (variable)}, 0}
#define HEADERS(letter, name, list, help) {OPTION_HEADER, letter, name, "LINE", help, NULL, {.headers = (list)}, 0}
#define RECEIVED_HEADERS(letter, name, list, help) {OPTION_RECEIVED_HEADER, letter, name, "LINE", help, NULL, {.headers = (list)}, 0}
#define DATA(letter, name, variable, help) {OPTION_DATA, letter, name, "DATA", help, NULL, {.data = (variable)}, 0}
#define FORM(letter, name, variable, help) {OPTION_FORM, letter, name, "FIELD", help, NULL, {.form = (variable)}, 0}
#define OWN(name, value, reader, variable, help) OWN_LETTER(0, name, value, reader, variable, help)
#define OWN_LETTER(letter, name, value, reader, variable, help) {OPTION_OWN, letter, name, value, help, NULL, {.own = {reader, variable}}, 0}
#define ENCODED_DATA(name, variable, help) {OPTION_ENCODED_DATA, 0, name, "DATA", help, NULL, {.data = (variable)}, 0}
#define SECONDS(letter, name, variable, help) {OPTION_SECONDS, letter, name, "SECONDS", help, NULL, {.limit = (variable)}, 0}
#define OPERANDS(name, variable) {OPTION_OPERANDS, 0, name, name, NULL, NULL, {.texts = (variable)}, 0}
#define GROUP(name, help) {OPTION_GROUP, 0, name, NULL, help, NULL, {.text = NULL}, 0}
/* clang-format on */

/** The rows of the documented retry parameters (B1) and of the backoff cap, for every command that retries. */
#define BACKOFF_OPTIONS(options)                                                                                       \
  INTEGER("max-attempts", &(options)->max_attempts, "maximum number of attempts (default 5)"),                         \
      REAL("retry-base-interval", "S", &(options)->retry_base_interval,                                                \
           "the n-th backoff is 2^n * S seconds, with jitter (default 1)"),                                            \
      REAL("retry-randomization-factor", "F", &(options)->retry_randomization_factor,                                  \
           "jitter: vary each backoff by up to this fraction of it (default 0.5)"),                                    \
      INTEGER("max-retries-on-exception", &(options)->max_retries_on_exception,                                        \
              "maximum number of retries after network exceptions (default 2)"),                                       \
      REAL("backoff-cap", "S", &(options)->backoff_cap, "maximum backoff in seconds; 0: no cap (default)")

/** The rows of the options that extend Box's strategy (B11, B12, C2). */
#define BEYOND_OPTIONS(options)                                                                                        \
  REAL("retry-after-cap", "S", &(options)->retry_after_cap, "maximum Retry-After in seconds; 0: no cap (default)"),    \
      CHOICE("retry-after-over-cap", "DO", &(options)->retry_after_over_cap, over_cap_names,                           \
             "if a Retry-After is longer: clamp (wait for the cap; default) or stop (do not retry)"),                  \
      REAL("retry-after-jitter", "F", &(options)->retry_after_jitter,                                                  \
           "add up to this fraction of a Retry-After to it, at random, 0 to 1 (default 0)"),                           \
      FLAG_OFF("no-retry-unsafe-methods", &(options)->retry_unsafe_methods,                                            \
               "retry POST and PATCH only if the server cannot have processed the request")

extern const char *const over_cap_names[];

/**
 * Reads the options of a command into the targets of its table. Returns TOOL_GO_ON or the exit code: TOOL_USAGE after
 * printing an error, TOOL_OK after --help.
 */
int read_options(const tool_command *command, const tool_option *table, size_t count, int argc, char **argv);

#endif
