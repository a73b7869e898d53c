/* One flag: somebody (a signal handler) asks the running solver to stop after its current step. */
#ifndef GCG_BASE_INTERRUPT_H
#define GCG_BASE_INTERRUPT_H

void gcg_interrupt_request(void); /* async-signal-safe */
void gcg_interrupt_clear(void);
int gcg_interrupt_requested(void);

#endif
