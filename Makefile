# gcg-mc: `make` alone builds ./gcg-mc. See README.
-include config.mak.autogen

CC ?= gcc
BUILD ?= build
CFLAGS ?= -O2 -g
OPENMP_FLAGS ?= -fopenmp
WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
ifdef DEVELOPER
WARNINGS += -Werror
endif
ALL_CFLAGS = -std=c11 $(CFLAGS) $(OPENMP_FLAGS) $(WARNINGS) -I. -Isrc -MMD -MP
LIBS = -lzip -lz -larpack -llapacke -lopenblas -lm

LIB_OBJ = $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/*/*.c))
CMD_OBJ = $(patsubst %.c,$(BUILD)/%.o,$(wildcard cmd/*.c))

all: gcg-mc
gcg-mc: $(CMD_OBJ) $(LIB_OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<
clean:
	rm -rf $(BUILD) gcg-mc
-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d)
.PHONY: all clean
