/*
 * The command-line tool boxretry: declarations shared by its commands.
 *
 *   ../boxretry.c
 *              finds the command, prints help and version
 *   delays.c   boxretry delays
 *   explain.c  boxretry explain; explain_print.c: its output
 *   fetch.c    boxretry fetch; fetch_options.c, fetch_complete.c, fetch_headers.c, fetch_details.c: its options and help;
 *              fetch_run.c: all of its calls; fetch_call.c: one call; fetch_url.c: its URL and the file's name in it
 *   fetch_user.c
 *              user and password
 *   fetch_token.c, token_options.c
 *              where its access tokens come from
 *   write_out.c
 *              the format of -w
 *   fetch_source.c, fetch_sink.c
 *              the source and the destination of bodies
 *   fetch_progress.c, fetch_bar.c, fetch_print.c
 *              its output
 *   flow.c     the questions of the documented decision flow, for explain
 *   backoff_range.c
 *              the range of a backoff
 *   interrupt.c
 *              handling of Ctrl-C during a call
 *   options.c  reads a command's options from a table, which also makes its help
 *   output.c   numbers, text, colors and JSON
 *   output_file.c
 *              checks whether a file can be written
 *   request_data.c, form_data.c
 *              the body of a request, and the query of its URL
 *   simulate.c boxretry simulate; simulate_options.c and simulate_policies.c: its options
 *   simulate_run.c, simulate_server.c
 *              the clients and the server
 *   simulate_events.c, simulate_random.c, simulate_measures.c
 *              future events, random numbers, and results
 *   simulate_print.c, simulate_svg.c, simulate_progress.c
 *              its output
 *   stream.c   pipes and other files that can block, handled outside of the loop
 *
 * To add a command, create a file with a tool_command, and add a line to boxretry.c. The tool uses only the public
 * header.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BOXRETRY_TOOL_H
#define BOXRETRY_TOOL_H

#include <boxretry.h>

/** Exit codes of the tool. Commands may add their own, from 4. */
enum {
  TOOL_OK = 0,
  TOOL_FAILED = 1,   /* the output could not be written, or out of memory */
  TOOL_USAGE = 2,    /* an option or its value is invalid */
  TOOL_INTERNAL = 3, /* internal error in the tool */
  TOOL_GO_ON = -1    /* not an exit code: continue */
};

/** An option in the short help, with its one-line description. */
typedef struct basic_option {
  const char *name;
  const char *help;
} basic_option;

typedef struct tool_command {
  const char *name;
  const char *summary; /* one line, for the list of commands */
  const char *const
      *details; /* printed by --help all after the options; each string ends in a newline, the list in NULL */
  const basic_option *basics; /* options of the short --help; ends with a NULL name. NULL: --help prints everything */
  int (*run)(int argc, char **argv);
} tool_command;

extern const tool_command delays_command;
extern const tool_command explain_command;
extern const tool_command fetch_command;
extern const tool_command simulate_command;

/** Prints one line on stderr about an error in the command line. `command` is NULL if no command was found. */
__attribute__((format(printf, 2, 3))) int usage_error(const tool_command *command, const char *format, ...);

/** Prints on stderr why the library or the tool failed; returns the exit code. */
int library_error(const tool_command *command, boxretry_error error);
__attribute__((format(printf, 2, 3))) int internal_error(const tool_command *command, const char *format, ...);

enum { QUOTED_SIZE = 64 };

/** Makes a user's text printable: one short line without control characters. Returns `buffer`. */
const char *quoted(char buffer[QUOTED_SIZE], const char *text);

/** The same for a URL, without parts that may be secret: user, password, query and fragment. Returns `buffer`. */
const char *public_part(char buffer[QUOTED_SIZE], const char *url);

/** Overwrites and frees a string. NULL is accepted. */
void forget(char *secret);

#endif
