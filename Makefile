# Backplane. `make run` and `make test` do everything, missing packages included; `make help` lists the rest.
#
# BUILD     where everything goes (build)
# CC        the compiler (cc)
# NATIVE=1  build for this machine's instruction set instead of the platform's baseline
# COVERAGE=1  count which lines and branches run, without optimising; tools/proof/coverage.py reads the counts
# CONDITIONS=1  with clang 19 or later: note which conditions decide, in the files of WEIGHED; for the same script
# AUDIT=1   look after each reload for addresses into images that have gone (the sanitizer targets do so too)
# SANITIZE  a list for -fsanitize=, as the sanitizer targets set it
# PREFIX    where `make install` puts things (/usr/local)
# SYSTEM    what to build for: windows or aarch64; empty for this machine (`make windows`, `make aarch64` set it)
# V=1       show each command whole instead of its name and file

BUILD    ?= build
PREFIX   ?= /usr/local
VERSION  := $(shell sed -n 's/^.define BACKPLANE_VERSION "\(.*\)"/\1/p' host/backplane.h)
WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
# No contraction of a * b + c: results are the same whatever instruction set a loop is compiled for.
# What sanitizers watch is compiled in a third of the time with -O1, and with what a trace of calls needs of debugging.
FAST     := $(if $(COVERAGE),-O0,$(if $(SANITIZE),-O1,-O2))
FASTER   := $(if $(COVERAGE),-O0,$(if $(SANITIZE),-O1,-O3))
DEBUG    := $(if $(SANITIZE),-g1,-g)
CODE      = -std=c11 $(FAST) $(DEBUG) -ffp-contract=off -fvisibility=hidden $(if $(NATIVE),-march=native) $(if $(AUDIT),-DBACKPLANE_AUDIT)
ifdef SANITIZE
CODE     += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer -DBACKPLANE_SANITIZED -DBACKPLANE_AUDIT
# gcc takes its own checks for reads of what may not have been set; the build without them looks at the same code.
WARN     += $(if $(findstring clang,$(CC)),,-Wno-maybe-uninitialized)
LINK     := -fsanitize=$(SANITIZE)
# At a fixed address a program with AddressSanitizer begins in half the time: nothing has to be moved in megabytes of what
# it knows of static memory. ThreadSanitizer needs programs that can lie anywhere.
LINK_PROGRAM := $(if $(findstring address,$(SANITIZE)),-no-pie)
# And it ends sooner where it has left nothing on the heap.
LEAVE     = $(if $(findstring address,$(SANITIZE)),$(BUILD)/obj/tests/leave.o)
endif
ifdef COVERAGE
CODE     += --coverage -fprofile-abs-path -fprofile-update=prefer-atomic
LINK     += --coverage
# Counts are written when a process ends by itself. A copy of a process, and what is linked to it, writes them before
# _exit and _Exit too, and a plugin before it ends a job of several processes.
COUNTS    = $(BUILD)/obj/tests/coverage/counts_program.o
LINK_COUNTS = -Wl,--wrap=_exit,--wrap=_Exit
COUNTS_OF_PLUGIN = tests/coverage/counts_plugin.c
LINK_COUNTS_OF_PLUGIN = -Wl,--wrap=MPI_Abort
endif
ifdef CONDITIONS
WEIGHED  := $(wildcard host/reload/*.c host/base/convert*.c host/plugin/image*.c)
$(WEIGHED:%.c=$(BUILD)/obj/%.o): CODE += -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc
COUNTS    = $(BUILD)/obj/tests/coverage/conditions_program.o
LINK_COUNTS = -fprofile-instr-generate -Wl,--wrap=_exit,--wrap=_Exit
endif
INCLUDE  := -Iplugin_api -Ihost
HEADERS  := $(wildcard plugin_api/*.h plugin_api/*/*.h)

# What differs between the systems that are built for. On Windows the program has no libedit, and libraries come from
# tools/windows_deps.
ifeq ($(SYSTEM),windows)
CROSS    := x86_64-w64-mingw32-
CC       := $(if $(findstring ccache,$(CC)),ccache )$(CROSS)gcc
EXE      := .exe
SO       := .dll
OTHER    := posix
DEPS     := $(shell tools/windows_deps where)
PKG_CONFIG := PKG_CONFIG_LIBDIR=$(DEPS)/lib/pkgconfig:/usr/x86_64-w64-mingw32/lib/pkgconfig pkg-config
# printf and scanf as C11 has them; the same bytes from each build.
CODE     += -D__USE_MINGW_ANSI_STDIO=1 -I$(DEPS)/include
LINK     += -static-libgcc -Wl,--no-insert-timestamp
LIBS      = $(shell $(PKG_CONFIG) --libs inih) -lm
SHARED    = -Wl,--out-implib,$(BUILD)/libbackplane.dll.a
# Fixtures and Check use pthreads, which are a library here; isfinite and its like convert to float.
FIXTURE_LIBS := -static -lpthread
# Texts of the C library are UTF-8 in the program, and paths longer than 260 characters are allowed.
RESOURCES := $(BUILD)/obj/host/program/windows.res.o
TEST_WARN := -Wno-float-conversion -Wno-maybe-uninitialized
else
SO       := .so
OTHER    := win32
PKG_CONFIG := pkg-config
# Linux on another processor: its libraries, the C library among them, come from tools/aarch64_deps.
ifeq ($(SYSTEM),aarch64)
CROSS    := aarch64-linux-gnu-
DEPS     := $(shell tools/aarch64_deps where)
CC       := $(if $(findstring ccache,$(CC)),ccache )$(CROSS)gcc --sysroot=$(DEPS)
PKG_CONFIG := PKG_CONFIG_LIBDIR=$(DEPS)/usr/lib/aarch64-linux-gnu/pkgconfig:$(DEPS)/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$(DEPS) pkg-config
endif
LIBS      = $(shell $(PKG_CONFIG) --libs inih) -ldl -lm -pthread
EDITING  := libedit
SHARED    = -Wl,-soname,libbackplane.so.0
endif
AR       := $(CROSS)ar
LD       := $(CROSS)ld
PROGRAM_LIBS = $(shell $(PKG_CONFIG) --libs jansson $(EDITING))

