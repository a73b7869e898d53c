/* Signals that ask for an end: see signals.h. */
#define _POSIX_C_SOURCE 200809L
#include "cmd/signals.h"

#include <signal.h>
#include <stddef.h>

void signals_catch_end(void (*handler)(int), int flags)
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | flags};
    struct sigaction hangup;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, NULL, &hangup);
    if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL);
}
