/* The options of a checkpoint: as lines of a name and a value, and how a fit that goes on takes them. See
 * fit.h. What is a resumed option says the table (opt_resume). */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/fit.h"
#include "cmd/report.h"
#include "cmd/version.h"
#include "maths/kernels.h"

/* No options, but they may change the last digits. */
static const char program_key[] = "program", kernels_key[] = "kernels";
/* Which subcommand; whether --lambda auto has to leave the centring as it is. */
static const char command_key[] = "command", center_key[] = "center chosen";

static const opt_command *command_of(const fit_settings *s)
{
    return s->command == FIT_PATH ? &command_path : s->command == FIT_CV ? &command_cv : &command_fit;
}

int fit_checkpoint_name(const fit_settings *s, char *name, size_t size)
{
    *name = '\0';
    if (s->checkpoint ? strcmp(s->checkpoint, "none") == 0 : !s->output) return 0;
    snprintf(name, size, s->checkpoint ? "%s" : "%s.ckpt", s->checkpoint ? s->checkpoint : s->output);
    return 1;
}

char *fit_resume_text(const fit_settings *s)
{
    const opt_command *c = command_of(s);
    size_t room = 256, length = 0;
    for (size_t i = 0; i < c->entries; i++)
        if (c->table[i].resume && opt_has(c, i)) room += strlen(c->table[i].name) + OPT_VALUE_TEXT + 2;
    char *text = gcg_mem_alloc_array((int64_t)room, 1), value[OPT_VALUE_TEXT];
    if (!text) return NULL;
    length += (size_t)snprintf(text, room, "%s\t%s\n%s\t%s\n%s\t%s\n%s\t%s\n", command_key, c->name,
                               program_key, version_number, kernels_key, gcg_kernels_isa(), center_key,
                               s->has_center ? "yes" : "no");
    for (size_t i = 0; i < c->entries; i++) {
        if (!c->table[i].resume || !opt_has(c, i)) continue;
        opt_value(c, i, s, value);
        length += (size_t)snprintf(text + length, room - length, "%s\t%s\n", c->table[i].name, value);
    }
    return text;
}

static int differs(const fit_settings *s, const char *name, const char *now, const char *then)
{
    char q_now[256], q_then[256];
    gcg_quote(q_now, now, (int64_t)strlen(now));
    gcg_quote(q_then, then, (int64_t)strlen(then));
    if (!*then)
        return report_usage("--%s %s: the fit that %s is of was without it; leave it out, or begin anew",
                            name, q_now, s->resume);
    return report_usage("--%s %s: the fit that %s is of had %s; leave it out, or begin anew", name, q_now,
                        s->resume, q_then);
}

/* The same text, or the same number written otherwise. */
static int is_same(const char *a, const char *b)
{
    double x, y;
    return strcmp(a, b) == 0 || (opt_number(a, &x) == 0 && opt_number(b, &y) == 0 && x == y);
}

/* One line: value belongs to the option of this name. */
static int take(fit_settings *s, const char *name, const char *value)
{
    const opt_command *c = command_of(s);
    char now[OPT_VALUE_TEXT];
    size_t i = opt_find(c, name);
    if (strcmp(name, command_key) == 0 && strcmp(value, c->name) != 0)
        return report_usage("%s is a checkpoint of gcg-mc %s: go on from it with that", s->resume, value);
    if (strcmp(name, command_key) == 0) return 0;
    if (strcmp(name, center_key) == 0) {
        s->has_center = strcmp(value, "yes") == 0;
        return 0;
    }
    if (strcmp(name, program_key) == 0 || strcmp(name, kernels_key) == 0) {
        const char *own = strcmp(name, program_key) == 0 ? version_number : gcg_kernels_isa();
        if (strcmp(value, own) != 0)
            report_warning(
                "%s was written by gcg-mc with %s %s, this is %s: the model may differ from that of an "
                "unbroken fit in its last digits",
                s->resume, name, value, own);
        return 0;
    }
    if (i == c->entries || !c->table[i].resume) {
        report_warning("%s: gcg-mc %s has no option --%s any more", s->resume, c->name, name);
        return 0;
    }
    opt_value(c, i, s, now);
    if (is_same(now, value)) return 0; /* a default may be what cannot be given */
    if (!opt_given(c, i, s)) return opt_set(c, i, value, s);
    return c->table[i].resume == OPT_RESUMED ? differs(s, name, now, value) : 0;
}

int fit_resume_options(fit_settings *s)
{
    gcg_checkpoint_reader reader;
    gcg_err err;
    int64_t length = 0;
    gcg_status status = gcg_checkpoint_open(&reader, s->resume, &err);
    if (!status) status = gcg_checkpoint_get(&reader, &length, sizeof length, &err);
    if (!status && (length < 0 || length > 1 << 20))
        status = gcg_fail(&err, GCG_ERR_DATA, s->resume, 0, 0, "cannot be right: its options have no end");
    s->resumed = status ? NULL : gcg_mem_zalloc_array(length + 1, 1);
    if (!status && !s->resumed) status = gcg_fail_memory(&err, "checkpoint");
    if (!status) status = gcg_checkpoint_get(&reader, s->resumed, length, &err);
    gcg_checkpoint_close(&reader);
    if (status) return report_error(&err, NULL);
    int code = 0;
    for (char *line = s->resumed, *end; !code && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char *tab = strchr(line, '\t');
        *end = '\0';
        if (!tab || tab > end) continue;
        *tab = '\0';
        code = take(s, line, tab + 1);
    }
    return code;
}
