# gcg-mc: `make` alone builds ./gcg-mc, objects go to build/. Nothing needs to be configured; ./configure only
# writes config.mak.autogen, which is read here when it exists.
#
#   make DEVELOPER=1                    strict warnings are errors
#   make SANITIZE=address,undefined     its own folder: build/address,undefined/gcg-mc (also: thread)
#   make CC=clang CFLAGS='-O2 -march=native' OPENMP_FLAGS= ISAL=
#
# Targets: all check demo bench (and bench-NAME) install uninstall dist distcheck deps clean; for developers also
# check-layers lint coverage valgrind fuzz.
#
# Every flag is recorded in build/.flags; a change of one rebuilds what depends on it.
all:

-include config.mak.autogen

VERSION := $(shell cat VERSION)
MACHINE ?= $(shell uname -m)
prefix ?= /usr/local
bindir ?= $(prefix)/bin
mandir ?= $(prefix)/share/man
datadir ?= $(prefix)/share
INSTALL ?= install

# ---- flags ----
# Variables that ask the compiler or pkg-config are expanded once, when a recipe needs them: `make deps check` must
# not look for what `deps` is about to install.
once = $(eval $(1) := $(2))$($(1))
hash := \#

SANITIZE ?=
ifneq ($(SANITIZE),)
BUILD ?= build/$(SANITIZE)
CFLAGS ?= -O1 -g
SANITIZE_FLAGS = -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
endif
ifneq ($(COVERAGE),)
BUILD ?= build/coverage
CFLAGS ?= -O1 -g
SANITIZE_FLAGS = --coverage -fprofile-update=atomic
endif
BUILD ?= build
CFLAGS ?= -O2 -g
PROGRAM ?= $(if $(filter build,$(BUILD)),gcg-mc,$(BUILD)/gcg-mc)

PKG_CONFIG ?= pkg-config
OPENMP_FLAGS ?= $(call once,OPENMP_FLAGS,$(shell echo '$(hash)include <omp.h>' | $(CC) -fopenmp -x c -fsyntax-only - 2>/dev/null && echo -fopenmp))
LIBS ?= -lzip -lz -larpack -llapacke -lopenblas
# libisal unpacks gzip several times as fast as zlib; it is used where it is found. ISAL= builds without it.
ISAL ?= $(call once,ISAL,$(shell echo '$(hash)include <isa-l/igzip_lib.h>' | $(CC) -x c -fsyntax-only - 2>/dev/null && \
  { $(PKG_CONFIG) --modversion libisal 2>/dev/null || echo unknown; }))
CHECK_LIBS ?= $(call once,CHECK_LIBS,$(shell $(PKG_CONFIG) --libs check 2>/dev/null || echo -lcheck -lsubunit -lrt))
COMPILER = $(call once,COMPILER,$(shell $(CC) --version 2>/dev/null | head -n 1))
ARPACK_VERSION ?= $(call once,ARPACK_VERSION,$(shell $(PKG_CONFIG) --modversion arpack 2>/dev/null || echo unknown))

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
ifdef DEVELOPER
WARNINGS += -Werror -Wundef -Wformat=2 -Wwrite-strings -Wold-style-definition -Wcast-qual
endif
# Without OpenMP its pragmas are only comments.
WARNINGS += $(if $(strip $(OPENMP_FLAGS)),,-Wno-unknown-pragmas)

ALL_CPPFLAGS = -I. -Isrc -D_FILE_OFFSET_BITS=64 $(CPPFLAGS)
ALL_CFLAGS = -std=c11 $(CFLAGS) $(OPENMP_FLAGS) $(SANITIZE_FLAGS) $(WARNINGS)
ALL_LIBS = $(LIBS) $(if $(strip $(ISAL)),-lisal) -lm
COMPILE = $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP

# ---- what is built ----
# The kernels: one object per source, storage type and instruction set; the program picks at run time.
KERNEL_SOURCE := $(wildcard src/maths/kernels_pass.c src/maths/normal_rows_loop.c)
ISAS := base $(if $(filter x86_64 amd64,$(MACHINE)),avx2 avx512)
ISA_FLAGS_base :=
ISA_FLAGS_avx2 := -march=x86-64-v3
ISA_FLAGS_avx512 := -march=x86-64-v4 -mprefer-vector-width=512
KERNEL_CFLAGS := -O3 -ffp-contract=fast -fno-math-errno
KERNEL_OBJ := $(foreach source,$(KERNEL_SOURCE),$(foreach real,float double,$(foreach isa,$(ISAS),$(BUILD)/$(source:.c=).$(real).$(isa).o)))

