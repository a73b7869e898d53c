# Fits as targets of make, for include in your own Makefile:
#
#   include fit.mk
#   GCG_MC_FIT = --lambda-ratio 0.1 --center both
#   all: movies.model
#
# makes NAME.model from NAME.csv when that has changed. A make that was stopped (the fit then ends with 75 and writes
# its checkpoint) goes on from the checkpoint the next time; one that belongs to older ratings is left aside.
GCG_MC ?= gcg-mc
GCG_MC_FIT ?= --lambda-ratio 0.1

%.model: %.csv
	@resume=; if [ $@.ckpt -nt $< ]; then resume="--resume $@.ckpt"; fi; set -x; \
	$(GCG_MC) fit $(GCG_MC_FIT) $$resume --log $@.log -o $@ $<
