/* What recommend and fold-in share: --exclude, and lists of best items written as `user rank item score`.
 *
 * Users are collected until there is work for all threads, ranked by maths/top in groups, turned into text by
 * the same threads and written in the order in which they came. */
#ifndef GCG_CMD_RANKING_H
#define GCG_CMD_RANKING_H

#include "cmd/options.h"
#include "io/exclusion.h"
#include "io/model_io.h"
#include "io/sink.h"
#include "maths/top.h"

/* An option that may be repeated. */
enum { RANKING_MAX_TEXTS = 64 };
typedef struct {
    const char *text[RANKING_MAX_TEXTS];
    int count;
} ranking_texts;
/* For OPT_CUSTOM: the field is a ranking_texts. */
int ranking_add_text(const char *text, void *field, char *message, size_t size);

enum { RANKING_N = 10 /* -n by default */, RANKING_EXCLUSIONS = 2 };

typedef struct ranking_user ranking_user;
typedef struct ranking_piece ranking_piece;

typedef struct {
    const gcg_model *model;
    gcg_scorer scorer;
    gcg_top top;
    const gcg_exclusion *exclusion[RANKING_EXCLUSIONS]; /* not to be listed; NULL: none */
    gcg_sink sink;
    int header; /* 1: the header line is written */
    int32_t group;
    int64_t pieces, users;
    ranking_user *user;
    ranking_piece *piece;
    char *names; /* of the users that wait */
    int64_t names_length, names_room;
} ranking;

/* r is zeroed but for model, scorer, exclusion and sink. new_users: 1 when users without training ratings
 * come. */
gcg_status ranking_begin(ranking *r, int64_t n, int new_users, gcg_err *err);
/* The next user: its id and its row in the model, -1 for one that has none. */
gcg_status ranking_add(ranking *r, const char *id, size_t length, int32_t row, gcg_err *err);
/* Writes what waits, and the header if nothing was written. */
gcg_status ranking_finish(ranking *r, gcg_err *err);
void ranking_release(ranking *r); /* twice is fine */

#endif
