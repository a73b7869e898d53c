/* Status codes and diagnostics: see status.h. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the printable character (UTF-8) at s, of which n bytes are left; 0 when it has to be escaped. */
static int plain_length(const unsigned char *s, int64_t n)
{
    if (s[0] < 0x80) return s[0] >= 0x20 && s[0] != 0x7f;
    int length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || length > n) return 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    /* not control characters, overlong forms, surrogates, or beyond the last code point */
    if ((s[0] == 0xc2 || s[0] == 0xe0) && s[1] < 0xa0) return 0;
    if ((s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return length;
}

enum { ESCAPED = 4 /* bytes of \xNN */ };

/* One character of text: *printed receives the bytes it takes in print, returned are those it has. */
static int step_over(const unsigned char *p, const unsigned char *end, size_t *printed)
{
    int plain = plain_length(p, end - p);
    *printed = plain ? (size_t)plain : ESCAPED;
    return plain ? plain : 1;
}

/* Copies text to out as printable bytes (UTF-8 kept), at most size - 1 of them. */
static void printable(char *out, size_t size, const char *text)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + strlen(text);
    size_t n = 0, one;
    for (int bytes; p < end; p += bytes, n += one) {
        bytes = step_over(p, end, &one);
        if (n + one >= size) break;
        if (plain_length(p, end - p))
            memcpy(out + n, p, one);
        else
            snprintf(out + n, ESCAPED + 1, "\\x%02X", *p);
    }
    out[n] = '\0';
}

/* out (as large as a gcg_err's file) receives the printable form of a file name, its end when it is too long.
 */
static const char *printable_file(char *out, size_t size, const char *file)
{
    const unsigned char *start = (const unsigned char *)file, *end = start + strlen(file);
    size_t total = 0, one;
    for (const unsigned char *p = start; p < end; total += one) p += step_over(p, end, &one);
    for (; total >= size; total -= one) start += step_over(start, end, &one);
    printable(out, size, (const char *)start);
    return out;
}

gcg_status gcg_fail(gcg_err *err, gcg_status status, const char *file, int64_t line, int64_t col,
                    const char *format, ...)
{
    if (!err) return status;
    err->status = status;
    err->line = line;
    err->col = col;
    err->file[0] = '\0';
    if (file) printable_file(err->file, sizeof err->file, file);
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

const char *gcg_quote(char out[256], const char *text, int64_t length)
{
    enum { SHOWN = 60 };
    const unsigned char *s = (const unsigned char *)text;
    int64_t i = 0;
    size_t n = 0;
    while (i < length && i < SHOWN) {
        int plain = plain_length(s + i, length - i);
        if (i + plain > SHOWN) break;
        if (plain) {
            memcpy(out + n, s + i, (size_t)plain);
            n += (size_t)plain;
            i += plain;
        } else {
            snprintf(out + n, ESCAPED + 1, "\\x%02X", s[i]);
            n += ESCAPED;
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
    char raw[512], text[512], name[256];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    printable(text, sizeof text, raw);
    diag->emit(diag->user, severity, file ? printable_file(name, sizeof name, file) : NULL, line, col, text);
}

void gcg_report_rest(gcg_diag *diag, const char *file)
{
    if (!diag || diag->errors <= diag->shown || !diag->emit) return;
    char text[64], name[256];
    int64_t more = diag->errors - diag->shown;
    snprintf(text, sizeof text, "and %lld more error%s", (long long)more, more == 1 ? "" : "s");
    diag->emit(diag->user, GCG_ERROR, file ? printable_file(name, sizeof name, file) : NULL, 0, 0, text);
}
