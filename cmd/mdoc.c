/* Manual pages as plain text: see mdoc.h. */
#define _POSIX_C_SOURCE 200809L
#include "cmd/mdoc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 512, WORDS = 64, DEEP = 8, RIGHT = 78, STEP = 4, COLUMNS = 8 };

typedef enum { LIST_TAG, LIST_COUNT, LIST_BULLET, LIST_COLUMN } list_kind;
typedef struct {
    list_kind kind;
    int width, compact, count;
    int column[COLUMNS]; /* widths */
} list;

typedef struct {
    int indent; /* of the text now */
    int at;     /* column where the current line ends; 0: nothing on it yet */
    int blank;  /* a blank line is due before the next text */
    int fresh;  /* nothing stands below the last heading yet */
    int glue;   /* the last word was an opening parenthesis alone */
    int literal;
    int synopsis; /* each .Nm begins a line there */
    list lists[DEEP];
    int depth;
    char name[64]; /* of .Nm */
} page_state;

/* ---- lines of output ---- */

static void end_line(page_state *p)
{
    if (p->at) putchar('\n');
    p->at = 0;
}

static void paragraph(page_state *p)
{
    end_line(p);
    p->blank = !p->fresh;
}

static void start_line(page_state *p, int indent)
{
    if (p->blank) putchar('\n');
    p->blank = p->fresh = 0;
    printf("%*s", indent, "");
    p->at = indent;
}

