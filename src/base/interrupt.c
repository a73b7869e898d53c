#include "base/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t requested;

void gcg_interrupt_request(void)
{
    requested = 1;
}

void gcg_interrupt_clear(void)
{
    requested = 0;
}

int gcg_interrupt_requested(void)
{
    return requested != 0;
}
