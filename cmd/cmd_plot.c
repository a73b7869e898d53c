/* gcg-mc plot: RMSE and gap of logs against time, drawn by gnuplot as text, PNG or SVG; or the script for it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/plot.h"
#include "cmd/report.h"
#include "io/output.h"
#include "io/paths.h"

typedef struct {
    const char *output;
    int script, quiet;
} plot_settings;

static const opt_entry table[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPT_FILE,
     .offset = offsetof(plot_settings, output),
     .argument = "FILE",
     .help = "a picture: FILE.png or FILE.svg; without it the plot is text"},
    {.name = "script",
     .kind = OPT_FLAG,
     .offset = offsetof(plot_settings, script),
     .help = "write the gnuplot script instead, to -o FILE or standard output"},
    OPT_QUIET(plot_settings),
};

/* 0, or the exit code when -o says nothing that can be written. */
static int choose_kind(const plot_settings *s, plot_kind *kind)
{
    char quoted[256];
    size_t length = s->output ? strlen(s->output) : 0;
    *kind = s->script ? PLOT_SCRIPT : PLOT_TEXT;
    if (s->script || !s->output) return 0;
    if (gcg_path_ends_with(s->output, length, ".png")) *kind = PLOT_PNG;
    if (gcg_path_ends_with(s->output, length, ".svg")) *kind = PLOT_SVG;
    if (*kind != PLOT_TEXT) return 0;
    return report_usage("-o %s: the name says what to write: .png or .svg; any name with --script",
                        gcg_quote(quoted, s->output, (int64_t)length));
}

static int check(const plot_settings *s, char **paths, int count, plot_kind *kind)
{
    int stdins = 0;
    if (count == 0) return report_usage("plot wants at least one log (- is standard input)");
    if (count > PLOT_MOST_LOGS)
        return report_usage("plot takes at most %d logs, not %d", PLOT_MOST_LOGS, count);
    for (int k = 0; k < count; k++) {
        stdins += strcmp(paths[k], "-") == 0;
        if (s->output && gcg_output_same_file(s->output, paths[k]))
            return report_usage("-o names one of the logs");
    }
    if (stdins > 1) return report_usage("standard input (-) is named twice");
    return choose_kind(s, kind);
}

/* Reads the logs; says what is odd about them. */
static gcg_status read_logs(char **paths, int count, plot_log *logs, gcg_err *err)
{
    for (int k = 0; k < count; k++) {
        gcg_status status = plot_log_read(paths[k], &logs[k], err);
        if (status) return status;
        if (logs[k].is_cut)
            report_note("%s: the last line is incomplete and left out: the run goes on, or was killed",
                        logs[k].name);
        else if (!logs[k].ended)
            report_note("%s: no status line: the run goes on, or was killed", logs[k].name);
    }
    return GCG_OK;
}

static int terminal_columns(void)
{
    enum { USUAL = 79, LEAST = 40, MOST = 200 };
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return USUAL;
    return size.ws_col < LEAST ? LEAST : size.ws_col > MOST ? MOST : size.ws_col - 1;
}

/* ---- gnuplot ---- */

extern char **environ;

/* Runs gnuplot on the script, its standard output to fd. 0; errno when it cannot be started; -1 after it
 * failed, which it has explained itself. */