LIB_SOURCE := $(filter-out $(KERNEL_SOURCE),$(wildcard src/*/*.c))
CMD_SOURCE := $(wildcard cmd/*.c)
LIB_OBJ := $(LIB_SOURCE:%.c=$(BUILD)/%.o) $(KERNEL_OBJ)
CMD_OBJ := $(CMD_SOURCE:%.c=$(BUILD)/%.o) $(BUILD)/cmd/pages.o
MAIN_OBJ := $(BUILD)/cmd/gcg-mc.o
ARCHIVE := $(BUILD)/libgcg-mc.a

CHECK_SOURCE := $(wildcard tests/check_*.c)
CHECK_BIN := $(CHECK_SOURCE:%.c=$(BUILD)/%)
SCRIPT_TESTS := $(wildcard tests/t[0-9]*.sh)

all: $(PROGRAM)

$(BUILD)/.flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(call quote,$(COMPILER)) $(call quote,$(COMPILE)) $(call quote,$(LDFLAGS) $(ALL_LIBS) $(CHECK_LIBS)) \
	  $(call quote,$(KERNEL_CFLAGS) $(ISAS) $(VERSION) $(ISAL)) >$@.new
	@if cmp -s $@.new $@; then rm -f $@.new; else mv -f $@.new $@; fi
quote = '$(subst ','\'',$(1))'
# In `make deps check` the packages come first.
ifneq ($(filter deps deps-lint,$(MAKECMDGOALS)),)
$(BUILD)/.flags: | $(filter deps deps-lint,$(MAKECMDGOALS))
endif

$(BUILD)/%.o: %.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

define kernel_rule
$(BUILD)/$(1).$(2).$(3).o: $(1).c $(BUILD)/.flags
	@mkdir -p $$(@D)
	$$(COMPILE) $$(KERNEL_CFLAGS) $$(ISA_FLAGS_$(3)) -DGCG_REAL_$(if $(filter float,$(2)),FLOAT,DOUBLE) -DGCG_ISA=$(3) -c -o $$@ $$<
endef
$(foreach source,$(KERNEL_SOURCE),$(foreach real,float double,$(foreach isa,$(ISAS),$(eval $(call kernel_rule,$(source:.c=),$(real),$(isa))))))

# help TOPIC prints from the manual pages themselves: they are compiled in, as strings.
MAN_PAGES := $(wildcard man/*.[1-9])
$(BUILD)/cmd/pages.c: $(MAN_PAGES) $(BUILD)/.flags
	@mkdir -p $(@D)
	@{ printf '#include "cmd/pages.h"\n\nconst pages_entry pages[] = {\n'; \
	  for page in $(MAN_PAGES); do printf '    {"%s",\n' "$${page##*/}"; \
	    sed -e 's/[\\"]/\\&/g' -e 's/.*/     "&\\n"/' $$page; printf '    },\n'; done; printf '    {0},\n};\n'; } >$@.new
	@mv $@.new $@
$(BUILD)/cmd/pages.o: $(BUILD)/cmd/pages.c
	$(COMPILE) -c -o $@ $<

$(BUILD)/src/io/inflate.o: private ALL_CPPFLAGS += $(if $(strip $(ISAL)),-DGCG_ISAL='"$(strip $(ISAL))"')

# What --version prints is known to one file only.
$(BUILD)/cmd/version.o: private ALL_CPPFLAGS += -DGCG_VERSION='"$(VERSION)"' -DGCG_BUILD_CC='"$(COMPILER)"' \
  -DGCG_BUILD_FLAGS='"$(strip $(subst ",,$(CFLAGS) $(OPENMP_FLAGS) $(SANITIZE_FLAGS)))"' -DGCG_ARPACK_VERSION='"$(ARPACK_VERSION)"'

$(ARCHIVE): $(LIB_OBJ) $(filter-out $(MAIN_OBJ),$(CMD_OBJ))
	@rm -f $@
	$(AR) rcs $@ $^

$(PROGRAM): $(MAIN_OBJ) $(ARCHIVE)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

