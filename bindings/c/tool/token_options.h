/* The sources of access tokens: the options --token…. */
#ifndef BOXRETRY_TOOL_TOKEN_OPTIONS_H
#define BOXRETRY_TOOL_TOKEN_OPTIONS_H

#include "options.h"

/**
 * Either a token, or a token endpoint with a form. The token and the form are copies, which are overwritten before they
 * are freed; the originals on the command line are overwritten as soon as they are read.
 */
typedef struct token_options {
  char *token;
  const char *token_option; /* the name of the option that was used */
  const char *url;
  header_list fields;
  int32_t allows_insecure;
  int stdin_count; /* number of options that have read standard input */
} token_options;

/*
 * Each reads the value of an option into the token_options of its row. Error messages never contain the value: even if
 * it should be a name, it may be a secret that was given to the wrong option.
 */
int token_read_text(const tool_command *command, const tool_option *option, char *value);
int token_read_file(const tool_command *command, const tool_option *option, char *value);
int token_read_environment(const tool_command *command, const tool_option *option, char *value);
int token_read_field(const tool_command *command, const tool_option *option, char *value);
int token_read_field_environment(const tool_command *command, const tool_option *option, char *value);

#define TOKEN_OPTIONS(tokens)                                                                                          \
  OWN("token", "TOKEN", token_read_text, (tokens),                                                                     \
      "access token, sent as 'Authorization: Bearer TOKEN' unless -H sets Authorization. Other users can see it in "   \
      "the process list for a moment; --token-file and --token-env avoid that"),                                       \
      OWN("token-file", "FILE", token_read_file, (tokens),                                                             \
          "read the access token from the first line of FILE (-: stdin)"),                                             \
      OWN("token-env", "NAME", token_read_environment, (tokens),                                                       \
          "read the access token from this environment variable"),                                                     \
      TEXT(0, "token-url", "URL", &(tokens)->url,                                                                      \
           "get access tokens from this OAuth 2.0 token endpoint when needed. --cacert, --capath, --insecure, "        \
           "--proxy, --noproxy and --user-agent apply to it too"),                                                     \
      OWN("token-form", "FIELD", token_read_field, (tokens),                                                           \
          "form field for the token endpoint: 'name=text', or 'name=@FILE' to read it from a file, without the last "  \
          "line end (@-: stdin). May be repeated"),                                                                    \
      OWN("token-form-env", "FIELD", token_read_field_environment, (tokens),                                           \
          "the same, 'name=NAME', to read it from the environment variable NAME"),                                     \
      FLAG(0, "allow-insecure-token", &(tokens)->allows_insecure,                                                      \
           "send tokens and the form over plain http to other machines too: anyone on the network can read them")

/** Checks combinations of options. `is_stdin_taken`: something else reads stdin. Returns TOOL_GO_ON or the exit
 * code. */
int token_options_check(const tool_command *command, const token_options *tokens, bool is_stdin_taken);

/** Overwrites and frees the secrets. */
void token_options_forget(token_options *tokens);

#endif