static int run_gnuplot(FILE *script, int fd)
{
    char program[] = "gnuplot", own_settings_off[] = "-d", from_stdin[] = "-";
    char *const argv[] = {program, own_settings_off, from_stdin, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    rewind(script);
    setenv("LC_ALL", "C.UTF-8", 1); /* titles are UTF-8; in another encoding gnuplot warns */
    if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
    posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) return failed;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static gcg_status draw(plot_kind kind, const plot_log *logs, int count, int fd, int *is_missing, gcg_err *err)
{
    FILE *script = tmpfile();
    if (!script)
        return gcg_fail(err, GCG_ERR_IO, NULL, 0, 0, "no temporary file for the script: %s", strerror(errno));
    plot_script_write(script, kind, terminal_columns(), logs, count);
    int failed = ferror(script) || fflush(script) ? EIO : run_gnuplot(script, fd);
    fclose(script);
    *is_missing = failed == ENOENT;
    if (!failed) return GCG_OK;
    if (failed < 0)
        return gcg_fail(err, GCG_ERR_IO, NULL, 0, 0, "gnuplot failed; --script shows what it was given");
    return gcg_fail(
        err, GCG_ERR_IO, NULL, 0, 0,
        "gnuplot cannot be run: %s; install it, or write the script for another machine: --script",
        strerror(failed));
}

static gcg_status write_file(const plot_settings *s, plot_kind kind, const plot_log *logs, int count,
                             gcg_err *err)
{
    gcg_output o;
    int is_missing;
    gcg_status status = gcg_output_open(&o, s->output, err);
    if (status) return status;
    if (kind == PLOT_SCRIPT)
        plot_script_write(o.file, kind, 0, logs, count);
    else
        status = draw(kind, logs, count, fileno(o.file), &is_missing, err);
    if (!status) return gcg_output_commit(&o, err);
    gcg_output_abort(&o);
    return status;
}

/* Prints what gnuplot drew, without its form feed and the blanks at the ends of lines. */
static void print_text(FILE *drawn)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    int begun = 0;
    rewind(drawn);
    while ((length = getline(&line, &capacity, drawn)) > 0) {
        while (length > 0 && strchr(" \n", line[length - 1])) line[--length] = '\0';
        const char *text = line + strspn(line, "\f");
        begun |= text[strspn(text, " ")] != '\0';
        if (begun) puts(text);
    }
    free(line);
}

/* Text, or a script, on standard output. Without gnuplot the script is what can be had. */
static gcg_status write_stdout(plot_kind kind, const plot_log *logs, int count, gcg_err *err)
{
    int is_missing = 0;
    FILE *drawn = kind == PLOT_TEXT ? tmpfile() : NULL;
    gcg_status status = GCG_OK;
    if (kind == PLOT_TEXT && !drawn)
        return gcg_fail(err, GCG_ERR_IO, NULL, 0, 0, "no temporary file for the plot: %s", strerror(errno));
    if (drawn) status = draw(kind, logs, count, fileno(drawn), &is_missing, err);
    if (drawn && !status) print_text(drawn);
    if (drawn) fclose(drawn);
    if (status && !is_missing) return status;
    if (is_missing) report_warning("gnuplot is not installed: here is the script for it");
    if (is_missing || kind == PLOT_SCRIPT) plot_script_write(stdout, PLOT_SCRIPT, 0, logs, count);
    return GCG_OK;
}

static int cmd_plot(int argc, char **argv)
{
    plot_settings s = {0};
    plot_log logs[PLOT_MOST_LOGS] = {0};
    plot_kind kind = PLOT_TEXT;
    gcg_err err = {0};
    char **paths;
    int count;
    int code = opt_parse(argc, argv, &command_plot, &s, &paths, &count);
    if (!code) code = check(&s, paths, count, &kind);
    if (code) return code < 0 ? 0 : code;
    report_say.quiet = s.quiet;
    gcg_status status = read_logs(paths, count, logs, &err);
    if (!status && s.output && strcmp(s.output, "-") != 0)
        status = write_file(&s, kind, logs, count, &err);
    else if (!status)
        status = write_stdout(kind, logs, count, &err);
    for (int k = 0; k < count; k++) plot_log_release(&logs[k]);
    return status ? report_error(&err, NULL) : report_close_stdout();
}

const opt_command command_plot = {
    .name = "plot",
    .summary = "RMSE and gap of logs against time",
    .usage = "plot [OPTION]... LOG...",
    .about = "Draws the RMSE and the gap of logs of fit and path against time, with gnuplot.\n"
             "LOG: logs, side by side; - is standard input.",
    .table = table,
    .entries = sizeof table / sizeof *table,
    .run = cmd_plot,
};
