/* Scenarios of races.c: the gate of an origin (C3). */
#include <stdlib.h>

#include "crew.h"
#include "races.h"

enum { EACH = CALLS / 4 };

static void submit_one_that_closes(int number) {
  for (int i = 0; i < EACH; i++)
    calls[number * EACH + i] = submit_to(number == 0 && i == 0 ? later : hello);
}

static void cancel_and_end(int number) {
  for (int i = 0; i < EACH; i++) {
    boxretry_call *call = calls[number * EACH + i];
    if (i % 2) dawdle();
    boxretry_call_cancel(call);
    end_call(call);
  }
}

/* K3: given a gate that is about to close, when the calls that it may hold are canceled, then each has one ending. */
void gate_against_cancel(void) {
  client = new_sharing_client(stop);
  at_once(4, submit_one_that_closes);
  dawdle();
  at_once(4, cancel_and_end);
  free_client();
}

static void submit_busy_ones(int number) {
  for (int i = 0; i < EACH; i++)
    calls[number * EACH + i] = submit_to(i % 4 == 0 ? busy : hello);
}

static void end_mine(int number) {
  for (int i = 0; i < EACH; i++)
    end_call(calls[number * EACH + i]);
}

/* Given a gate that closes and opens again and again, then it holds no call longer than that. */
void gate_opens(void) {
  client = new_sharing_client(stop);
  at_once(4, submit_busy_ones);
  at_once(4, end_mine);
  free_client();
}

/* The same while others are canceled: each gives its place to the next one. */
void gate_opens_under_cancels(void) {
  client = new_sharing_client(stop);
  at_once(4, submit_busy_ones);
  for (int i = 0; i < CALLS; i += 3)
    boxretry_call_cancel(calls[i]);
  at_once(4, end_mine);
  free_client();
}

static void free_or_end(int number) {
  if (number == 4) boxretry_client_free(client);
  if (number < 4) end_mine(number);
}

/* K5: given calls that a gate holds, when the client is freed, then all of them end. */
void free_client_under_gate(void) {
  client = new_sharing_client(stop);
  end_call(submit_to(later));
  at_once(4, submit_one_that_closes);
  at_once(5, free_or_end);
  wait_for(&clients_gone, atomic_load(&clients_made));
}
