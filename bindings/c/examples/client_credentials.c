/*
 * Gets a token with Box's client credentials grant, and prints its lifetime.
 *
 *     CLIENT_SECRET=... client_credentials https://api.box.com/oauth2/token CLIENT_ID ENTERPRISE_ID
 *
 * The secret is not on the command line, where every user of the machine could read it.
 * Build: cc client_credentials.c $(pkg-config --cflags --libs boxretry)
 */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(boxretry_error error) {
  fprintf(stderr, "client_credentials: %s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  return EXIT_FAILURE;
}

int main(int argc, char **argv) {
  const char *secret = getenv("CLIENT_SECRET");
  if (argc != 4 || !secret) {
    fputs("usage: CLIENT_SECRET=... client_credentials URL CLIENT_ID ENTERPRISE_ID\n", stderr);
    return 2;
  }
  const boxretry_header fields[] = {
      {"grant_type", "client_credentials"}, {"client_id", argv[2]},      {"client_secret", secret},
      {"box_subject_type", "enterprise"},   {"box_subject_id", argv[3]},
  };
  boxretry_token_endpoint_options options = BOXRETRY_TOKEN_ENDPOINT_OPTIONS_INIT;
  boxretry_token_source *source;
  boxretry_token *token;
  options.url = argv[1];
  options.fields = fields;
  options.field_count = sizeof fields / sizeof *fields;
  boxretry_error error = boxretry_token_source_new_endpoint(&options, &source);
  if (error != BOXRETRY_OK) return fail(error);
  error = boxretry_token_source_get(source, BOXRETRY_NO_TIMEOUT, NULL, &token);
  boxretry_token_source_free(source);
  if (error != BOXRETRY_OK) return fail(error);
  /* boxretry_token_bytes(token) is the value for an Authorization header. */
  printf("a token of %d bytes, for %.0f s\n", (int)boxretry_token_length(token), boxretry_token_expires_in(token));
  boxretry_token_free(token);
  return EXIT_SUCCESS;
}
