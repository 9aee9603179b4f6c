/* The retry loop around your own transport, here plain libcurl: own_transport URL
 *
 * Build: cc own_transport.c $(pkg-config --cflags --libs boxretry libcurl) */
#include <boxretry.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "own_transport: %s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

/* Why there was no response (B2). A local failure is not a network exception, and is not retried. */
static int32_t cause_of(CURLcode code) {
  switch (code) {
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_RESOLVE_PROXY:
    return BOXRETRY_CAUSE_RESOLVE;
  case CURLE_COULDNT_CONNECT:
    return BOXRETRY_CAUSE_CONNECT;
  case CURLE_SSL_CONNECT_ERROR:
  case CURLE_PEER_FAILED_VERIFICATION:
    return BOXRETRY_CAUSE_TLS;
  case CURLE_SEND_ERROR:
    return BOXRETRY_CAUSE_SEND;
  case CURLE_RECV_ERROR:
  case CURLE_GOT_NOTHING:
  case CURLE_PARTIAL_FILE:
    return BOXRETRY_CAUSE_RECEIVE;
  case CURLE_OPERATION_TIMEDOUT: /* CURLOPT_TIMEOUT_MS applies to the whole attempt */
    return BOXRETRY_CAUSE_TIMEOUT_RESOURCE;
  case CURLE_WEIRD_SERVER_REPLY:
    return BOXRETRY_CAUSE_PROTOCOL;
  default:
    fprintf(stderr, "own_transport: %s\n", curl_easy_strerror(code));
    exit(EXIT_FAILURE);
  }
}

static size_t drop(char *data, size_t size, size_t count, void *unused) {
  return (void)data, (void)unused, size * count;
}

/* Sends the request once. The header's value is valid until the next call with `curl`. */
static void attempt(CURL *curl, boxretry_outcome *outcome, boxretry_header *retry_after) {
  const CURLcode code = curl_easy_perform(curl);
  struct curl_header *header;
  long status = 0;
  if (code != CURLE_OK) {
    outcome->cause = cause_of(code);
    return;
  }
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  outcome->status = (int32_t)status;
  if (curl_easy_header(curl, "Retry-After", 0, CURLH_HEADER, -1, &header) == CURLHE_OK) {
    *retry_after = (boxretry_header){header->name, header->value};
    outcome->headers = retry_after;
    outcome->header_count = 1;
  }
}

int main(int argc, char **argv) {
  boxretry_strategy *strategy;
  boxretry_retry_loop *loop;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  CURL *curl = curl_easy_init();
  if (argc != 2 || !curl || curl_easy_setopt(curl, CURLOPT_URL, argv[1]) != CURLE_OK) {
    fputs("usage: own_transport URL\n", stderr);
    return 2;
  }
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 60000L); /* neither of these two can fail */
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
  check(boxretry_strategy_new(NULL, &strategy));
  check(boxretry_retry_loop_new(strategy, NULL, &loop)); /* one loop for each call */
  do {
    boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
    boxretry_header retry_after;
    attempt(curl, &outcome, &retry_after);
    check(boxretry_retry_loop_next(loop, &outcome, &decision));
    printf("attempt %d: %s, %s, %s, wait %.3f s\n", decision.attempt_number,
           outcome.cause ? boxretry_cause_name(outcome.cause) : "response", boxretry_action_name(decision.action),
           boxretry_reason_name(decision.reason), decision.delay);
    check(boxretry_clock_sleep(NULL, decision.delay));
  } while (decision.action == BOXRETRY_ACTION_RETRY);
  boxretry_retry_loop_free(loop);
  boxretry_strategy_free(strategy);
  curl_easy_cleanup(curl);
  return decision.action == BOXRETRY_ACTION_SUCCEED ? EXIT_SUCCESS : EXIT_FAILURE;
}
