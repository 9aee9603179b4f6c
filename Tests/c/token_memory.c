/* F80, T1: given a token that was got by many threads and never sent, when it is dropped, then nothing of it is left in the
 * memory of the process. And while it is there, the search finds it: else this would show nothing. */
#define _GNU_SOURCE
#include <boxretry.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* free() writes over the beginning of a block by itself: it is for the end of the token that the memory is searched. */
enum { LENGTH = 80, SEARCHED = 24, THREADS = 8, VEIL = 0x15 };

/* The token in disguise. Its plain form is in memory only where the library has it, and where it is handed over. */
static unsigned char veiled[LENGTH];
static boxretry_token *tokens[THREADS];
static boxretry_token_source *source;
static boxretry_token_request *late;

#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                          \
      exit(EXIT_FAILURE);                                                                                              \
    }                                                                                                                  \
  } while (0)

static long count_in(const volatile unsigned char *bytes, size_t size) {
  long count = 0;
  for (size_t at = 0; at + SEARCHED <= size; at++) {
    size_t same = 0;
    while (same < SEARCHED && (bytes[at + same] ^ VEIL) == veiled[LENGTH - SEARCHED + same])
      same++;
    count += same == SEARCHED;
  }
  return count;
}

/* How often the token occurs in the memory that this process can write to. */
static long count_in_memory(void) {
  char line[512], permissions[8];
  unsigned long long start, end;
  long count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  REQUIRE(maps);
  while (fgets(line, sizeof line, maps)) {
    REQUIRE(sscanf(line, "%llx-%llx %7s", &start, &end, permissions) == 3);
    if (strncmp(permissions, "rw", 2) != 0 || strstr(line, "[v")) continue;
    count += count_in((const volatile unsigned char *)(uintptr_t)start, (size_t)(end - start));
  }
  fclose(maps);
  return count;
}

static boxretry_error answer(boxretry_token_request *request) {
  char *text = malloc(LENGTH);
  REQUIRE(text);
  for (int i = 0; i < LENGTH; i++)
    text[i] = (char)(veiled[i] ^ VEIL);
  const boxretry_error error = boxretry_token_request_succeed(request, text, LENGTH, 3600);
  explicit_bzero(text, LENGTH);
  free(text);
  return error;
}

static void provide(void *context, boxretry_token_request *request) {
  (void)context;
  REQUIRE(answer(request) == BOXRETRY_OK);
  if (late) return;
  late = request;
  boxretry_token_request_retain(request);
}

static void *get(void *number) {
  boxretry_token **token = &tokens[(intptr_t)number];
  REQUIRE(boxretry_token_source_get(source, BOXRETRY_NO_TIMEOUT, NULL, token) == BOXRETRY_OK);
  REQUIRE(boxretry_token_length(*token) == LENGTH);
  return NULL;
}

static void get_in_threads(void) {
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; i++)
    REQUIRE(pthread_create(&threads[i], NULL, get, (void *)i) == 0);
  for (int i = 0; i < THREADS; i++)
    REQUIRE(pthread_join(threads[i], NULL) == 0);
}

static void free_all(void) {
  for (int i = 0; i < THREADS; i++)
    boxretry_token_free(tokens[i]);
}

int main(void) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  FILE *random = fopen("/dev/urandom", "r");
  REQUIRE(random && fread(veiled, 1, LENGTH, random) == LENGTH);
  fclose(random);
  for (int i = 0; i < LENGTH; i++) /* letters, once the veil is off */
    veiled[i] = (unsigned char)(('a' + veiled[i] % 26) ^ VEIL);

  options.provider = provide;
  REQUIRE(boxretry_token_source_new(&options, &source) == BOXRETRY_OK);
  REQUIRE(count_in_memory() == 0);
  get_in_threads();
  REQUIRE(count_in_memory() > 0);
  REQUIRE(boxretry_token_source_clear(source) == BOXRETRY_OK);
  REQUIRE(count_in_memory() > 0); /* those who got it have it still */
  free_all();
  REQUIRE(count_in_memory() == 0);

  REQUIRE(answer(late) == BOXRETRY_ERROR_TOKEN_REQUEST_ENDED); /* and nothing of a refused answer is kept */
  boxretry_token_request_release(late);
  REQUIRE(count_in_memory() == 0);

  get_in_threads();
  free_all();
  REQUIRE(count_in_memory() > 0);
  boxretry_token_source_free(source);
  REQUIRE(count_in_memory() == 0);
  return EXIT_SUCCESS;
}
