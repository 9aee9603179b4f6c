/* What a walk of walks.c knows of its calls. */
#ifndef WALK_MODEL_H
#define WALK_MODEL_H

#include "walks.h"

/* How the end of a call is reported. */
enum delivery { TO_NOBODY, TO_QUEUE, TO_QUEUE_UNOWNED, TO_CALLBACK, TO_CALLBACK_UNOWNED, DELIVERIES };

typedef struct client_model {
  boxretry_client *handle; /* NULL: there is none */
  int started;             /* calls that have begun */
  bool is_closed, has_tokens;
} client_model;

/* A call that was submitted. One that is not to be used any more leaves its place. */
typedef struct call_model {
  boxretry_call *handle; /* NULL: this place is free, or the call is only the queue's */
  bool is_used;
  enum delivery delivery;
  int client, queue, cancel; /* -1: none */
  unsigned path;
  bool may_be_cancelled, is_taken, has_response;
  bool has_tokens, has_deadline, has_sink;
} call_model;

/* What the server answers, and how that can end (after retries) by itself. */
typedef struct path {
  const char *text;
  int32_t statuses[2];
  bool may_break, never_ends;
} path;

enum { PATHS = 9 };
extern const path paths[PATHS];

extern client_model clients[CLIENTS];
extern boxretry_queue *queues[QUEUES];
extern boxretry_cancel *switches[SWITCHES];
extern bool is_triggered[SWITCHES];
extern call_model calls[CALLS];
extern char names[CALLS]; /* what user_pointer points to */
extern atomic_int callbacks_due, callbacks_run;
extern atomic_bool has_run[CALLS]; /* the callback of the call in that place */

/* --- walk_requests.c --- */

/** A request to that path; `url` is room for 128 characters, and has to live as long. */
boxretry_request make_request(unsigned path_number, char *url);

/** Requires that a call can have ended in this way, and frees the response. */
void check_response(const call_model *call, boxretry_response *response);

void perform(int client);

/** A call in a place that is free. */
void submit(int client, int place);

#endif