/* Columns that UTF-8 text takes. */
static int width_of(const char *text)
{
    int n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Adds words to the paragraph, breaking lines between them. */
static void fill(page_state *p, const char *text)
{
    while (*text == ' ') text++;
    while (*text) {
        char word[LINE];
        size_t n = strcspn(text, " ");
        memcpy(word, text, n);
        word[n] = '\0';
        for (text += n; *text == ' ';) text++;
        for (char *c = word; *c; c++)
            if (*c == '\1') *c = ' ';        /* was an unbreakable one */
        int glued = p->glue || *word == ')'; /* behind Po, before Pc */
        if (p->at > p->indent && !glued && p->at + 1 + width_of(word) > RIGHT) end_line(p);
        if (!p->at)
            start_line(p, p->indent);
        else if (p->at > p->indent && !glued)
            p->at += printf(" ");
        p->glue = strcmp(word, "(") == 0;
        fputs(word, stdout);
        p->at += width_of(word);
    }
}

/* A line as it stands. */
static void line_as_is(page_state *p, int indent, const char *text)
{
    end_line(p);
    if (*text)
        start_line(p, indent);
    else
        p->blank = 0;
    printf("%s\n", text);
    p->at = 0;
}

/* ---- words of a macro line ---- */

/* Takes escapes away: \e is a backslash, \& nothing, \(aq and \(dq are quotes. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from != '\\' || !from[1]) {
            *to++ = *from;
            continue;
        }
        from++;
        if (*from == 'e') *to++ = '\\';
        if (*from == '-') *to++ = '-';
        if (*from == ' ') *to++ = '\1';
        if (*from == '(' && from[1] && from[2]) {
            *to++ = strncmp(from + 1, "aq", 2) == 0 ? '\'' : strncmp(from + 1, "dq", 2) == 0 ? '"' : '-';
            from += 2;
        }
    }
    *to = '\0';
}

typedef struct {
    char text[LINE];
    char *word[WORDS];
    int quoted[WORDS], count;
} words;

static void split(words *w, const char *line)
{
    char *p = w->text;
    snprintf(w->text, sizeof w->text, "%s", line);
    for (w->count = 0; w->count < WORDS;) {
        while (*p == ' ') p++;
        if (!*p) break;
        w->quoted[w->count] = *p == '"';
        if (*p == '"') p++;
        w->word[w->count] = p;
        p += strcspn(p, w->quoted[w->count] ? "\"" : " ");
        w->count++;
        if (*p) *p++ = '\0';
    }
}

static int is_one_of(const char *word, const char *several)
{
    size_t n = strlen(word);
    for (const char *p = strstr(several, word); p; p = strstr(p + 1, word))
        if ((p == several || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return n > 0;
    return 0;
}

static int is_macro(const words *w, int k)
{
    return !w->quoted[k] &&
           is_one_of(w->word[k], "Ap Ar Aq Bq Cm Dq Em Ev Fl Fn Ic Li Nd Nm No Ns Op Pa Pc Po "
                                 "Pq Ql Qq Sq Sx Sy Ta Va Xr");
}

static int is_closing(const char *word)
{
    return is_one_of(word, ". , ; : ! ? ) ]");
}

static void append(char *out, const char *text, int glued)
{
    size_t n = strlen(out);
    snprintf(out + n, LINE - n, "%s%s", n && !glued ? " " : "", text);
}

static const char *opening_of(const char *macro)
{
    return is_one_of(macro, "Op Bq")   ? "["
           : is_one_of(macro, "Pq Po") ? "("
           : is_one_of(macro, "Dq Qq") ? "\""
           : is_one_of(macro, "Sq Ql") ? "'"
           : strcmp(macro, "Aq") == 0  ? "<"
                                       : NULL;
}

static const char *closing_of(char opening)
{
    return opening == '[' ? "]" : opening == '(' ? ")" : opening == '<' ? ">" : opening == '"' ? "\"" : "'";
}

/* A line of macros on its way to text. */
typedef struct {
    char *out;         /* LINE bytes */
    const char *macro; /* whose arguments come now */
    int arguments;     /* of it so far */
    int glue;          /* 1: no blank before the next word */
    char open[DEEP];   /* brackets to be closed at the end of the line */
    int opened;
} inline_state;

/* is_last: the macro has no arguments. */
static void begin_macro(const page_state *p, inline_state *s, const char *macro, int is_last)
{
    const char *opening = opening_of(macro);
    s->macro = macro;
    s->arguments = 0;
    if (opening) {
        append(s->out, opening, s->glue);
        if (strcmp(macro, "Po") != 0 && s->opened < DEEP) s->open[s->opened++] = *opening;
        s->glue = 1;
    } else if (is_one_of(macro, "Ns Ap")) {
        if (*macro == 'A') append(s->out, "'", 1);
        s->glue = 1;
    } else if (strcmp(macro, "Pc") == 0) {
        append(s->out, ")", 1);
    } else if (strcmp(macro, "Nd") == 0 || (is_last && strcmp(macro, "Fl") == 0)) {
        append(s->out, "-", s->glue);
        s->glue = *macro == 'F'; /* as in Fl Ns */
    } else if (is_last && is_one_of(macro, "Nm Ar")) {
        append(s->out, *macro == 'N' ? p->name : "file ...", s->glue);
        s->glue = 0;
    }
}

static void add_argument(page_state *p, inline_state *s, const char *word, int quoted)
{
    char text[LINE], whole[LINE + 8];
    snprintf(text, sizeof text, "%s", word);
    unescape(text);
    int closing = !quoted && is_closing(text);
    const char *before = "", *after = "";
    if (!closing && strcmp(text, "|") != 0) {
        if (strcmp(s->macro, "Fl") == 0) before = "-";
        if (strcmp(s->macro, "Fn") == 0) after = "()";
        if (strcmp(s->macro, "Xr") == 0 && s->arguments == 1) before = "(", after = ")";
        if (strcmp(s->macro, "Nm") == 0 && !p->name[0]) snprintf(p->name, sizeof p->name, "%.60s", text);
    }
    snprintf(whole, sizeof whole, "%s%s%s", before, text, after);
    append(s->out, whole, s->glue || closing || *before == '(');
    s->arguments++;
    s->glue = strcmp(text, "(") == 0 || strcmp(text, "[") == 0;
}

/* Words k.. of w as text. Po's parenthesis stays open until Pc. */
static void inline_text(page_state *p, const words *w, int k, char out[LINE])
{
    inline_state s = {.out = out, .macro = ""};
    int end = w->count;
    while (end > k + 1 && !w->quoted[end - 1] && is_closing(w->word[end - 1])) end--; /* behind what closes */
    for (; k < end; k++)
        if (is_macro(w, k))
            begin_macro(p, &s, w->word[k], k + 1 == end || is_macro(w, k + 1));
        else
            add_argument(p, &s, w->word[k], w->quoted[k]);
    while (s.opened > 0) append(out, closing_of(s.open[--s.opened]), 1);
    for (; end < w->count; end++) append(out, w->word[end], 1);
}

/* ---- lists ---- */

static void list_begin(page_state *p, const words *w)
{
    list l = {.kind = LIST_TAG, .width = STEP};
    int k = 1;
    for (; k < w->count; k++) {
        const char *word = w->word[k];
        if (strcmp(word, "-enum") == 0) l.kind = LIST_COUNT;
        if (strcmp(word, "-bullet") == 0 || strcmp(word, "-dash") == 0) l.kind = LIST_BULLET;
        if (strcmp(word, "-compact") == 0) l.compact = 1;
        if (strcmp(word, "-column") == 0) l.kind = LIST_COLUMN;
        if (strcmp(word, "-width") == 0 && k + 1 < w->count) l.width = (int)strlen(w->word[++k]);
        if (strcmp(word, "-offset") == 0) k++;
        if (l.kind == LIST_COLUMN && word[0] != '-' && l.count < COLUMNS)
            l.column[l.count++] = (int)strlen(word) + 2;
    }
    if (l.kind == LIST_TAG) l.width = l.width < STEP ? STEP : l.width + 2;
    if (l.kind == LIST_COLUMN) l.width = 0;
    l.count = 0;
    if (p->depth < DEEP) p->lists[p->depth++] = l;
    p->indent += l.width;
    if (l.compact)
        end_line(p);
    else
        paragraph(p);
}

static void list_end(page_state *p)
{
    end_line(p);
    if (p->depth > 0) p->indent -= p->lists[--p->depth].width;
}

/* A row of -column: cells between Ta. */
static void list_row(page_state *p, const list *l, words *w)
{
    char row[LINE] = "", cell[LINE];
    for (int k = 1, column = 0; k < w->count; column++) {
        int end = k, count = w->count;
        while (end < count && strcmp(w->word[end], "Ta") != 0) end++;
        cell[0] = '\0';
        w->count = end;
        inline_text(p, w, k, cell);
        w->count = count;
        size_t n = strlen(row);
        int room = end < count && column < COLUMNS ? l->column[column] : 0; /* the last one needs none */
        int written = snprintf(row + n, sizeof row - n, "%-*s%s", room, cell,
                               room && width_of(cell) >= room ? " " : "");
        if (written < 0 || (size_t)written >= sizeof row - n) break; /* a row that is too long is cut */
        k = end + 1;
    }
    line_as_is(p, p->indent, row);
}

static void list_item(page_state *p, words *w)
{
    char tag[LINE] = "";
    if (p->depth == 0) return;
    list *l = &p->lists[p->depth - 1];
    if (l->kind == LIST_COLUMN) {
        list_row(p, l, w);
        return;
    }
    if (l->compact || l->count == 0)
        end_line(p);
    else
        paragraph(p);
    l->count++;
    if (l->kind == LIST_TAG) inline_text(p, w, 1, tag);
    if (l->kind == LIST_COUNT) snprintf(tag, sizeof tag, "%d.", l->count);
    if (l->kind == LIST_BULLET) strcpy(tag, "-");
    p->indent -= l->width;
    fill(p, tag);
    p->indent += l->width;
    if (p->at < p->indent)
        while (p->at < p->indent) p->at += printf(" ");
    else
        end_line(p);
}

/* ---- lines of the page ---- */

static void heading(page_state *p, const char *title, int deep)
{
    paragraph(p);
    p->depth = 0;
    line_as_is(p, deep ? STEP / 2 : 0, title);
    p->indent = STEP;
    p->fresh = 1;
    p->synopsis = strcmp(title, "SYNOPSIS") == 0;
}

static void macro_line(page_state *p, const char *line)
{
    words w = {.count = 0};
    char out[LINE] = "";
    split(&w, line + 1);
    const char *macro = w.count ? w.word[0] : "";
    if (strcmp(macro, "Pp") == 0) {
        paragraph(p);
    } else if (strcmp(macro, "Bl") == 0) {
        list_begin(p, &w);
    } else if (strcmp(macro, "El") == 0) {
        list_end(p);
    } else if (strcmp(macro, "It") == 0) {
        list_item(p, &w);
    } else if (strcmp(macro, "Bd") == 0) {
        paragraph(p);
        p->literal = 1;
    } else if (strcmp(macro, "Ed") == 0) {
        p->literal = 0;
    } else if (strcmp(macro, "Dl") == 0 || strcmp(macro, "D1") == 0) {
        snprintf(out, sizeof out, "%s", line + 1 + strlen(macro) + strspn(line + 1 + strlen(macro), " "));
        unescape(out);
        line_as_is(p, p->indent + STEP, out);
    } else if (macro[0] == '%') {
        snprintf(out, sizeof out, "%s,", line + 1 + strcspn(line + 1, " ") + 1);
        fill(p, out);
    } else if (!is_one_of(macro, "Dd Dt Os Rs Re") && strncmp(line, ".\\\"", 3) != 0) {
        if (strcmp(macro, "Nm") == 0 && p->synopsis) end_line(p);
        inline_text(p, &w, 0, out);
        fill(p, out);
    }
}

static void page_line(page_state *p, const char *line)
{
    char text[LINE];
    snprintf(text, sizeof text, "%s", line);
    if (line[0] == '.' && !(p->literal && strncmp(line, ".Ed", 3) != 0)) {
        macro_line(p, line);
        return;
    }
    unescape(text);
    if (p->literal)
        line_as_is(p, p->indent + STEP, text);
    else
        fill(p, text);
}

/* Does the line begin a section that text of the wanted one does not reach into? */
static int is_heading(const char *line, const char *macro)
{
    return line[0] == '.' && strncmp(line + 1, macro, 2) == 0 && (line[3] == ' ' || !line[3]);
}

int mdoc_print(const char *page, const char *section)
{
    page_state p = {.indent = STEP, .fresh = 1};
    int shown = section == NULL, found = shown, deep = 0;
    while (*page) {
        char line[LINE];
        size_t n = strcspn(page, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, page);
        page += n + (page[n] == '\n');
        int is_sh = is_heading(line, "Sh"), is_ss = is_heading(line, "Ss");
        if (section && (is_sh || (is_ss && deep))) shown = 0;
        if (section && (is_sh || is_ss) && strcmp(line + 4, section) == 0) {
            shown = found = 1;
            deep = is_ss;
        }
        if (shown && (is_sh || is_ss)) heading(&p, line + 4, is_ss && !(section && deep));
        if (shown && !is_sh && !is_ss) page_line(&p, line);
        if (!shown && is_heading(line, "Nm") && !p.name[0])
            snprintf(p.name, sizeof p.name, "%.60s", line + 4);
    }
    end_line(&p);
    return found ? 0 : -1;
}