$(BUILD)/tests/check_%: $(BUILD)/tests/check_%.o $(ARCHIVE)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(ALL_LIBS)

# Each fuzz target twice: replay_<name> goes over the kept corpus in `make check`, libfuzzer_<name> looks for more.
FUZZ := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
REPLAY_BIN := $(FUZZ:%=$(BUILD)/tests/fuzz/replay_%)
FUZZ_BIN := $(FUZZ:%=$(BUILD)/tests/fuzz/libfuzzer_%)

$(BUILD)/tests/fuzz/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(ARCHIVE)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

$(BUILD)/tests/fuzz/libfuzzer_%: $(BUILD)/tests/fuzz/fuzz_%.o $(ARCHIVE)
	$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

# ---- benchmarks ----
# Like the tests they are linked against the library; loops.c is compiled like the kernels.
BENCH := $(patsubst tests/bench/%.c,$(BUILD)/tests/bench/%,tests/bench/calibrate.c tests/bench/peak.c $(wildcard tests/bench/bench_*.c))
BENCH_LOOPS := $(foreach real,float double,$(foreach isa,$(ISAS),$(BUILD)/tests/bench/loops.$(real).$(isa).o))

define loops_rule
$(BUILD)/tests/bench/loops.$(1).$(2).o: tests/bench/loops.c $(BUILD)/.flags
	@mkdir -p $$(@D)
	$$(COMPILE) $$(KERNEL_CFLAGS) -fopenmp-simd $$(ISA_FLAGS_$(2)) -DGCG_REAL_$(if $(filter float,$(1)),FLOAT,DOUBLE) -DGCG_ISA=$(2) -c -o $$@ $$<
endef
$(foreach real,float double,$(foreach isa,$(ISAS),$(eval $(call loops_rule,$(real),$(isa)))))

