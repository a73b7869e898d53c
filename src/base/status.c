/* Status codes and diagnostics: see status.h. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Copies text to out as printable bytes (UTF-8 kept), at most size - 1 of them. */
static void printable(char *out, size_t size, const char *text)
{
    size_t n = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7f) {
            if (n + 4 >= size) break;
            n += (size_t)snprintf(out + n, size - n, "\\x%02X", *p);
        } else {
            if (n + 1 >= size) break;
            out[n++] = (char)*p;
        }
    }
    out[n] = '\0';
}

gcg_status gcg_fail(gcg_err *err, gcg_status status, const char *file, int64_t line, int64_t col,
                    const char *format, ...)
{
    if (!err) return status;
    err->status = status;
    err->line = line;
    err->col = col;
    err->file[0] = '\0';
    if (file) {
        size_t length = strlen(file), room = sizeof err->file - 1;
        printable(err->file, sizeof err->file, length > room ? file + length - room : file);
    }
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printable(err->text, sizeof err->text, text);
    return status;
}

gcg_status gcg_fail_memory(gcg_err *err, const char *what)
{
    return gcg_fail(err, GCG_ERR_NOMEM, NULL, 0, 0, "out of memory (%s)", what);
}

/* Length of the valid UTF-8 sequence at s (at most n bytes), 0 when there is none. */
static int utf8_length(const unsigned char *s, int64_t n)
{
    if (s[0] < 0x80) return 1;
    int length = s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
    if (s[0] >= 0xf5 || length > n) return 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    return length;
}

const char *gcg_quote(char out[256], const char *text, int64_t length)
{
    enum { SHOWN = 60 };
    const unsigned char *s = (const unsigned char *)text;
    int64_t i = 0;
    size_t n = 0;
    while (i < length && i < SHOWN) {
        int bytes = utf8_length(s + i, length - i);
        /* 0xc2 0x80..0x9f are control characters too */
        int plain = bytes > 0 && s[i] >= 0x20 && s[i] != 0x7f && !(s[i] == 0xc2 && s[i + 1] < 0xa0);
        if (plain) {
            memcpy(out + n, s + i, (size_t)bytes);
            n += (size_t)bytes;
            i += bytes;
        } else {
            n += (size_t)snprintf(out + n, 5, "\\x%02X", s[i]);
            i++;
        }
    }
    if (i < length) {
        memcpy(out + n, "...", 3);
        n += 3;
    }
    out[n] = '\0';
    return out;
}

void gcg_report(gcg_diag *diag, gcg_severity severity, const char *file, int64_t line, int64_t col,
                const char *format, ...)
{
    if (!diag) return;
    if (severity == GCG_ERROR && ++diag->errors > GCG_DIAG_MAX_ERRORS) return;
    if (severity == GCG_ERROR) diag->shown++;
    if (severity == GCG_WARNING) diag->warnings++;
    if (!diag->emit) return;
    char raw[512], text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    printable(text, sizeof text, raw);
    diag->emit(diag->user, severity, file, line, col, text);
}

void gcg_report_rest(gcg_diag *diag, const char *file)
{
    if (!diag || diag->errors <= diag->shown || !diag->emit) return;
    char text[64];
    snprintf(text, sizeof text, "and %lld more errors", (long long)(diag->errors - diag->shown));
    diag->emit(diag->user, GCG_ERROR, file, 0, 0, text);
}
