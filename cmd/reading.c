/* The reading options: see reading.h. */
#include "cmd/reading.h"

#include <stdio.h>
#include <string.h>

#include "cmd/progress.h"

/* In the order of gcg_format, gcg_header and gcg_duplicates. */
const char *const reading_formats[] = {"auto",  "csv", "tsv",     "semicolon", "pipe",     "movielens",
                                       "space", "mtx", "netflix", "kdd",       "yahoo-r1", NULL};
const char *const reading_headers[] = {"auto", "yes", "no", NULL};
const char *const reading_duplicates[] = {"error", "first", "last", "mean", "sum", NULL};

int reading_parse_value_map(const char *text, void *field, char *message, size_t size)
{
    reading_settings *holder = (reading_settings *)((char *)field - offsetof(reading_settings, value_maps));
    gcg_value_map map = {0};
    char from[64];
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : sizeof from;
    if (length < sizeof from) {
        memcpy(from, text, length);
        from[length] = '\0';
        map.drop = strcmp(equals + 1, "drop") == 0;
        if (opt_number(from, &map.from) == 0 && (map.drop || opt_number(equals + 1, &map.to) == 0)) {
            if (holder->value_maps.count == READING_MAX_VALUE_MAPS) {
                snprintf(message, size, "is one value map too many (%d at most)", READING_MAX_VALUE_MAPS);
                return -1;
            }
            holder->value_maps.map[holder->value_maps.count++] = map;
            return 0;
        }
    }
    snprintf(message, size, "wants A=B or A=drop with numbers A and B");
    return -1;
}

gcg_read_options reading_options(const reading_settings *s)
{
    gcg_read_options o = gcg_read_options_defaults();
    o.format = (gcg_format)s->format;
    o.header = (gcg_header)s->header;
    o.columns = s->columns;
    o.weights = s->weights;
    o.implicit = s->implicit;
    o.no_ratings = s->no_ratings;
    o.duplicates = (gcg_duplicates)s->duplicates;
    o.value_maps = s->value_maps.map;
    o.value_map_count = s->value_maps.count;
    o.progress = progress_reading;
    return o;
}