# The rooms of the library: each may include those before it (tools/check_rooms.sh). host/program/ uses the library.
ROOMS           := os base plugin store property step scene reload history engine
ALL_SOURCES     := $(wildcard $(ROOMS:%=host/%/*.c))
LIB_SOURCES     := $(filter-out %_$(OTHER).c,$(ALL_SOURCES))
PROGRAM_SOURCES := $(wildcard host/program/*.c host/conformance/*.c)
# What `backplane check` asks of plugins; the tests ask the same.
CONFORMANCE     := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard host/conformance/*.c))
# What `backplane new` is, for tests in which calls of the system fail.
NEW             := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard host/program/new*.c) host/program/output.c)
ALL_PLUGINS     := $(notdir $(patsubst %/,%,$(wildcard plugins/*/)))
# A plugin that needs libraries names them, as pkg-config does, in plugins/NAME/packages. Without them it is left out.
packages_of      = $(if $(wildcard plugins/$(1)/packages),$(shell cat plugins/$(1)/packages))
flags_of         = $(if $(call packages_of,$(1)),$(shell $(PKG_CONFIG) $(2) $(call packages_of,$(1))))
# One with a page (plugins/NAME/page) has it made into C by tools/bundle.sh, which needs esbuild.
page_of          = $(if $(wildcard plugins/$(1)/page),$(BUILD)/pages/$(1)_page.c)
LEFT_OUT        := $(foreach name,$(ALL_PLUGINS),$(if $(call packages_of,$(name)),$(shell \
                   { $(PKG_CONFIG) --exists $(call packages_of,$(name)) 2>/dev/null && \
                     { [ ! -d plugins/$(name)/page ] || command -v esbuild >/dev/null; }; } || echo $(name))))
PLUGIN_NAMES    := $(filter-out $(LEFT_OUT),$(ALL_PLUGINS))
FIXTURE_SOURCES := $(wildcard tests/fixtures/*.c)
TEST_SOURCES    := $(wildcard tests/*.c tests/unit/*.c tests/program/*.c tests/conformance/*.c tests/limits/*.c \
                   tests/resource/*.c tests/schedule/*.c tests/reload/*.c tests/system/*.c tests/history/*.c) tools/import/labels.c tools/import/pose.c \
                   $(if $(filter picture,$(LEFT_OUT)),plugins/picture/paint.c plugins/picture/labels.c plugins/picture/letters.c) \
                   $(if $(filter inspector,$(LEFT_OUT)),,$(wildcard tests/inspector/*.c))
# Those that need a shell, a copy of the process, or other calls of POSIX systems. tests/main.c leaves out their suites.
ifeq ($(SYSTEM),windows)
TEST_SOURCES    := $(filter-out tests/program/%.c tests/system/%.c tests/inspector/test_inspector_%.c \
                   $(patsubst %,tests/reload/test_%.c,behind build check crash_matrix fence forked hot mutated posts process sources storm \
                   temporary trial watch) $(wildcard tests/reload/storm*.c),$(TEST_SOURCES))
endif
# Suites with threads: the pool, steps of several threads, reloads between them, watching of files, builds, calls that
# take too long, and the storm. Not trials: a copy of a process with threads that starts threads of its own is more than
# ThreadSanitizer can follow. Its program has these suites alone (tests/main.c), each in the file test_<suite>.c.
TSAN_SUITES := threads storm side_by_side sets reload_threads pause posts trace watch guard os \
               $(if $(filter inspector,$(LEFT_OUT)),,inspector_served inspector_meanwhile inspector_memory)
ifeq ($(SANITIZE),thread)
TEST_SOURCES    := $(foreach source,$(TEST_SOURCES),$(if $(filter-out $(TSAN_SUITES:%=test_%.c),\
                   $(filter test_%,$(notdir $(source)))),,$(source)))
# And it has the fixtures whose names are words of these files: a name must not be put together from parts.
FIXTURE_SOURCES := $(filter $(patsubst %,tests/fixtures/%.c,$(shell cat $(TEST_SOURCES) $(wildcard tests/*/*.h) | \
                   tr -cs 'a-z_0-9' '\n' | sort -u)),$(FIXTURE_SOURCES))
