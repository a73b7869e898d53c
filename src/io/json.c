/* JSON text: see json.h. */
#include "io/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"

void gcg_json_init(gcg_json *json)
{
    *json = (gcg_json){0};
}

void gcg_json_release(gcg_json *json)
{
    gcg_mem_free(json->text);
    gcg_json_init(json);
}

static void put(gcg_json *json, const char *bytes, int64_t length)
{
    if (json->failed) return;
    if (json->length + length >= json->room) {
        int64_t room = 2 * (json->room + length) + 64;
        char *grown = gcg_mem_resize_array(json->text, json->length, room, 1);
        if (!grown) {
            json->failed = 1;
            return;
        }
        json->text = grown;
        json->room = room;
    }
    memcpy(json->text + json->length, bytes, (size_t)length);
    json->length += length;
    json->text[json->length] = '\0';
}

static void put_text(gcg_json *json, const char *text)
{
    put(json, text, (int64_t)strlen(text));
}

/* Length of the well-formed UTF-8 sequence at s (NUL-terminated), 0 when there is none. */
static int utf8_length(const unsigned char *s)
{
    int length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    int overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    int outside =
        (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90); /* surrogates, past U+10FFFF */
    return overlong || outside ? 0 : length;
}

static void put_quoted(gcg_json *json, const char *text)
{
    put_text(json, "\"");
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        char escape[8];
        int length = utf8_length(s);
        if (length == 0) {
            put_text(json, "\\ufffd");
            s++;
        } else if (*s == '"' || *s == '\\') {
            put(json, (char[]){'\\', (char)*s++}, 2);
        } else if (*s < 0x20 || *s == 0x7f) {
            snprintf(escape, sizeof escape, "\\u%04x", *s++);
            put_text(json, escape);
        } else {
            put(json, (const char *)s, length);
            s += length;
        }
    }
    put_text(json, "\"");
}

/* What stands before a value: comma, line, indent, key. */
static void start_value(gcg_json *json, const char *key)
{
    if (json->comma) put_text(json, ",");
    if (json->depth > 0) put_text(json, "\n");
    for (int i = 0; i < json->depth; i++) put_text(json, "  ");
    if (key) {
        put_quoted(json, key);
        put_text(json, ": ");
    }
    json->comma = 1;
}

void gcg_json_open(gcg_json *json, const char *key, char bracket)
{
    start_value(json, key);
    put(json, &bracket, 1);
    json->depth++;
    json->comma = 0;
}

void gcg_json_close(gcg_json *json, char bracket)
{
    json->depth--;
    if (json->comma) put_text(json, "\n");
    for (int i = 0; i < json->depth && json->comma; i++) put_text(json, "  ");
    put(json, &bracket, 1);
    json->comma = 1;
}

void gcg_json_string(gcg_json *json, const char *key, const char *value)
{
    start_value(json, key);
    put_quoted(json, value);
}

void gcg_json_number(gcg_json *json, const char *key, double value)
{
    char printed[64], text[64];
    int n = 0;
    if (!isfinite(value)) {
        gcg_json_raw(json, key, "null");
        return;
    }
    snprintf(printed, sizeof printed, "%.17g", value);
    for (const char *p = printed; *p; p++) { /* the locale's decimal point, of any length, becomes a point */
        if (strchr("0123456789+-e", *p))
            text[n++] = *p;
        else if (n == 0 || text[n - 1] != '.')
            text[n++] = '.';
    }
    text[n] = '\0';
    gcg_json_raw(json, key, text);
}

void gcg_json_integer(gcg_json *json, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    gcg_json_raw(json, key, text);
}

void gcg_json_unsigned(gcg_json *json, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    gcg_json_raw(json, key, text);
}

void gcg_json_boolean(gcg_json *json, const char *key, int value)
{
    gcg_json_raw(json, key, value ? "true" : "false");
}

void gcg_json_raw(gcg_json *json, const char *key, const char *value)
{
    start_value(json, key);
    put_text(json, value);
}

gcg_status gcg_json_finish(gcg_json *json, char **text, gcg_err *err)
{
    *text = NULL;
    if (!json->failed && !json->text) put_text(json, "");
    if (json->failed) {
        gcg_json_release(json);
        return gcg_fail_memory(err, "JSON text");
    }
    *text = json->text;
    gcg_json_init(json);
    return GCG_OK;
}