$(BENCH): $(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o $(BUILD)/tests/bench/common.o $(BUILD)/tests/bench/machine.o $(BENCH_LOOPS) $(ARCHIVE)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

# make bench (all of them, many minutes), bench-kernels, bench-polar, bench-solver, bench-compare, bench-curves,
# bench-reading: tables on standard output and in BENCH_OUT.
# make bench-large (not part of bench: hours, 15 GB of memory, 20 GB in TMPDIR): the data sets of the paper's Table 1.
# SCALE=100 makes them smaller, SHAPES names some; see tests/bench/bench_large.sh.
# RUNS (5): repetitions; THREADS (2): the most; SHAPE: synthetic ratings of that shape instead of ../shared/data.
BENCH_OUT ?= bench-out
BENCH_NAMES := kernels polar solver compare curves reading
run_bench = GCG=$(abspath $(PROGRAM)) BUILD=$(abspath $(BUILD)) BENCH_OUT=$(abspath $(BENCH_OUT)) tests/bench/bench_$(1).sh
bench: $(PROGRAM) $(BENCH)
	@for name in $(BENCH_NAMES); do $(call run_bench,$$name) || exit; echo; done
$(BENCH_NAMES:%=bench-%) bench-large: bench-%: $(PROGRAM) $(BENCH)
	@$(call run_bench,$*)

-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(CHECK_BIN:=.d) $(wildcard $(BUILD)/tests/fuzz/*.d $(BUILD)/tests/bench/*.d)

# ---- tests ----
# TESTS= names some: make check TESTS='build/tests/check_rng tests/t0100-fit.sh'. The longest ones begin first, so that
# no processor waits at the end. Under a sanitizer, those that are about make and shell scripts are left out.
LONGEST := $(wildcard tests/t0600-*.sh tests/t0100-*.sh tests/t0335-*.sh tests/t0900-*.sh tests/t0000-*.sh)
UNSANITIZED := $(wildcard tests/t0000-*.sh tests/t0010-*.sh tests/t0500-*.sh)
TESTS ?= $(filter-out $(if $(SANITIZE),$(UNSANITIZED)),$(BUILD)/tests/check_kernels $(LONGEST) \
  $(filter-out $(BUILD)/tests/check_kernels,$(CHECK_BIN)) $(filter-out $(LONGEST),$(SCRIPT_TESTS)))
check: $(PROGRAM) $(CHECK_BIN) $(REPLAY_BIN) $(BENCH)
	@GCG=$(abspath $(PROGRAM)) BUILD=$(abspath $(BUILD)) tests/run.sh $(TESTS)

# make fuzz FUZZ='csv mtx' FUZZ_SECONDS=600: new inputs are left in build/fuzzer-no-link,address/found/
FUZZ_SECONDS ?= 60
fuzz:
	@$(MAKE) --no-print-directory CC=clang OPENMP_FLAGS= SANITIZE=fuzzer-no-link,address run-fuzzers
run-fuzzers: $(FUZZ_BIN)
	@for name in $(FUZZ); do \
	  mkdir -p $(BUILD)/found/$$name && echo "== $$name" && \
	  $(BUILD)/tests/fuzz/libfuzzer_$$name -max_total_time=$(FUZZ_SECONDS) -timeout=60 -verbosity=0 -print_final_stats=1 \
	    -artifact_prefix=$(BUILD)/found/$$name- $(BUILD)/found/$$name tests/fuzz/corpus/$$name || exit 1; done

check-layers:
	@tests/check-layers.sh

# Line coverage of src/ by the whole suite, per file and in all (gcov; the best object where a source has several).
coverage:
	@$(MAKE) --no-print-directory COVERAGE=1 check; status=$$?; tests/coverage.sh build/coverage; exit $$status

# Unit tests and a small run of the program under valgrind. It knows no AVX-512, and neither does the program then.
VALGRIND = valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite
valgrind:
	@$(MAKE) --no-print-directory BUILD=build/valgrind CFLAGS='-O1 -g' run-valgrind
run-valgrind: $(PROGRAM) $(CHECK_BIN)
	@CK_DEFAULT_TIMEOUT=3000 TEST_TIMEOUT=3000 TEST_WRAPPER='$(VALGRIND)' BUILD=$(abspath $(BUILD)) tests/run.sh $(CHECK_BIN)
	@VALGRIND='$(VALGRIND)' GCG=$(abspath $(PROGRAM)) bash tests/valgrind-program.sh

# ---- style ----
C_FILES := $(wildcard src/*/*.[ch] cmd/*.[ch] tests/*.[ch] tests/*/*.[ch])
SH_FILES := $(wildcard tests/*.sh tests/*/*.sh data-scripts/*.sh data-scripts/batch/*.sh) data-scripts/batch/fit.sbatch .ci/run
lint: lint-format lint-shell lint-man lint-cppcheck lint-tidy lint-sizes
lint-format:
	clang-format --dry-run -Werror $(C_FILES)
lint-shell:
	shellcheck -S warning -e SC1091,SC2034 $(SH_FILES)
lint-man:
	mandoc -Tlint -W warning man/*
lint-cppcheck:
	cppcheck -q --std=c11 --enable=warning,performance --inline-suppr --error-exitcode=1 -I. -Isrc \
	  --suppress=missingIncludeSystem --suppress=uninitvar -DGCG_REAL_FLOAT -DGCG_ISA=base src cmd tests/bench
lint-tidy:
	@printf '%s\n' $(filter-out $(KERNEL_SOURCE),$(wildcard src/*/*.c cmd/*.c)) | xargs -P "$$(nproc)" -I {} clang-tidy --quiet {} -- \
	  -std=c11 -I. -Isrc -DGCG_VERSION='""' -DGCG_BUILD_CC='""' -DGCG_BUILD_FLAGS='""' -DGCG_ARPACK_VERSION='""'

# No count of ratings is cut to 32 bits without a cast that says so.
lint-sizes:
	@printf '%s\n' $(wildcard src/*/*.c cmd/*.c) | xargs -P "$$(nproc)" -I {} clang -fsyntax-only -Wshorten-64-to-32 -Werror \
	  -std=c11 -I. -Isrc -DGCG_REAL_FLOAT -DGCG_ISA=base -DGCG_VERSION='""' -DGCG_BUILD_CC='""' -DGCG_BUILD_FLAGS='""' \
	  -DGCG_ARPACK_VERSION='""' -Wno-unknown-pragmas {}

# ---- packages ----
# Asks apt only when something is missing.
DEPS = gcc libc6-dev pkg-config libopenblas-dev liblapacke-dev libarpack2-dev zlib1g-dev libzip-dev check gnuplot-nox python3
DEPS_LINT = $(DEPS) autoconf clang clang-format clang-tidy cppcheck mandoc shellcheck valgrind libclang-rt-14-dev libomp-dev
# Used where they are found; the build (libisal-dev) and the tests (parallel) do without.
DEPS_OPTIONAL = libisal-dev parallel
install_optional = @for package in $(DEPS_OPTIONAL); do \
  tests/install-packages.sh $$package || echo "make $@: going on without $$package"; done
deps:
	@tests/install-packages.sh $(DEPS)
	$(install_optional)
deps-lint:
	@tests/install-packages.sh $(DEPS_LINT)
	$(install_optional)

# ---- install, dist ----
MAN1 := $(wildcard man/*.1)
MAN5 := $(wildcard man/*.5)
MAN7 := $(wildcard man/*.7)
# Where the shells look for completions.
bash_completion = $(DESTDIR)$(prefix)/share/bash-completion/completions
zsh_completion = $(DESTDIR)$(prefix)/share/zsh/site-functions
fish_completion = $(DESTDIR)$(prefix)/share/fish/vendor_completions.d
BATCH := $(wildcard data-scripts/batch/*)
install: all
	$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(mandir)/man5 $(DESTDIR)$(mandir)/man7 \
	  $(bash_completion) $(zsh_completion) $(fish_completion)
	$(INSTALL) -m 755 $(PROGRAM) $(DESTDIR)$(bindir)/gcg-mc
	$(INSTALL) -d $(DESTDIR)$(datadir)/gcg-mc/batch
	$(INSTALL) -m 755 $(BATCH) $(DESTDIR)$(datadir)/gcg-mc/batch
	$(INSTALL) -m 644 $(MAN1) $(DESTDIR)$(mandir)/man1
	$(INSTALL) -m 644 $(MAN5) $(DESTDIR)$(mandir)/man5
	$(INSTALL) -m 644 $(MAN7) $(DESTDIR)$(mandir)/man7
	$(abspath $(PROGRAM)) completion bash >$(bash_completion)/gcg-mc
	$(abspath $(PROGRAM)) completion zsh >$(zsh_completion)/_gcg-mc
	$(abspath $(PROGRAM)) completion fish >$(fish_completion)/gcg-mc.fish
uninstall:
	rm -f $(BATCH:data-scripts/batch/%=$(DESTDIR)$(datadir)/gcg-mc/batch/%)
	rm -f $(DESTDIR)$(bindir)/gcg-mc $(MAN1:man/%=$(DESTDIR)$(mandir)/man1/%) $(MAN5:man/%=$(DESTDIR)$(mandir)/man5/%) \
	  $(MAN7:man/%=$(DESTDIR)$(mandir)/man7/%) $(bash_completion)/gcg-mc $(zsh_completion)/_gcg-mc $(fish_completion)/gcg-mc.fish

DIST := gcg-mc-$(VERSION)
configure: configure.ac
	autoconf
# The files that git tracks (in an unpacked tarball: all but what a build makes) and configure.
GENERATED := build autom4te.cache demo bench-out gcg-mc config.log config.status config.mak.autogen '*.tar.gz'
dist: configure
	@mkdir -p build
	@{ git ls-files -z 2>/dev/null | grep -qz . && git ls-files -z || \
	   find . $(foreach name,$(GENERATED),-path ./$(name) -prune -o) -type f -printf '%P\0'; printf 'configure\0'; } | \
	  LC_ALL=C sort -zu >build/dist-files
	@tar -c -f build/dist.tar --null -T build/dist-files --transform='s,^,$(DIST)/,' --mode=u=rwX,go=rX --owner=0 --group=0 \
	  --numeric-owner --mtime=@1
	@gzip -9n <build/dist.tar >$(DIST).tar.gz && rm build/dist.tar build/dist-files && echo $(DIST).tar.gz
distcheck: dist
	@tests/distcheck.sh $(DIST)

demo: $(PROGRAM)
	@GCG_MC=$(abspath $(PROGRAM)) data-scripts/demo.sh

clean:
	rm -rf build gcg-mc demo

FORCE:
.PHONY: all check fuzz run-fuzzers check-layers coverage valgrind run-valgrind lint lint-format lint-shell lint-man \
  lint-cppcheck lint-tidy lint-sizes deps deps-lint install uninstall dist distcheck demo bench $(BENCH_NAMES:%=bench-%) bench-large clean FORCE
.SECONDARY:
