/* Where access tokens come from, as the options --token… give it. */
#ifndef BOXRETRY_TOOL_TOKEN_OPTIONS_H
#define BOXRETRY_TOOL_TOKEN_OPTIONS_H

#include "options.h"

/**
 * One token, or an endpoint that gives tokens for a form. The token and the form are memory of their own, overwritten when
 * they are forgotten; on the command line they are overwritten as soon as they are read.
 */
typedef struct token_options {
  char *token;
  const char *token_option; /* the name of the option that has given it */
  const char *url;
  header_list fields;
  int32_t allows_insecure;
  int stdin_count; /* of the options that have read standard input */
} token_options;

/*
 * Each reads the value of an option into the token_options of its row. What is wrong is said without the value: even where
 * it is the name of something, it may be a secret that was put into the wrong place.
 */
int token_read_text(const tool_command *command, const tool_option *option, char *value);
int token_read_file(const tool_command *command, const tool_option *option, char *value);
int token_read_environment(const tool_command *command, const tool_option *option, char *value);
int token_read_field(const tool_command *command, const tool_option *option, char *value);
int token_read_field_environment(const tool_command *command, const tool_option *option, char *value);

#define TOKEN_OPTIONS(tokens)                                                                                          \
  OWN("token", "TOKEN", token_read_text, (tokens),                                                                     \
      "access token, sent as 'Authorization: Bearer TOKEN' unless -H has an Authorization. Others see it for a "       \
      "moment in the list of processes, unlike what comes from a file or the environment"),                            \
      OWN("token-file", "FILE", token_read_file, (tokens), "the access token is the first line of this (-: stdin)"),   \
      OWN("token-env", "NAME", token_read_environment, (tokens), "the access token is in this environment variable"),  \
      TEXT(0, "token-url", "URL", &(tokens)->url,                                                                      \
           "access tokens come from this OAuth 2.0 endpoint, whenever one is needed. --cacert, --capath, "             \
           "--insecure, --proxy, --noproxy and --user-agent are for it too"),                                          \
      OWN("token-form", "FIELD", token_read_field, (tokens),                                                           \
          "field of the form that is sent there: 'name=text', or 'name=@FILE' (what is in it, without its last line "  \
          "end; @-: stdin). A text that begins with '@' comes from a file or the environment. May be given again"),    \
      OWN("token-form-env", "FIELD", token_read_field_environment, (tokens),                                           \
          "the same, 'name=NAME': what is in the environment variable NAME"),                                          \
      FLAG(0, "allow-insecure-token", &(tokens)->allows_insecure,                                                      \
           "tokens, and that form, over http to other machines too: everybody on the way can read them")

/** Whether the options fit together. `is_stdin_taken`: something else reads it. TOOL_GO_ON, or the code to exit with. */
int token_options_check(const tool_command *command, const token_options *tokens, bool is_stdin_taken);

/** Overwrites and frees what is secret. */
void token_options_forget(token_options *tokens);

#endif
