/*
 * The command-line tool boxretry: what its commands share.
 *
 *   ../boxretry.c
 *              finds the command, prints help and version
 *   delays.c   boxretry delays
 *   explain.c  boxretry explain; explain_print.c: what it prints
 *   fetch.c    boxretry fetch; fetch_options.c, fetch_complete.c, fetch_headers.c, fetch_details.c: its options and help;
 *              fetch_run.c: all of its calls; fetch_call.c: one call; fetch_url.c: its URL and the file's name in it
 *   fetch_user.c
 *              user and password
 *   fetch_token.c, token_options.c
 *              where its access tokens come from
 *   write_out.c
 *              the format of -w
 *   fetch_source.c, fetch_sink.c
 *              where its bodies come from and go to
 *   fetch_progress.c, fetch_bar.c, fetch_print.c
 *              what it shows
 *   flow.c     the questions of the documented decision flow, for explain
 *   backoff_range.c
 *              how long a backoff can be
 *   interrupt.c
 *              what Ctrl-C does to a call
 *   options.c  reads a command's options from one table, which is also its help
 *   output.c   numbers, text, colours and JSON
 *   output_file.c
 *              whether a file can be written
 *   request_data.c, form_data.c
 *              the body of a request, and the query of its URL
 *   simulate.c boxretry simulate; simulate_options.c and simulate_policies.c: its options
 *   simulate_run.c, simulate_server.c
 *              the clients, and the server that they ask
 *   simulate_events.c, simulate_random.c, simulate_measures.c
 *              what will happen, chance, and what came of it
 *   simulate_print.c, simulate_svg.c, simulate_progress.c
 *              what it shows
 *   stream.c   pipes and the like, beside a loop that must not wait for them
 *
 * A new command is a new file with a tool_command, and a line in boxretry.c. The tool uses the public header alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BOXRETRY_TOOL_H
#define BOXRETRY_TOOL_H

#include <boxretry.h>

/** How the tool exits. A command may add codes of its own, from 4. */
enum {
  TOOL_OK = 0,
  TOOL_FAILED = 1,   /* the output could not be written, or the tool ran out of memory */
  TOOL_USAGE = 2,    /* an option or its value is wrong */
  TOOL_INTERNAL = 3, /* a fault in boxretry itself */
  TOOL_GO_ON = -1    /* no exit code: there is no reason to exit yet */
};

/** An option that the short help shows, and its one line there. */
typedef struct basic_option {
  const char *name;
  const char *help;
} basic_option;

typedef struct tool_command {
  const char *name;
  const char *summary;        /* one line, for the list of commands */
  const char *const *details; /* printed by --help after all options; each ends in a newline, the list in NULL */
  const basic_option
      *basics; /* what --help shows, if it does not show everything; ends with a NULL name. NULL: it does */
  int (*run)(int argc, char **argv);
} tool_command;

extern const tool_command delays_command;
extern const tool_command explain_command;
extern const tool_command fetch_command;
extern const tool_command simulate_command;

/** Says on stderr, in one line, what is wrong with how the command was called. `command` NULL: none was found. */
__attribute__((format(printf, 2, 3))) int usage_error(const tool_command *command, const char *format, ...);

/** Says on stderr that the library, or the tool, failed; answers the exit code. */
int library_error(const tool_command *command, boxretry_error error);
__attribute__((format(printf, 2, 3))) int internal_error(const tool_command *command, const char *format, ...);

enum { QUOTED_SIZE = 64 };

/** What a caller wrote, fit for a message: cut to one short line, without control characters. Returns `buffer`. */
const char *quoted(char buffer[QUOTED_SIZE], const char *text);

/** The same of a URL, without what may be a secret in it: user, password, query and fragment. Returns `buffer`. */
const char *public_part(char buffer[QUOTED_SIZE], const char *url);

/** Overwrites and frees a text. NULL is accepted. */
void forget(char *secret);

#endif
