/* What the scenarios of races.c share. */
#ifndef RACES_H
#define RACES_H

#include <boxretry.h>
#include <stdatomic.h>

enum { CALLS = 32 };

extern char hello[64], silent[64], busy[64], later[64], rejected[64], token[64]; /* URLs of the server */
extern boxretry_client *client;                                                  /* of the round, or of all rounds */
extern boxretry_call *calls[CALLS];
extern atomic_long clients_made, clients_gone;
extern atomic_long endings; /* callbacks so far in this round */

void ok(boxretry_error error);

void wait_for(atomic_long *value, long least);

/** A strategy that does not retry. */
void stop(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action);

/** A client whose strategy is this callback, and whose end is counted. */
boxretry_client *new_client(void (*should_retry)(void *, const boxretry_outcome *, int32_t, int32_t *));

/** The same, with a token source. */
boxretry_client *new_client_with(void (*should_retry)(void *, const boxretry_outcome *, int32_t, int32_t *),
                                 boxretry_token_source *source);

/** The same; an answer with Retry-After holds all of its calls (C3). */
boxretry_client *new_sharing_client(void (*should_retry)(void *, const boxretry_outcome *, int32_t, int32_t *));

/** The same without a thread; `source` may be NULL. */
boxretry_client *new_driven_client(void (*should_retry)(void *, const boxretry_outcome *, int32_t, int32_t *),
                                   boxretry_token_source *source);

/** Frees the client, and waits until nothing of it is left. */
void free_client(void);

boxretry_request request_to(const char *url);

boxretry_call *submit_to(const char *url);

/** The response is there, and says one of the two things that may have happened. Frees it. */
void check_response(boxretry_response *response);

/** Waits for the end of a call, of which there is one, and frees it. */
void end_call(boxretry_call *call);

void count_ending(void *context, boxretry_call *call);

/** calls[number] is to `hello`. */
void submit_at_once(int number);

/* The scenarios, one round of each. */
void cancel_against_end(void);
void free_against_end(void);
void free_against_queue(void);
void many_waiters(void);
void free_client_under_calls(void);
void free_queue_under_calls(void);
void close_under_calls(void);
void close_after_callbacks(void);
void cancel_after_end(void);
void callback_at_work(void);
void free_against_callback(void);
void cancel_switch(void);
void cancel_switch_unused(void);
void perform_on_threads(void);
void perform_on_an_idle_client(void);
void cancel_while_deciding(void);
void cancel_before_decision(void);
void decide_at_once(void);
void answer_against_cancel(void);
void invalidate_against_answer(void);
void free_against_answer(void);
void free_against_get(void);
void late_answer_against_next(void);
void read_against_drop(void);
void two_clients_one_source(void);
void clock_against_waits(void);
void clock_by_itself(void);
void clock_freed_under_calls(void);
void gate_against_cancel(void);
void gate_opens(void);
void gate_opens_under_cancels(void);
void free_client_under_gate(void);
void driven_by_many(void);
void driven_by_waiters(void);
void driven_by_takers(void);
void free_driven_client_under_calls(void);
void close_driven_client(void);
void driven_client_shares_source(void);
void free_driven_client_under_fetch(void);

#endif
