/* The results of a run: load, goodput, and the time until calls succeed again. */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>

double sim_normal_load(const sim_world *world) {
  const double between = 1 / world->rate;
  /* A closed client pauses after its call has ended. */
  return world->clients / (world->is_closed ? between + world->latency + 1 / world->capacity : between);
}

const char *sim_clients_noun(const sim_world *world) {
  return world->clients == 1 ? "client" : "clients";
}

/* --- Cells and buckets --- */

enum { MOST_CELLS = 50000 };

boxretry_error sim_measures_begin(sim_result *result, const sim_world *world) {
  *result = (sim_result){.recovery = -1, .median_time = -1, .worst_time = -1};
  sim_series *series = &result->series;
  series->cell = 0.1;
  if (series->cell * MOST_CELLS < world->duration) series->cell = world->duration / MOST_CELLS;
  series->first = world->outage_start - ceil(world->outage_start / series->cell) * series->cell;
  series->count = (size_t)((world->duration - series->first) / series->cell) + 1;
  uint32_t *cells = calloc(3 * series->count, sizeof *cells);
  if (!cells) return BOXRETRY_ERROR_OUT_OF_MEMORY;
  series->load = cells;
  series->succeeded = cells + series->count;
  series->failed = cells + 2 * series->count;
  return BOXRETRY_OK;
}

void sim_result_free(sim_result *result) {
  free(result->series.load);
  free(result->times);
  *result = (sim_result){.recovery = -1};
}

size_t sim_cell(const sim_series *series, double time) {
  /* A moment on the border of two cells belongs to the later one, even after rounding. */
  const double cell = (time - series->first) / series->cell + 1e-6;
  return cell < (double)series->count ? (size_t)cell : series->count - 1;
}

/* With fewer than about a hundred requests per bucket, random peaks dominate. */
size_t sim_bucket_cells(const sim_series *series, const sim_world *world) {
  enum { REQUESTS = 100 };
  double length = REQUESTS / sim_normal_load(world);
  if (length < 1) length = 1;
  if (world->outage_length > 0 && length > world->outage_length / 6) length = world->outage_length / 6;
  const double cells = length / series->cell + 0.5;
  return cells >= 1 ? (size_t)cells : 1;
}

size_t sim_first_bucket(const sim_series *series, const sim_world *world) {
  return sim_cell(series, world->outage_start) % sim_bucket_cells(series, world);
}

static double sum_of(const uint32_t *cells, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; i++)
    sum += cells[i];
  return sum;
}

double sim_bucket_load(const sim_series *series, const sim_world *world, size_t first_cell) {
  const size_t length = sim_bucket_cells(series, world);
  const size_t end = first_cell + length < series->count ? first_cell + length : series->count;
  const double seconds = (double)(end - first_cell) * series->cell;
  return sum_of(series->load, first_cell, end) / (seconds * sim_normal_load(world));
}

/* --- Totals --- */

/* Only full buckets count. */
static double peak_load(const sim_series *series, const sim_world *world, size_t begin, size_t end) {
  const size_t length = sim_bucket_cells(series, world);
  double peak = 0;
  for (size_t cell = begin; cell + length <= end; cell += length) {
    const double load = sim_bucket_load(series, world, cell);
    if (load > peak) peak = load;
  }
  return peak;
}

static double goodput(const sim_series *series, const sim_world *world, size_t begin, size_t end) {
  if (end <= begin) return 0;
  return sum_of(series->succeeded, begin, end) / ((double)(end - begin) * series->cell * sim_normal_load(world));
}

/* The time after the outage from which on 99 % of the calls succeed: the end of the last period, one bucket long, in
 * which fewer do. */
static double recovery_time(const sim_series *series, const sim_world *world, size_t outage_end) {
  const size_t length = sim_bucket_cells(series, world);
  if (outage_end + length > series->count) return -1;
  double succeeded = sum_of(series->succeeded, outage_end, outage_end + length);
  double failed = sum_of(series->failed, outage_end, outage_end + length);
  size_t last_bad_cell = 0;
  for (size_t begin = outage_end;; begin++) {
    const size_t end = begin + length;
    if (failed > 0.01 * (succeeded + failed)) {
      /* The period is good again after its last failure. */
      size_t cell = end;
      while (series->failed[cell - 1] == 0)
        cell--;
      last_bad_cell = cell;
    }
    if (end == series->count) {
      if (last_bad_cell == end) return -1;
      break;
    }
    succeeded += (double)series->succeeded[end] - series->succeeded[begin];
    failed += (double)series->failed[end] - series->failed[begin];
  }
  return last_bad_cell == 0 ? 0 : (double)(last_bad_cell - outage_end) * series->cell;
}

static int compare_times(const void *a, const void *b) {
  const float left = *(const float *)a, right = *(const float *)b;
  return (left > right) - (left < right);
}

void sim_measures_end(sim_result *result, const sim_world *world) {
  const sim_series *series = &result->series;
  const size_t start = sim_cell(series, world->outage_start);
  const size_t end = sim_cell(series, sim_outage_end(world));
  /* The run may end within the last cell. */
  const size_t last = series->count - 1 > end ? series->count - 1 : end;
  result->peak_during = peak_load(series, world, start, end);
  result->peak_after = peak_load(series, world, end, last);
  result->goodput_during = goodput(series, world, start, end);
  result->goodput_after = goodput(series, world, end, last);
  result->recovery = recovery_time(series, world, end);
  if (result->time_count == 0) return;
  qsort(result->times, result->time_count, sizeof *result->times, compare_times);
  result->median_time = result->times[result->time_count / 2];
  result->worst_time = result->times[result->time_count - 1];
}
