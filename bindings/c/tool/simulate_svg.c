/* The chart of a simulation: load over time, one line for each policy. It contains no scripts. Its colors follow the
 * reader's light or dark theme, and dashes distinguish the lines in print. */
#include "simulate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* A color for light backgrounds, one for dark ones, and a dash pattern. */
typedef struct line_style {
  const char *light, *dark, *dashes;
} line_style;

static const line_style styles[] = {
    {"#6b6b6b", "#a8a8a8", "1 3"}, {"#c62828", "#ff7b72", "none"}, {"#1565c0", "#79b8ff", "none"},
    {"#2e7d32", "#7ee787", "8 3"}, {"#b26a00", "#ffb454", "3 2"},  {"#7b1fa2", "#d2a8ff", "10 3 2 3"},
    {"#00838f", "#56d4dd", "6 6"}, {"#ad1457", "#ff9bce", "2 5"},
};
enum { STYLES = sizeof styles / sizeof styles[0] };

enum { WIDTH = 760, LEFT = 56, RIGHT = 20, TOP = 44, PLOT = 280, LEGEND_ROW = 18, LEGEND_COLUMNS = 3 };

typedef struct picture {
  FILE *file;
  const sim_world *world;
  double most; /* load at the top edge */
} picture;

static double x_of(const picture *picture, double time) {
  const double part = time / picture->world->duration;
  return LEFT + (part < 0 ? 0 : part > 1 ? 1 : part) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const picture *picture, double load) {
  return TOP + PLOT - load / picture->most * PLOT;
}

/* A step of 1, 2 or 5 times a power of ten, so that about `count` steps cover the range. */
static double nice_step(double range, int count) {
  const double raw = range / count, power = pow(10, floor(log10(raw)));
  const double digits = raw / power;
  return (digits < 1.5 ? 1 : digits < 3.5 ? 2 : digits < 7.5 ? 5 : 10) * power;
}

static double highest_load(const sim_query *query, const sim_result *results) {
  double most = 1.5;
  for (int32_t i = 0; i < query->policy_count; i++) {
    const sim_series *series = &results[i].series;
    const size_t length = sim_bucket_cells(series, &query->world);
    for (size_t cell = sim_first_bucket(series, &query->world); cell + length < series->count; cell += length) {
      const double load = sim_bucket_load(series, &query->world, cell);
      if (load > most) most = load;
    }
  }
  return most;
}

static void write_style(FILE *file, int32_t policies) {
  fputs("<style>\n"
        "svg{background:#fff}text{font:12px sans-serif;fill:#222}.axis{stroke:#888;fill:none}.grid{stroke:#ddd}\n"
        ".outage{fill:#f3d9d9}.normal{stroke:#222;stroke-dasharray:2 2}.load{fill:none;stroke-width:1.6}\n",
        file);
  for (int32_t i = 0; i < policies; i++)
    fprintf(file, ".p%ld{stroke:%s;stroke-dasharray:%s}\n", (long)i, styles[i % STYLES].light,
            styles[i % STYLES].dashes);
  fputs("@media (prefers-color-scheme:dark){svg{background:#111}text{fill:#ddd}.axis{stroke:#888}.grid{stroke:#333}\n"
        ".outage{fill:#3a2424}.normal{stroke:#ddd}\n",
        file);
  for (int32_t i = 0; i < policies; i++)
    fprintf(file, ".p%ld{stroke:%s}\n", (long)i, styles[i % STYLES].dark);
  fputs("}\n</style>\n", file);
}

static void write_axes(const picture *picture) {
  FILE *file = picture->file;
  const sim_world *world = picture->world;
  fprintf(file, "<rect class=\"outage\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
          x_of(picture, world->outage_start), TOP,
          x_of(picture, sim_outage_end(world)) - x_of(picture, world->outage_start), PLOT);
  const double load_step = nice_step(picture->most, 6);
  for (double load = 0; load <= picture->most * 1.0001; load += load_step) {
    const double y = y_of(picture, load);
    fprintf(file, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, WIDTH - RIGHT, y, y);
    fprintf(file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 8, y + 4, load);
  }
  const double time_step = nice_step(world->duration, 8);
  for (double time = 0; time <= world->duration; time += time_step) {
    fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g s</text>\n", x_of(picture, time),
            TOP + PLOT + 18, time);
  }
  const double normal = y_of(picture, 1);
  fprintf(file, "<line class=\"normal\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT, WIDTH - RIGHT, normal,
          normal);
  fprintf(file, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, TOP + PLOT, WIDTH - RIGHT);
}

static void write_load(const picture *picture, int32_t index, const sim_series *series) {
  const sim_world *world = picture->world;
  const size_t length = sim_bucket_cells(series, world);
  const size_t first = sim_first_bucket(series, world);
  fprintf(picture->file, "<polyline class=\"load p%ld\" points=\"", (long)index);
  for (size_t cell = first; cell + length < series->count; cell += length) {
    /* A bucket is drawn at its middle. */
    const double time = series->first + ((double)cell + (double)length / 2) * series->cell;
    fprintf(picture->file, "%.1f,%.1f ", x_of(picture, time), y_of(picture, sim_bucket_load(series, world, cell)));
  }
  fputs("\"/>\n", picture->file);
}

static void write_legend(const picture *picture, const sim_query *query) {
  for (int32_t i = 0; i < query->policy_count; i++) {
    const int x = LEFT + i % LEGEND_COLUMNS * ((WIDTH - LEFT - RIGHT) / LEGEND_COLUMNS);
    const int y = TOP + PLOT + 42 + i / LEGEND_COLUMNS * LEGEND_ROW;
    fprintf(picture->file, "<line class=\"load p%ld\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>", (long)i, x, x + 40, y,
            y);
    fprintf(picture->file, "<text x=\"%d\" y=\"%d\">%s</text>\n", x + 48, y + 4, query->policies[i].name);
  }
}

static void write_picture(FILE *file, const sim_query *query, const sim_result *results) {
  const sim_world *world = &query->world;
  const picture picture = {file, world, highest_load(query, results) * 1.05};
  const int rows = (query->policy_count + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
  const int height = TOP + PLOT + 42 + rows * LEGEND_ROW;
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n",
          WIDTH, height, WIDTH, height);
  fprintf(file, "<title>Load of a server with an outage of %g s (%s), %ld %s</title>\n", world->outage_length,
          failure_names[world->outage_kind], (long)world->clients, sim_clients_noun(world));
  write_style(file, query->policy_count);
  fprintf(file,
          "<text x=\"%d\" y=\"18\">Load relative to normal: %ld %s, %.6g requests per second; outage of %g s (%s)"
          "</text>\n",
          LEFT, (long)world->clients, sim_clients_noun(world), sim_normal_load(world), world->outage_length,
          failure_names[world->outage_kind]);
  write_axes(&picture);
  for (int32_t i = 0; i < query->policy_count; i++)
    write_load(&picture, i, &results[i].series);
  write_legend(&picture, query);
  fputs("</svg>\n", file);
}

bool sim_write_svg(const sim_query *query, const sim_result *results) {
  FILE *file = fopen(query->svg_path, "w");
  if (!file) return false;
  write_picture(file, query, results);
  const bool is_written = fflush(file) == 0 && !ferror(file);
  const int error = errno;
  const bool is_closed = fclose(file) == 0;
  if (!is_written) errno = error;
  return is_written && is_closed;
}
