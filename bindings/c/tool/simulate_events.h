/* What will happen in a simulation: a heap for any order of times, a queue for times that never go back. */
#ifndef BOXRETRY_TOOL_SIMULATE_EVENTS_H
#define BOXRETRY_TOOL_SIMULATE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Something that happens at a time, to the call or client of that number. */
typedef struct sim_event {
  double time;
  uint32_t number;
  uint32_t kind; /* what it is, to who made it */
} sim_event;

typedef struct event_heap {
  sim_event *items;
  size_t count, capacity;
} event_heap;

/** Adds an event. False: there is no memory. */
bool event_heap_add(event_heap *heap, sim_event event);
/** Takes the earliest event; there is one. */
sim_event event_heap_take(event_heap *heap);
void event_heap_free(event_heap *heap);

typedef struct event_queue {
  sim_event *items;
  size_t first, count, capacity; /* the capacity is a power of 2 */
} event_queue;

/** Adds an event that is no earlier than the last one. False: there is no memory. */
bool event_queue_add(event_queue *queue, sim_event event);
/** Takes the earliest event; there is one. */
sim_event event_queue_take(event_queue *queue);
void event_queue_free(event_queue *queue);

#endif
