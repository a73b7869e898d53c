/* The signals that ask a subcommand to end. SIGUSR1 is cmd/fit_run.c's; everywhere else it is ignored. */
#ifndef GCG_CMD_SIGNALS_H
#define GCG_CMD_SIGNALS_H

/* SIGINT, SIGTERM and SIGHUP go to handler, with SA_RESTART and these flags; a SIGHUP that is ignored (nohup)
 * stays so. */
void signals_catch_end(void (*handler)(int), int flags);

#endif
