/* Future events of a simulation: a heap for times in any order, a queue for times that never decrease. */
#ifndef BOXRETRY_TOOL_SIMULATE_EVENTS_H
#define BOXRETRY_TOOL_SIMULATE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** An event at a certain time, for the call or client with that number. */
typedef struct sim_event {
  double time;
  uint32_t number;
  uint32_t kind; /* defined by its creator */
} sim_event;

typedef struct event_heap {
  sim_event *items;
  size_t count, capacity;
} event_heap;

/** Adds an event. Returns false if out of memory. */
bool event_heap_add(event_heap *heap, sim_event event);
/** Removes and returns the earliest event. Must not be empty. */
sim_event event_heap_take(event_heap *heap);
void event_heap_free(event_heap *heap);

typedef struct event_queue {
  sim_event *items;
  size_t first, count, capacity; /* the capacity is a power of 2 */
} event_queue;

/** Adds an event, which must not be earlier than the last one. Returns false if out of memory. */
bool event_queue_add(event_queue *queue, sim_event event);
/** Removes and returns the earliest event. Must not be empty. */
sim_event event_queue_take(event_queue *queue);
void event_queue_free(event_queue *queue);

#endif
