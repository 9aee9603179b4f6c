/* Finds the option that a misspelled or abbreviated name may mean. */
#include "options_table.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_NAME = 63, NAMED_CANDIDATES = 4 };

/* The number of letters to add, remove or replace to turn one name into the other (Levenshtein). */
static size_t distance(const char *one, const char *other) {
  size_t row[LONGEST_NAME + 1];
  const size_t length = strlen(other);
  if (length > LONGEST_NAME) return LONGEST_NAME;
  for (size_t j = 0; j <= length; j++)
    row[j] = j;
  for (size_t i = 1; one[i - 1]; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= length; j++) {
      const size_t replaced = diagonal + (one[i - 1] != other[j - 1]);
      diagonal = row[j];
      row[j] = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
      if (replaced < row[j]) row[j] = replaced;
    }
  }
  return row[length];
}

/* The option with the most similar name; NULL if none is similar. */
static const char *nearest(const tool_option *table, size_t count, const char *name) {
  const char *found = NULL;
  size_t best = 1 + strlen(name) / 4; /* one wrong letter in four, plus one */
  for (size_t i = 0; i < count; i++) {
    if (!is_option(&table[i])) continue;
    const size_t steps = distance(name, table[i].name);
    if (steps > best || (found && steps == best)) continue;
    best = steps;
    found = table[i].name;
  }
  return found;
}

/* Writes "--a, --b" for the first few options that begin with `name`. Returns how many begin with it. */
static size_t list_matches(char *list, size_t size, const tool_option *table, size_t count, const char *name) {
  size_t matches = 0, used = 0;
  *list = '\0';
  for (size_t i = 0; i < count; i++) {
    if (!is_option(&table[i]) || strncmp(table[i].name, name, strlen(name)) != 0) continue;
    if (matches++ >= NAMED_CANDIDATES) continue;
    used += (size_t)snprintf(list + used, size - used, "%s--%s", matches > 1 ? ", " : "", table[i].name);
  }
  if (matches > NAMED_CANDIDATES) snprintf(list + used, size - used, ", ...");
  return matches;
}

/* What replaces an option of curl that the tool does not have. */
static const struct {
  const char *name;
  const char *option; /* of the tool; the row applies to commands that have it */
  const char *hint;
} curl_options[] = {
    {"continue-at", "resume", "use --resume, which continues a download that breaks off"},
    {"cookie", "header", "use -H 'Cookie: NAME=VALUE'"},
    {"data-ascii", "data", "use --data"},
    {"data-binary", "data", "use --data, which sends the data unchanged"},
    {"data-raw", "data", "use --data, or --form for data that begins with '@'"},
    {"fail-with-body", "fail", "leave out --fail: the body is printed, and the exit status shows the failure"},
    {"form-string", "form", "use --form"},
    {"no-progress-meter", "silent", "use --silent"},
    {"oauth2-bearer", "token-file", "use --token-file or --token-env"},
    {"proxy-user", "proxy", "put the user and the password into the URL of --proxy"},
    {"referer", "header", "use -H 'Referer: URL'"},
    {"remote-name-all", "remote-name", "repeat -O for each URL"},
    {"retry-all-errors", "max-retries-on-exception", "use --max-retries-on-exception for network exceptions"},
    {"retry-connrefused", "max-retries-on-exception", "use --max-retries-on-exception; refused connections count"},
    {"retry-delay", "retry-base-interval", "use --retry-base-interval, and --retry-randomization-factor 0"},
    {"retry-max-time", "deadline-ms", "use --max-time, which limits all attempts together"},
};

/* The hint for an option of curl; NULL if there is none, or the table lacks the option that it names. */
static const char *curl_hint(const tool_option *table, size_t count, const char *name) {
  for (size_t i = 0; i < sizeof curl_options / sizeof curl_options[0]; i++) {
    if (strcmp(curl_options[i].name, name) != 0) continue;
    for (size_t j = 0; j < count; j++) {
      if (is_option(&table[j]) && strcmp(table[j].name, curl_options[i].option) == 0) return curl_options[i].hint;
    }
  }
  return NULL;
}

int refuse_name(const tool_command *command, const tool_option *table, size_t count, const char *name) {
  char buffer[QUOTED_SIZE], list[NAMED_CANDIDATES * (LONGEST_NAME + 4) + sizeof ", ..."];
  if (list_matches(list, sizeof list, table, count, name) > 1) {
    return usage_error(command, "ambiguous option '--%s': it could be %s", quoted(buffer, name), list);
  }
  const char *hint = curl_hint(table, count, name);
  if (hint) return usage_error(command, "unknown option '--%s'; %s", name, hint);
  const char *candidate = nearest(table, count, name);
  if (!candidate) return usage_error(command, "unknown option '--%s'", quoted(buffer, name));
  return usage_error(command, "unknown option '--%s'; did you mean '--%s'?", quoted(buffer, name), candidate);
}
