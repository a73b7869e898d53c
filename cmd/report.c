/* What the subcommands share when they speak: see report.h. */
#include "cmd/report.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

report_level report_say;

static const char *word_of(gcg_severity severity)
{
    return severity == GCG_ERROR ? "error" : severity == GCG_WARNING ? "warning" : "note";
}

void report_clear_line(void)
{
    if (report_say.line) fprintf(stderr, "\r\033[K");
    report_say.line = 0;
}

/* Appends text to line as far as there is room, control bytes as \xNN. */
static void append(char *line, size_t size, const char *text)
{
    size_t n = strlen(line);
    for (; *text && n + 5 < size; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < 0x20 || byte == 0x7f)
            n += (size_t)snprintf(line + n, size - n, "\\x%02X", byte);
        else
            line[n++] = (char)byte;
    }
    line[n] = '\0';
}

/* gcg-mc: FILE:LINE:COL: error: text. In one write, so that lines of several programs do not mix. */
static void print(gcg_severity severity, const char *file, int64_t line, int64_t col, const char *text)
{
    char message[6144] = "gcg-mc: ", place[64] = "";
    if (severity == GCG_NOTE && report_say.quiet) return;
    if (file && *file) {
        append(message, sizeof message, file);
        if (line > 0 && col > 0)
            snprintf(place, sizeof place, ":%lld:%lld: ", (long long)line, (long long)col);
        else if (line > 0)
            snprintf(place, sizeof place, ":%lld: ", (long long)line);
        else
            snprintf(place, sizeof place, ": ");
    }
    append(message, sizeof message, place);
    append(message, sizeof message, word_of(severity));
    append(message, sizeof message, ": ");
    append(message, sizeof message, text);
    report_clear_line();
    fprintf(stderr, "%s\n", message);
}

static void emit(void *user, gcg_severity severity, const char *file, int64_t line, int64_t col,
                 const char *text)
{
    (void)user;
    print(severity, file, line, col, text);
}

gcg_diag report_diag(void)
{
    return (gcg_diag){.emit = emit};
}

int report_error(const gcg_err *err, gcg_diag *diag)
{
    if (!diag || diag->errors == 0) print(GCG_ERROR, err->file, err->line, err->col, err->text);
    return (int)err->status;
}

__attribute__((format(printf, 2, 0))) static void print_list(gcg_severity severity, const char *format,
                                                             va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    print(severity, NULL, 0, 0, text);
}

int report_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_list(GCG_ERROR, format, args);
    va_end(args);
    return GCG_ERR_USAGE;
}

void report_warning(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_list(GCG_WARNING, format, args);
    va_end(args);
}

void report_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_list(GCG_NOTE, format, args);
    va_end(args);
}

int report_close_stdout(void)
{
    report_clear_line();
    int bad = ferror(stdout), code = errno;
    if (fflush(stdout) != 0) {
        bad = 1;
        code = errno;
    }
    if (!bad || code == EPIPE) return 0;
    fprintf(stderr, "gcg-mc: stdout: error: cannot write: %s\n", strerror(code));
    return GCG_ERR_IO;
}

const char *report_number(char out[32], double value)
{
    if (isnan(value))
        strcpy(out, "nan");
    else
        snprintf(out, 32, "%.17g", value);
    return out;
}
