/* A 4-ary heap, which touches fewer cache lines than a binary one, and a ring buffer. */
#include "simulate_events.h"

#include <stdlib.h>

static bool has_room(sim_event **items, size_t count, size_t *capacity) {
  if (count < *capacity) return true;
  const size_t wanted = *capacity ? *capacity * 2 : 1024;
  sim_event *grown = realloc(*items, wanted * sizeof **items);
  if (!grown) return false;
  *items = grown;
  *capacity = wanted;
  return true;
}

bool event_heap_add(event_heap *heap, sim_event event) {
  if (!has_room(&heap->items, heap->count, &heap->capacity)) return false;
  size_t at = heap->count++;
  while (at > 0) {
    const size_t parent = (at - 1) / 4;
    if (heap->items[parent].time <= event.time) break;
    heap->items[at] = heap->items[parent];
    at = parent;
  }
  heap->items[at] = event;
  return true;
}

sim_event event_heap_take(event_heap *heap) {
  sim_event *items = heap->items;
  const sim_event earliest = items[0], last = items[--heap->count];
  size_t at = 0;
  for (;;) {
    size_t least = 4 * at + 1;
    if (least >= heap->count) break;
    const size_t end = least + 4 < heap->count ? least + 4 : heap->count;
    for (size_t child = least + 1; child < end; child++) {
      if (items[child].time < items[least].time) least = child;
    }
    if (items[least].time >= last.time) break;
    items[at] = items[least];
    at = least;
  }
  items[at] = last;
  return earliest;
}

void event_heap_free(event_heap *heap) {
  free(heap->items);
  *heap = (event_heap){NULL, 0, 0};
}

bool event_queue_add(event_queue *queue, sim_event event) {
  if (queue->count == queue->capacity) {
    const size_t before = queue->capacity;
    if (!has_room(&queue->items, queue->count, &queue->capacity)) return false;
    /* The part before `first` moves behind the rest. */
    for (size_t i = 0; i < queue->first; i++)
      queue->items[before + i] = queue->items[i];
  }
  queue->items[(queue->first + queue->count++) & (queue->capacity - 1)] = event;
  return true;
}

sim_event event_queue_take(event_queue *queue) {
  const sim_event earliest = queue->items[queue->first];
  queue->first = (queue->first + 1) & (queue->capacity - 1);
  queue->count--;
  return earliest;
}

void event_queue_free(event_queue *queue) {
  free(queue->items);
  *queue = (event_queue){NULL, 0, 0, 0};
}
