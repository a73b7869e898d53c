/* How long work is watched: when it has to end, and who hears how far it is.
 *
 * Work that takes long is done in steps (a product with the matrix, an iteration). Between two of them the
 * thread that leads it says how far it is and asks whether it is over: because the deadline has passed, or
 * because somebody asked for it (base/interrupt.h). Then it leaves what it has and returns as usual; its
 * caller sees at `over` that something may have been cut short. Not an error, and not a clock of its own:
 * gcg_clock_now(). As long as nothing strikes, watching changes no result. */
#ifndef GCG_BASE_WATCH_H
#define GCG_BASE_WATCH_H

typedef struct {
    double deadline; /* gcg_clock_now() at which the work is over; INFINITY: never */
    int deaf;        /* 1: requests to stop do not count (any more) */
    int over;        /* 1 from the first look on that found it so */
    /* Told of phases, and how far each is: 0 to 1, NAN where that cannot be known. May be NULL. */
    void (*tell)(const char *phase, double done, void *user);
    void *user;
    const char *phase;
    double from, to; /* the part of the phase that the running step is */
} gcg_watch;

/* All functions take NULL: work that nobody watches. */

/* Without an end, heard by nobody: set what is to be different. */
gcg_watch gcg_watch_defaults(void);
/* A new phase begins. phase lives forever. */
void gcg_watch_phase(gcg_watch *w, const char *phase);
/* What is told from now on goes from `from` to `to` of the phase. */
void gcg_watch_part(gcg_watch *w, double from, double to);
/* Says that `done` (0 to 1, NAN = unknown) of the running part is done; 1 when the work is over. */
int gcg_watch_step(gcg_watch *w, double done);
/* 1 when the work is over. */
int gcg_watch_over(gcg_watch *w);
/* The same for blocks that run on any thread: changes nothing. */
int gcg_watch_passed(const gcg_watch *w);
/* Seconds to the deadline, may be negative or INFINITY. */
double gcg_watch_left(const gcg_watch *w);
/* So many seconds more from now on, in which requests to stop do not count. */
void gcg_watch_extend(gcg_watch *w, double seconds);

#endif