endif
BENCH_SOURCES   := $(wildcard bench/*.c)
IMPORT_SOURCES  := $(wildcard tools/import/*.c)

LIB_OBJECTS     := $(LIB_SOURCES:%.c=$(BUILD)/obj/%.o)
PIC_OBJECTS     := $(if $(filter windows,$(SYSTEM)),$(LIB_SOURCES:%.c=$(BUILD)/pic/%.o),$(LIB_OBJECTS))
PROGRAM_OBJECTS := $(PROGRAM_SOURCES:%.c=$(BUILD)/obj/%.o)
TEST_OBJECTS    := $(TEST_SOURCES:%.c=$(BUILD)/obj/%.o)
BENCH_OBJECTS   := $(BENCH_SOURCES:%.c=$(BUILD)/obj/%.o)
IMPORT_OBJECTS  := $(IMPORT_SOURCES:%.c=$(BUILD)/obj/%.o)
PLUGINS         := $(PLUGIN_NAMES:%=$(BUILD)/plugins/%$(SO))
STATIC_PLUGINS  := $(PLUGIN_NAMES:%=$(BUILD)/static/%.o)
# Versions of our own plugins whose states are of another form, for tests of reloading.
OTHER_FORMS     := $(patsubst %,$(BUILD)/fixtures/%_other_form$(SO),debug_name mesh recorder transform) \
                   $(BUILD)/fixtures/mesh_other_instances$(SO)
FIXTURES        := $(FIXTURE_SOURCES:tests/fixtures/%.c=$(BUILD)/fixtures/%$(SO)) $(BUILD)/fixtures/companion$(SO) \
                   $(OTHER_FORMS)

# What a recipe says of itself (nothing under make -s), and whether its commands are shown.
Q      := $(if $(V),,@)
SILENT := $(findstring s,$(filter-out --%,$(firstword $(MAKEFLAGS))))
# Make says it by itself: a program that only prints, run before each compiler, is a few milliseconds each time.
blank  :=
tab    := $(blank)	$(blank)
say     = $(if $(V)$(SILENT),,$(info $(blank) $(1)$(tab)$(2)))
# A folder is made once by each make, at once: the recipes that come after run beside each other.
folder  = $(if $(made_$(1)),,$(eval made_$(1) := yes)$(shell mkdir -p '$(1)'))

.PHONY: all built run inspect dev bubbles machines test test-all test-machines sanitized sanitized-parts test-browser test-clean-machine import import-check bench bench-docs bench-inspector install clean help packages test-packages test-parts test-program budgets budgets-record proofs storm storm-compilers crash-matrix check-source coverage mutants relapses asan tsan fuzz fuzz-long fuzz-canary fuzz-short replay windows test-windows aarch64 test-aarch64 deb dist test-rebuilt
.SECONDARY:
.DELETE_ON_ERROR:

# Several goals are made one after the other: `all` and `test` call a make of their own each, and two of them at a time
# would write the same files. What such a make builds is still built in parallel, also where it has several goals.
ifneq ($(and $(word 2,$(MAKECMDGOALS)),$(filter-out built test-parts $(BUILD)/%,$(MAKECMDGOALS))),)
.NOTPARALLEL:
endif

# As many compilers at a time as there are processors, unless make was told otherwise.
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))

all: packages
	@$(MAKE) --no-print-directory $(PARALLEL) built

built: $(BUILD)/backplane$(EXE) $(BUILD)/libbackplane.a $(BUILD)/libbackplane$(SO) $(PLUGINS)
	@$(foreach name,$(LEFT_OUT),echo "plugin $(name) is left out: it needs $(call packages_of,$(name))$(if $(call page_of,$(name)), and esbuild);" \
	    "tools/packages.sh $(name) installs that";) :

run: all
	@$(BUILD)/backplane run config/solar_system.ini

bubbles: packages
	@tools/packages.sh picture
	@$(MAKE) --no-print-directory $(PARALLEL) built
	@$(BUILD)/backplane run config/bubbles.ini

# One world on four processes, and its picture: docs/machines.md.
machines: packages
	@tools/packages.sh mpi
	@$(MAKE) --no-print-directory $(PARALLEL) built
	$(call say,PLUGIN,examples/gas)
	$(Q)$(CC) -shared -fPIC -O2 -ffp-contract=off $(WARN) -Iplugin_api examples/gas/*.c -o examples/gas/gas.so -lm
	@OMPI_MCA_mpi_yield_when_idle=1 mpirun --oversubscribe $(if $(filter 0,$(shell id -u)),--allow-run-as-root) -n 4 \
	    $(BUILD)/backplane run examples/gas/machines.ini
	@echo "build/machines.svg shows the particles, each in the colour of its rank"

# Watch a plugin while it is being written: docs/hot_reload.md.
dev: all
	@$(BUILD)/backplane run config/dev.ini --real-time --show main/planet.body.position

# The solar system in a browser: docs/inspector.md. PORT is where the page is to be found.
PORT ?= 15702

inspect: packages
	@tools/packages.sh inspector
	@$(MAKE) --no-print-directory $(PARALLEL) built
	@$(BUILD)/backplane run config/solar_system.ini --real-time --inspect $(PORT)

packages:
	@tools/packages.sh build

test-packages:
	@tools/packages.sh test

# --- the library and the program -------------------------------------------------------------------------------

$(BUILD)/obj/%.o: %.c Makefile
	$(call folder,$(@D))
	$(call say,CC,$<)
	$(Q)$(CC) $(CODE) $(WARN) $(INCLUDE) $(DEFINES) -MMD -MP -c $< -o $@

# Both libraries are of the same objects, which can lie anywhere; a call inside of one does not lead to a function of that
# name elsewhere. Windows has words in the code for what a .dll hands out.
ifeq ($(SYSTEM),windows)
$(BUILD)/pic/%.o: %.c Makefile
	$(call folder,$(@D))
	$(call say,PIC,$<)
	$(Q)$(CC) $(CODE) -DBACKPLANE_BUILD_SHARED $(WARN) $(INCLUDE) -MMD -MP -c $< -o $@
else
$(LIB_OBJECTS): CODE += -fPIC -fno-semantic-interposition
endif

$(BUILD)/obj/host/program/%.o: DEFINES = $(if $(EDITING),-DBACKPLANE_LIBEDIT)
$(BUILD)/obj/host/conformance/%.o: DEFINES = -DBP_STATIC_PLUGINS $(TEST_WARN)

# What ends a thread from inside a call unwinds the stack: the guard meets it there.
$(BUILD)/obj/host/plugin/guard_posix.o $(BUILD)/pic/host/plugin/guard_posix.o: CODE += -fexceptions

# The rooms whose loops run for every entity. Their switches over sizes are foreseen as branches, but not as jumps
# through a table.
$(BUILD)/obj/host/store/%.o $(BUILD)/pic/host/store/%.o: CODE += $(FASTER) -fno-jump-tables
$(BUILD)/obj/host/property/%.o $(BUILD)/pic/host/property/%.o: CODE += $(FASTER) -fno-jump-tables
$(BUILD)/obj/host/scene/%.o $(BUILD)/pic/host/scene/%.o: CODE += $(FASTER)
$(BUILD)/obj/host/history/distance.o $(BUILD)/pic/host/history/distance.o: CODE += $(FASTER)
$(BUILD)/obj/host/base/value.o $(BUILD)/pic/host/base/value.o: CODE += $(FASTER)
$(BUILD)/obj/host/base/field.o $(BUILD)/pic/host/base/field.o: CODE += $(FASTER)
$(BUILD)/obj/host/base/convert.o $(BUILD)/pic/host/base/convert.o: CODE += $(FASTER)
$(BUILD)/obj/host/base/convert_many.o $(BUILD)/pic/host/base/convert_many.o: CODE += $(FASTER)

$(BUILD)/libbackplane.a: $(LIB_OBJECTS)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(AR) rcsD $@ $^

$(BUILD)/libbackplane$(SO): $(PIC_OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared $(SHARED) $(LINK) $^ -o $@ $(LIBS)

$(BUILD)/obj/host/program/windows.res.o: host/program/windows.rc host/program/windows.manifest
	$(call folder,$(@D))
	$(Q)$(CROSS)windres $< $@

$(BUILD)/backplane$(EXE): $(PROGRAM_OBJECTS) $(RESOURCES) $(COUNTS) $(LEAVE) $(BUILD)/libbackplane.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) $(LINK_PROGRAM) $(LINK_COUNTS) $^ -o $@ $(PROGRAM_LIBS) $(LIBS)

# --- the import of other programs' files: optional, since only this needs assimp --------------------------------

import:
	@tools/packages.sh import
	@$(MAKE) --no-print-directory $(PARALLEL) $(BUILD)/backplane-import

$(BUILD)/backplane-import: $(IMPORT_OBJECTS) $(BUILD)/libbackplane.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) $^ -o $@ $(shell $(PKG_CONFIG) --libs assimp) $(LIBS)

# Compares what was imported with the model (tools/import_models.sh).
import-check: import built
	@$(MAKE) --no-print-directory $(BUILD)/import-check

$(BUILD)/import-check: $(BUILD)/obj/tests/import/check.o $(BUILD)/libbackplane.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) $^ -o $@ $(shell $(PKG_CONFIG) --libs assimp jansson) $(LIBS)

# --- plugins: all sources of a folder, one library -------------------------------------------------------------

# On Windows without the parts of its headers that few want: one of these is called rpc.h, as one of the inspector's is.
PLUGIN_CODE = $(CODE) $(FASTER) $(WARN) $(if $(filter windows,$(SYSTEM)),-DWIN32_LEAN_AND_MEAN) -Iplugin_api

.SECONDEXPANSION:
$(BUILD)/pages/%_page.c: $$(wildcard plugins/$$*/page/*) tools/bundle.sh
	$(call folder,$(@D))
	$(call say,PAGE,$@)
	$(Q)tools/bundle.sh plugins/$*/page $@

# The recipe of a shared library from the C files among what it needs: each is compiled by itself, so that a cache of
# compilations can serve, and then linked. $(1): flags for compiling; $(2): libraries.
define shared
	$(Q)set -e; objects=; mkdir -p $@.parts; for source in $(filter-out %_$(OTHER).c,$(filter %.c,$^)) $(COUNTS_OF_PLUGIN); do \
	    name=$${source##*/}; object=$@.parts/$${name%.c}.o; objects="$$objects $$object"; \
	    $(CC) $(PLUGIN_CODE) $(1) -fPIC -c $$source -o $$object; done; \
	    $(CC) -shared $(LINK) $(LINK_COUNTS_OF_PLUGIN) $$objects -o $@ -lm $(2)
endef

$(BUILD)/plugins/%$(SO): $$(wildcard plugins/$$*/*.[ch]) $$(call page_of,$$*) $(HEADERS) Makefile
	$(call folder,$(@D))
	$(call say,PLUGIN,$@)
	$(call shared,-Iplugins/$* $(call flags_of,$*,--cflags),$(call flags_of,$*,--libs))

# To be linked into a program: the same objects, but for the file that is called like the plugin, which has its head.
$(BUILD)/static/%.o: $(BUILD)/plugins/%$(SO)
	$(call folder,$(@D))
	$(call say,CC,plugins/$*/$*.c)
	$(Q)$(CC) $(PLUGIN_CODE) -Iplugins/$* $(call flags_of,$*,--cflags) -DBP_STATIC_PLUGINS -c plugins/$*/$*.c -o $(@D)/$*.head.o
	$(Q)$(LD) -r $(@D)/$*.head.o $(patsubst %.c,$<.parts/%.o,$(notdir $(filter-out plugins/$*/$*.c %_$(OTHER).c,\
	    $(wildcard plugins/$*/*.c) $(call page_of,$*)))) -o $@

# They are loaded and called a few times: compiling them takes longer than what they do.
$(BUILD)/fixtures/%$(SO): FASTER = -O0

$(BUILD)/fixtures/%$(SO): tests/fixtures/%.c $(wildcard tests/fixtures/*.h) $(HEADERS) Makefile
	$(call folder,$(@D))
	$(call say,PLUGIN,$@)
	$(call shared,,$(FIXTURE_LIBS))

$(BUILD)/fixtures/companion$(SO): host/conformance/companion.c $(HEADERS) Makefile
	$(call folder,$(@D))
	$(call say,PLUGIN,$@)
	$(call shared,,$(FIXTURE_LIBS))

$(BUILD)/fixtures/%_other_form$(SO): $$(wildcard plugins/$$*/*.[ch]) $(HEADERS) \
                                   tests/fixtures/other_form.h Makefile
	$(call folder,$(@D))
	$(call shared,-include tests/fixtures/other_form.h)

$(BUILD)/fixtures/%_other_instances$(SO): $$(wildcard plugins/$$*/*.[ch]) $(HEADERS) \
                                        tests/fixtures/other_form.h Makefile
	$(call folder,$(@D))
	$(call shared,-include tests/fixtures/other_form.h -DOTHER_FORM_FROM=256)

# --- tests -----------------------------------------------------------------------------------------------------

TEST_DEFINES = -DTEST_PLUGIN_DIR='"$(BUILD)/plugins"' -DTEST_FIXTURE_DIR='"$(BUILD)/fixtures"' \
               -DTEST_BACKPLANE='"$(BUILD)/backplane$(EXE)"' -DTEST_SOURCE_DIR='"."' -DTEST_SO='"$(SO)"' \
               -DTEST_SCRATCH_DIR='"$(BUILD)/scratch"' $(if $(filter inspector,$(LEFT_OUT)),,-DTEST_INSPECTOR) \
               $(if $(filter picture,$(LEFT_OUT)),,-DTEST_PICTURE) $(if $(filter thread,$(SANITIZE)),-DTEST_THREADS)

# Tests are compiled in half the time at -O0, and take hardly longer to run: nearly all of that is the host, which is
# optimised. What they do themselves is watched by AddressSanitizer alone, since what is not defined is searched for in
# the host and in plugins, and each file takes a fifth longer with it.
$(BUILD)/obj/tests/%.o: DEFINES = $(TEST_DEFINES) $(TEST_WARN) $(if $(findstring undefined,$(SANITIZE)),-fno-sanitize=undefined)
$(BUILD)/obj/tests/%.o: FAST = -O0
# Those that compare a lot with a model.
$(addprefix $(BUILD)/obj/tests/unit/,churn.o model.o test_long_use.o test_store.o zoo.o): FAST = $(if $(COVERAGE),-O0,-O1)

# Calls of the system that tests can make fail: the linker leads them to tests/system/calls.c.
DOUBLED := open close read write fsync ftruncate flock fchmod fstat stat rename unlink remove mkdir mkdtemp realpath opendir fopen fileno \
           mmap mremap fork pipe pthread_create pthread_mutex_init pthread_cond_init pthread_key_create dlopen dlerror \
           inotify_init1 inotify_add_watch clock_gettime
# These fail where a test names them, and are not counted otherwise.
DOUBLED += openat fdopendir fstatat unlinkat lstat access readlink fcntl dup dup2 getcwd chdir mprotect madvise malloc calloc \
           sysconf sched_getaffinity getrlimit waitpid unsetenv dlinfo posix_spawn_file_actions_init \
           posix_spawn_file_actions_addopen posix_spawn_file_actions_adddup2 posix_spawn_file_actions_addclose \
           posix_spawnattr_init posix_spawnattr_setflags posix_spawnattr_setsigmask posix_spawnattr_setsigdefault
# What adds a test is led to tests/chosen.c, which can leave it out.
DOUBLED += _tcase_add_test

$(BUILD)/tests$(EXE): $(TEST_OBJECTS) $(CONFORMANCE) $(if $(EXE),,$(NEW)) $(STATIC_PLUGINS) $(COUNTS) $(BUILD)/libbackplane.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) $(LINK_PROGRAM) $(LINK_COUNTS) $(if $(EXE),,$(DOUBLED:%=-Wl,--wrap=%)) $^ -o $@ $(shell $(PKG_CONFIG) --libs check jansson) $(foreach name,$(PLUGIN_NAMES),$(call flags_of,$(name),--libs)) $(LIBS) $(FIXTURE_LIBS)

# What the test program is, runs and loads.
test-parts: $(BUILD)/tests$(EXE) $(BUILD)/backplane$(EXE) $(PLUGINS) $(FIXTURES)

# What has been freed is watched for a while by AddressSanitizer; all of it is searched for leaks at the end of a test
# that leaves something, so not too much. Requests for memory are remembered with four calls: each chain of calls that a
# test is the first to make takes a page of the table of them, which its process has to copy. ASAN_OPTIONS in the
# environment is taken instead. A third process of tests, which the others go before, begins what the halves share while
# they wait; who is done first takes what is left of that. The benchmarks are built too, so that a change of the contract
# finds them.
test-program: test-parts $(if $(SANITIZE),,$(BUILD)/bench)
	@mkdir -p $(BUILD)/scratch
	@export CK_TIMEOUT_MULTIPLIER=$(if $(SANITIZE),20,5) ASAN_OPTIONS=$${ASAN_OPTIONS:-quarantine_size_mb=2:malloc_context_size=4}; status=0; \
	    export TESTS_TAKEN=$(BUILD)/taken; rm -rf $$TESTS_TAKEN; mkdir $$TESTS_TAKEN || exit 1; \
	    TESTS_HALF=2 $(BUILD)/tests >$(BUILD)/second_half.log 2>&1 & second=$$!; shared=; \
	    $(if $(findstring address,$(SANITIZE)),TESTS_HALF=0 nice -n 9 $(BUILD)/tests >$(BUILD)/shared.log 2>&1 & shared=$$!;) \
	    TESTS_HALF=1 $(BUILD)/tests || status=1; wait $$second || status=1; cat $(BUILD)/second_half.log; \
	    if [ -n "$$shared" ]; then wait $$shared || status=1; cat $(BUILD)/shared.log; fi; exit $$status

# Cases that the tests with AddressSanitizer have are left out of those without (TESTS_APART, tests/apart.sh).
test: test-packages
	@$(MAKE) --no-print-directory check-source
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory $(PARALLEL) test-parts $(BUILD)/bench
	@rm -f $(BUILD)/sanitized.built; nice $(MAKE) --no-print-directory sanitized >$(BUILD)/sanitized.log 2>&1 & beside=$$!; \
	    TESTS_APART=1 $(MAKE) --no-print-directory test-program && tests/scripts/all.sh $(BUILD) && \
	    $(MAKE) --no-print-directory $(PARALLEL) budgets && \
	    while [ ! -e $(BUILD)/sanitized.built ] && kill -0 $$beside 2>/dev/null; do sleep 1; done && \
	    { [ ! -e $(BUILD)/sanitized.built ] || tests/apart.sh $(BUILD) build/asan; } && \
	    $(MAKE) --no-print-directory fuzz-short || { kill $$beside 2>/dev/null; exit 1; }; \
	    tail -n +1 -f --pid=$$beside $(BUILD)/sanitized.log; wait $$beside

# The tests with sanitizers, beside those without and the scripts, which wait for much of their time.
sanitized: sanitized-parts
	@$(MAKE) --no-print-directory tsan >$(BUILD)/tsan.log 2>&1 & beside=$$!; status=0; \
	    $(MAKE) --no-print-directory asan || status=1; wait $$beside || status=1; cat $(BUILD)/tsan.log; exit $$status

# What the sanitizers test, and fuzzers, built beside the tests and scripts without them, which wait for much of their
# time.
sanitized-parts:
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=build/asan SANITIZE=address,undefined test-parts
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=build/tsan SANITIZE=thread test-parts
	@if tools/fuzz.sh has-libfuzzer; then $(MAKE) --no-print-directory $(PARALLEL) $(SHORT) fuzz-parts; fi
	@touch $(BUILD)/sanitized.built

# Everything that a test of this project can be: also what needs wine, qemu, a browser or many ranks, and takes long, and
# all cases with AddressSanitizer (tests/chosen.c). Each part is run, whatever became of those before; the last lines
# say which of them failed.
TEST_ALL = test test-windows test-aarch64 test-browser test-machines test-rebuilt
test-all:
	@export TESTS_ALL=1; failed=; for part in $(TEST_ALL); do \
	    echo "== $$part"; $(MAKE) --no-print-directory $$part || failed="$$failed $$part"; done; \
	if [ -n "$$failed" ]; then echo "test-all: failed:$$failed"; exit 1; fi; echo "test-all: $(words $(TEST_ALL)) parts passed"

# Jobs of several ranks, with 50 of them killed and resumed. `make test` kills three.
test-machines: test-packages all
	@KILLED=50 sh tests/scripts/machines.sh $(BUILD)

# A bare Debian in $(BUILD)/clean_machine, where a clone of the present commit is played as README.md and docs/ have it
# typed. Needs root, debootstrap and the network. HALT=run: without `make test`, which takes longest.
test-clean-machine:
	@tools/clean_machine.sh $(BUILD)/clean_machine $(HALT)

# The inspector's page in Chromium without a window; pictures of it stay in build/browser. No part of `make test`: a
# browser is large, and not to be had everywhere.
test-browser: packages
	@tools/packages.sh inspector
	@tools/packages.sh browser
	@$(MAKE) --no-print-directory $(PARALLEL) built
	@export PYTHONDONTWRITEBYTECODE=1; python3 tests/browser/page.py $(BUILD)
	@PYTHONDONTWRITEBYTECODE=1 python3 tests/inspector/mcp.py $(BUILD)

asan:
	@echo "== AddressSanitizer and UndefinedBehaviorSanitizer"
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=build/asan SANITIZE=address,undefined test-program

tsan:
	@echo "== ThreadSanitizer"
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=build/tsan SANITIZE=thread test-program

# Ten times the random pairs of field lists that the tests reload, fifty times the seeds of what is kept across reloads
# and the visits of moments that a host remembers, a hundred times the damaged libraries, and 50 killed ranks.
proofs: $(BUILD)/tests $(FIXTURES)
	@mkdir -p $(BUILD)/scratch
	RELOAD_PAIRS=10000 CK_RUN_SUITE=reload_random $(BUILD)/tests
	RELOAD_SEEDS=2000 CK_RUN_SUITE=reload_kept $(BUILD)/tests
	MUTATED=21000 CK_TIMEOUT_MULTIPLIER=10 CK_RUN_SUITE=mutated $(BUILD)/tests
	HISTORY_VISITS=10000 CK_TIMEOUT_MULTIPLIER=30 CK_RUN_SUITE=history $(BUILD)/tests
	SOAK_DAYS=360 CK_TIMEOUT_MULTIPLIER=10 CK_RUN_SUITE=long_use $(BUILD)/tests
	KILLED=50 sh tests/scripts/machines.sh $(BUILD)

# Random storms of everything that a host may go through, against a model: SEEDS of them, or with HOURS=3 as many as
# there is time for, from seed FIRST on; a failure says its seed. storm-compilers: do programs of gcc and clang come to
# the same?
SEEDS ?= 3000
FIRST ?= 1
storm: $(BUILD)/tests $(FIXTURES)
	@mkdir -p $(BUILD)/scratch
	@export STORM_SEEDS=$(SEEDS) STORM_HOURS=$(HOURS) STORM_FIRST=$(FIRST) CK_RUN_SUITE=storm; status=0; \
	    TESTS_HALF=2 $(BUILD)/tests >$(BUILD)/storm.log 2>&1 & second=$$!; \
	    TESTS_HALF=1 $(BUILD)/tests || status=1; wait $$second || status=1; cat $(BUILD)/storm.log; exit $$status

storm-compilers:
	@tests/storm_compilers.sh $(BUILD) $(if $(filter file,$(origin SEEDS)),200,$(SEEDS))

# Every fault in every verb of a new version: the table of tests/reload/crash_matrix.txt and docs/hot_reload.md anew.
crash-matrix: $(BUILD)/tests $(FIXTURES)
	@mkdir -p $(BUILD)/scratch
	CRASH_MATRIX=write CK_RUN_SUITE=crash_matrix $(BUILD)/tests

# Its parts run beside each other.
.PHONY: check-columns check-headers check-rooms check-tour check-verbs check-benchmarks
check-source: check-columns check-headers check-rooms check-tour check-verbs check-benchmarks

check-columns check-headers check-rooms check-tour check-verbs:
	@tools/$(subst -,_,$@).sh

check-benchmarks:
	@if command -v python3 >/dev/null 2>&1; then tools/benchmarks.py --check; else \
	    echo "benchmarks: docs/benchmarks.md is not checked, because python3 is not here"; fi

# --- reports on the tests themselves; no gates: docs/building.md
# ----------------------------------------------------------

# OPTIONS go to the script: tools/proof/coverage.py --help.
coverage: test-packages
	@tools/proof/coverage.py $(OPTIONS)

# SAMPLE lines get one fault each; the same SEED takes the same lines.
SAMPLE ?= 400
SEED   ?= 1

mutants: test-packages
	@tools/proof/mutants.py --sample $(SAMPLE) --seed $(SEED) $(OPTIONS)

# Faults that were mended once, put back one by one into a copy: does the test of each fail? NAMES chooses some.
relapses: test-packages
	@CC="$(CC)" tools/proof/relapses.py $(NAMES)

# --- fuzzers: tests/fuzz/fuzz_*.c, run by tools/fuzz.sh ------------------------------------------------------------

# libFuzzer with both sanitizers needs clang and its runtime (libclang-rt-*-dev). The targets and what they test:
FUZZERS      := $(filter-out $(if $(shell $(PKG_CONFIG) --exists assimp || echo none),fuzz_import), \
                $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_PARTS   := plugins/mesh/obj.c plugins/mesh/obj_text.c $(addprefix plugins/inspector/,condition.c door.c rpc.c shapes.c writer.c)
# The console, and what it calls; for one target alone, since the inspector has functions of the same names.
FUZZ_CONSOLE := $(wildcard host/program/console*.c) $(addprefix host/program/,condition.c figures.c inspect.c json_output.c output.c \
                plugin_list.c program.c ranks.c tree.c writers.c)
# The importer behind assimp, likewise; assimp is asked for the colours of materials.
FUZZ_IMPORT  := $(addprefix tools/import/,entities.c labels.c meshes.c output.c pose.c scene.c)
FUZZ_OBJECTS := $(FUZZ_PARTS:%.c=$(BUILD)/obj/%.o)
FUZZ_CONSOLE_OBJECTS := $(FUZZ_CONSOLE:%.c=$(BUILD)/obj/%.o)
FUZZ_IMPORT_OBJECTS := $(FUZZ_IMPORT:%.c=$(BUILD)/obj/%.o)
FUZZ_SOURCES := $(LIB_SOURCES) $(FUZZ_PARTS)
FUZZ_LIBS     = $(PROGRAM_LIBS) $(LIBS)
# What one target alone is linked to.
fuzz_own      = $(if $(filter console,$*),$(BUILD)/fuzz/libconsole.a)$(if $(filter import,$*),$(BUILD)/fuzz/libimport.a)
fuzz_own_libs = $(if $(filter import,$*),$(shell $(PKG_CONFIG) --libs assimp))
FUZZ_FAST    ?= -O1
FUZZ_CODE     = -g1 $(FUZZ_FAST) -std=c11 -ffp-contract=off -fno-sanitize-recover=all $(INCLUDE)
FUZZ_SEEDS    = $(BUILD)/fixtures/twin.so $(BUILD)/fixtures/crasher.so
SECONDS      ?= 60
CANARY       ?= 180

$(BUILD)/fuzz/obj/%.o: %.c
	$(call folder,$(@D))
	$(call say,FUZZ,$<)
	$(Q)clang $(FUZZ_CODE) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c $< -o $@

$(BUILD)/fuzz/libfuzzed.a: $(FUZZ_SOURCES:%.c=$(BUILD)/fuzz/obj/%.o)
	@rm -f $@
	$(Q)ar rcs $@ $^

$(BUILD)/fuzz/libconsole.a: $(FUZZ_CONSOLE:%.c=$(BUILD)/fuzz/obj/%.o)
	@rm -f $@
	$(Q)ar rcs $@ $^

$(BUILD)/fuzz/libimport.a: $(FUZZ_IMPORT:%.c=$(BUILD)/fuzz/obj/%.o)
	@rm -f $@
	$(Q)ar rcs $@ $^

$(BUILD)/fuzz/fuzz_%: $(BUILD)/fuzz/obj/tests/fuzz/fuzz_%.o $$(fuzz_own) $(BUILD)/fuzz/libfuzzed.a
	$(call say,LINK,$@)
	$(Q)clang -fsanitize=fuzzer,address,undefined $^ -o $@ $(fuzz_own_libs) $(FUZZ_LIBS)

fuzz-parts: $(FUZZERS:%=$(BUILD)/fuzz/%) $(FUZZ_SEEDS)

fuzz: fuzz-parts
	@tools/fuzz.sh run $(BUILD) $(SECONDS)

# Until there have been 20 million executions: some hours.
fuzz-long: $(FUZZERS:%=$(BUILD)/fuzz/%) $(FUZZ_SEEDS)
	@tools/fuzz.sh long $(BUILD) $(SECONDS)

# Does each fuzzer find the faults that its comment plants? At most CANARY seconds for each.
fuzz-canary: $(FUZZERS:%=$(BUILD)/fuzz/%) $(FUZZ_SEEDS)
	@tools/fuzz.sh canary $(BUILD) $(CANARY)

# Without libFuzzer: the seeds, and each of them damaged some thousand times, always the same.
$(BUILD)/replay/fuzz_%: $(BUILD)/obj/tests/fuzz/fuzz_%.o $(BUILD)/obj/tests/fuzz/replay.o \
                         $$(if $$(filter console,$$*),$(FUZZ_CONSOLE_OBJECTS),$(FUZZ_OBJECTS)) \
                         $$(if $$(filter import,$$*),$(FUZZ_IMPORT_OBJECTS)) $(BUILD)/libbackplane.a
	$(call folder,$(@D))
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) $^ -o $@ $(fuzz_own_libs) $(FUZZ_LIBS)

replay: $(FUZZERS:%=$(BUILD)/replay/%) $(FUZZ_SEEDS)
	@tools/fuzz.sh replay $(BUILD)

# A few seconds each, with what is at hand. Targets are compiled for the other way too, so that it cannot break unseen.
# libFuzzer's are compiled without optimising, in a folder of their own: that takes a quarter of the time. They make up
# to two and a half times fewer executions in a second, so what should find something is `make fuzz`.
SHORT = BUILD=build/short FUZZ_FAST=-O0

fuzz-short: $(FUZZERS:%=$(BUILD)/obj/tests/fuzz/%.o)
	@if tools/fuzz.sh has-libfuzzer; then \
	    $(MAKE) --no-print-directory $(PARALLEL) $(SHORT) SECONDS=3 fuzz; \
	else \
	    $(MAKE) --no-print-directory $(PARALLEL) BUILD=build/asan SANITIZE=address,undefined replay; \
	fi

# --- benchmarks ------------------------------------------------------------------------------------------------

$(BUILD)/obj/bench/%.o: DEFINES = -O3 -DBENCH_PLUGIN_DIR='"$(abspath $(BUILD))/plugins"' \
                                  -DBENCH_OWN_PLUGIN_DIR='"$(abspath $(BUILD))/bench_plugins"' -DBENCH_MESH_DIR='"$(CURDIR)/config/meshes"'

BENCH_PLUGINS := $(patsubst bench/plugins/%.c,$(BUILD)/bench_plugins/%.so,$(wildcard bench/plugins/*.c))

$(BUILD)/bench_plugins/%.so: bench/plugins/%.c $(wildcard bench/plugins/*.h) $(HEADERS) Makefile
	$(call folder,$(@D))
	$(call say,PLUGIN,$@)
	$(Q)$(CC) $(PLUGIN_CODE) -fPIC -shared $(LINK) $< -o $@

$(BUILD)/bench: $(BENCH_OBJECTS) $(BUILD)/libbackplane.a | $(BENCH_PLUGINS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) $^ -o $@ $(shell $(PKG_CONFIG) --libs jansson) $(LIBS)

# Instructions of the hot paths in bench/paths.c, against bench/budgets.json: at most 3 % more. Skipped without
# valgrind, and where there are no counts of this compiler with these flags. `make budgets-record` records them anew, on
# purpose.
BUDGETS = tools/budgets.py $(1) $(BUILD)/bench --compiler "$(CC)" --flags "$(strip $(CODE))"

budgets: $(BUILD)/bench $(PLUGINS)
	@$(call BUDGETS,check)

budgets-record: $(BUILD)/bench $(PLUGINS)
	@$(call BUDGETS,record)

bench: packages
	@$(MAKE) --no-print-directory $(PARALLEL) built $(BUILD)/bench
	@mkdir -p bench/results
	$(BUILD)/bench --json bench/results/bench.json

# What the inspector costs, beside a browser where there is one.
bench-inspector: packages
	@$(MAKE) --no-print-directory $(PARALLEL) built
	@python3 bench/inspector.py $(BUILD)

# bench/results/bench.json, of the last `make bench`, into docs/benchmarks.md and its curves.
bench-docs:
	@tools/benchmarks.py --publish bench/results/bench.json

# --- Windows, from here: the library, the program, the plugins and the tests, by mingw-w64 ------------------------

windows:
	@tools/packages.sh windows
	@tools/windows_deps >/dev/null
	@$(MAKE) --no-print-directory $(PARALLEL) SYSTEM=windows BUILD=build/windows built test-parts build/windows/embed.exe \
	    build/windows/reload.exe build/windows/bad.exe build/windows/system.exe build/windows/path/addr2line.exe \
	    build/windows/point_mass_2.dll

# All of it under wine: tests/windows/all.sh.
test-windows: windows
	@tools/packages.sh windows-test
	@$(MAKE) --no-print-directory $(PARALLEL) built
	@tests/windows/all.sh $(BUILD)

build/windows/embed.exe: examples/embed/main.c build/windows/libbackplane.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CODE) $(WARN) $(INCLUDE) $(LINK) $^ -o $@ $(LIBS)

build/windows/%.exe: tests/windows/%.c build/windows/libbackplane.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(CODE) $(WARN) $(INCLUDE) $(LINK) $^ -o $@ $(LIBS)

build/windows/path/addr2line.exe: tests/windows/addr2line.c
	$(call folder,$(@D))
	$(Q)$(CC) $(CODE) $(WARN) $(LINK) $< -o $@

build/windows/point_mass_2.dll: tests/windows/point_mass_2.c $(HEADERS)
	$(call say,PLUGIN,$@)
	$(Q)$(CC) $(PLUGIN_CODE) -shared $(LINK) $< -o $@

# --- Linux on aarch64, from here: the same, by Debian's cross compiler ----------------------------------------------

aarch64:
	@tools/packages.sh aarch64
	@tools/aarch64_deps >/dev/null
	@$(MAKE) --no-print-directory $(PARALLEL) SYSTEM=aarch64 BUILD=build/aarch64 built test-parts

# The tests that matter under qemu-user: tests/aarch64/all.sh.
test-aarch64: aarch64
	@tools/packages.sh aarch64-test
	@$(MAKE) --no-print-directory $(PARALLEL) built
	@tests/aarch64/all.sh $(BUILD)

# --- the rest --------------------------------------------------------------------------------------------------

install: all $(BUILD)/libbackplane.a
	tools/install.sh $(BUILD) "$(DESTDIR)" "$(PREFIX)" "$(VERSION)"

# Archives to unpack and use; that for Windows too where build/windows is built.
dist: all $(BUILD)/libbackplane.a
	@tools/dist.sh $(BUILD) $(BUILD)/dist "$(VERSION)"

# A Debian package of what is built, into build/dist as well.
deb: all $(BUILD)/libbackplane.a
	@tools/deb.sh $(BUILD) $(BUILD)/dist "$(VERSION)"

# Two builds from clean clones give the same bytes, and what is packed can be used: tests/rebuilt.sh.
test-rebuilt: all
	@tests/rebuilt.sh $(BUILD)

clean:
	rm -rf $(BUILD)

help:
	@echo "make              build the program, the library and the plugins into $(BUILD)/"
	@echo "make run          simulate the solar system"
	@echo "make inspect      the solar system in real time, and a page to see and change it in a browser; PORT=15702"
	@echo "make bubbles      a million sprites and twenty bubbles, and a picture of them; needs libpng"
	@echo "make machines     one world on four processes, by MPI, and a picture of it; needs Open MPI"
	@echo "make dev          a world in real time, plugins reloaded when their sources are saved"
	@echo "make test         all tests, also under the sanitizers"
	@echo "make test-all     and what needs wine, qemu, a browser or many ranks, and takes long"
	@echo "make test-machines  jobs of several ranks, 50 of them killed and resumed"
	@echo "make sanitized    the tests with sanitizers, as make test runs them; make sanitized-parts builds what they need"
	@echo "make test-parts   what the tests are made of; make test-program: runs them, without the sanitizers"
	@echo "make test-browser the inspector's page in a browser without a window; needs chromium and its driver. And the official"
	@echo "                  client of the Model Context Protocol, from npm"
	@echo "make test-clean-machine  README and docs as typed on a bare Debian, by debootstrap; as root. HALT=run: without make test"
	@echo "make asan         the tests under AddressSanitizer; make tsan: those with threads under ThreadSanitizer"
	@echo "make check-source headers, rooms, columns: what can be seen in the source alone"
	@echo "make proofs       the random reloads, ten times as many of them"
	@echo "make coverage     lines and branches that the tests run, by folder"
	@echo "make storm        SEEDS=3000, or HOURS=3: random storms of reloads, crashes, rollbacks, saves, faults against a model"
	@echo "make storm-compilers  SEEDS=200: gcc and clang, do storms come to the same?"
	@echo "make crash-matrix every fault in every verb of a new version, and the table of what becomes of the host"
	@echo "make mutants      SAMPLE=400 SEED=1: do the tests notice planted faults? An hour or two"
	@echo "make relapses     is it noticed when a fault that was mended comes back? A few minutes"
	@echo "make bench        the benchmarks: a table, and JSON in bench/results/"
	@echo "make budgets      instructions of hot paths, at most 3 % over their budgets; needs valgrind; make budgets-record: set them anew"
	@echo "make bench-inspector  what the inspector costs, with a million entities; needs chromium for the lines about its page"
	@echo "make bench-docs   docs/benchmarks.md and its curves from the last make bench"
	@echo "make fuzz         SECONDS=60: libFuzzer on all readers of untrusted bytes and on the console; make fuzz-long: 20 million executions; make fuzz-canary: do the fuzzers find anything?"
	@echo "make fuzz-short   each fuzzer for some seconds; make replay: what they have found so far, without libFuzzer"
	@echo "make packages     install what the build needs; make test-packages: and what the tests need"
	@echo "make built        build without looking for packages; make all, or make alone, looks first"
	@echo "make import-check compares what was imported with the model"
	@echo "make import       backplane-import, which turns glTF, OBJ and COLLADA into scenes; needs assimp"
	@echo "make install      PREFIX=/usr/local, DESTDIR= for packagers"
	@echo "make aarch64      the same for Linux on aarch64, into build/aarch64; make test-aarch64: run them with qemu-user"
	@echo "make dist         archives of what is built, into build/dist"
	@echo "make test-rebuilt two builds from clean clones: the same archives, installed and run; takes minutes"
	@echo "make deb          Debian packages of what is built, into build/dist"
	@echo "make NATIVE=1     for this machine's processor"
	@echo "make V=1          show whole commands"
	@echo "make windows      program, library, plugins and tests for Windows, into build/windows; make test-windows: run them with wine"
	@echo "make clean        throw away what was built; make help: this list"

-include $(LIB_OBJECTS:.o=.d) $(PIC_OBJECTS:.o=.d) $(PROGRAM_OBJECTS:.o=.d) $(TEST_OBJECTS:.o=.d) $(BENCH_OBJECTS:.o=.d) $(IMPORT_OBJECTS:.o=.d)
-include $(patsubst %.c,$(BUILD)/fuzz/obj/%.d,$(FUZZ_SOURCES) $(FUZZ_CONSOLE) $(FUZZ_IMPORT)) $(FUZZERS:%=$(BUILD)/fuzz/obj/tests/fuzz/%.d) $(FUZZERS:%=$(BUILD)/obj/tests/fuzz/%.d)
