/* Adding, canceling and firing of timers: the engine's queue against a binary heap in C. timers COUNT
 *
 * Both allocate an entry for each timer, and keep it until it is canceled or fires. COUNT are added, for random times; a
 * third of them is canceled, and the rest fires in order. Prints a table: the medians of several rounds, made in turn, in
 * nanoseconds of processor time for each operation, and the memory that one timer takes. */
#include "costs.h"

#include <malloc.h>

/* bench/timers/timers.swift */
void *ours_add(int64_t due);
void ours_cancel(void *entry);
int64_t ours_fire(void);

/* --- The heap in C --- */

typedef struct entry {
  int64_t due;
  size_t index;
} entry;

static entry **heap;
static size_t heap_count, heap_capacity;

static void place(entry *moved, size_t index) {
  heap[index] = moved;
  moved->index = index;
}

static void sift_up(entry *moved, size_t index) {
  for (; index > 0 && moved->due < heap[(index - 1) / 2]->due; index = (index - 1) / 2)
    place(heap[(index - 1) / 2], index);
  place(moved, index);
}

static void sift_down(entry *moved, size_t index) {
  for (size_t child; (child = 2 * index + 1) < heap_count; index = child) {
    if (child + 1 < heap_count && heap[child + 1]->due < heap[child]->due) child++;
    if (moved->due <= heap[child]->due) break;
    place(heap[child], index);
  }
  place(moved, index);
}

static void *plain_add(int64_t due) {
  entry *added = malloc(sizeof *added);
  if (heap_count == heap_capacity) {
    heap_capacity = heap_capacity ? 2 * heap_capacity : 64;
    heap = realloc(heap, heap_capacity * sizeof(entry *));
  }
  require(added && heap, "malloc");
  added->due = due;
  sift_up(added, heap_count++);
  return added;
}

static void plain_cancel(void *cancelled) {
  const size_t index = ((entry *)cancelled)->index;
  entry *last = heap[--heap_count];
  if (index < heap_count) {
    sift_up(last, index);
    sift_down(last, last->index);
  }
  free(cancelled);
}

static int64_t plain_fire(void) {
  if (heap_count == 0) return -1;
  const int64_t due = heap[0]->due;
  plain_cancel(heap[0]);
  return due;
}

/* --- Measuring --- */

enum { ROUNDS = 5, ADD = 0, CANCEL, FIRE, BYTES, MEASURES };

typedef struct subject {
  void *(*add)(int64_t due);
  void (*cancel)(void *entry);
  int64_t (*fire)(void);
} subject;

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005U + 1442695040888963407U;
  return *state >> 33;
}

static double allocated(void) {
  const struct mallinfo2 info = mallinfo2();
  return (double)(info.uordblks + info.hblkhd);
}

static void measure(const subject *subject, size_t count, void **entries, double out[MEASURES]) {
  uint64_t random = 1;
  size_t cancelled = 0;
  const double bytes = allocated();
  double began = processor_time();
  for (size_t i = 0; i < count; i++)
    entries[i] = subject->add((int64_t)next_random(&random));
  out[ADD] = (processor_time() - began) / (double)count * 1e9;
  out[BYTES] = (allocated() - bytes) / (double)count;

  began = processor_time();
  for (size_t i = 0; i < count; i += 3, cancelled++)
    subject->cancel(entries[i]);
  out[CANCEL] = (processor_time() - began) / (double)cancelled * 1e9;

  began = processor_time();
  size_t fired = 0;
  for (int64_t due, last = 0; (due = subject->fire()) >= 0; last = due, fired++)
    require(due >= last, "not in order");
  out[FIRE] = (processor_time() - began) / (double)fired * 1e9;
  require(fired == count - cancelled, "not all have fired");
}

int main(int argc, char **argv) {
  static const char *const names[MEASURES] = {"add, ns", "cancel, ns", "fire, ns", "bytes each"};
  const subject ours = {ours_add, ours_cancel, ours_fire}, plain = {plain_add, plain_cancel, plain_fire};
  if (argc != 2) return fputs("usage: timers COUNT\n", stderr), 2;
  const size_t count = strtoul(argv[1], NULL, 10);
  void **entries = malloc(count * sizeof *entries);
  double taken[3][MEASURES][ROUNDS];
  require(entries != NULL, "malloc");
  for (int round = 0; round < ROUNDS; round++) {
    double mine[MEASURES], theirs[MEASURES];
    measure(&ours, count, entries, mine);
    measure(&plain, count, entries, theirs);
    for (int i = 0; i < MEASURES; i++) {
      /* What a heap has grown to once it keeps. */
      taken[0][i][round] = mine[i];
      taken[1][i][round] = theirs[i];
      taken[2][i][round] = mine[i] / theirs[i];
    }
    if (round == 0)
      printf("%zu  %s  %.0f  %.0f  %.2f\n", count, names[BYTES], mine[BYTES], theirs[BYTES],
             mine[BYTES] / theirs[BYTES]);
  }
  for (int i = 0; i < BYTES; i++)
    printf("%zu  %s  %.0f  %.0f  %.2f\n", count, names[i], median(taken[0][i], ROUNDS), median(taken[1][i], ROUNDS),
           median(taken[2][i], ROUNDS));
  return EXIT_SUCCESS;
}
