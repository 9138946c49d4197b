# The front door. `make` builds, `make test` proves, `make demo` shows, `make install` installs.
# Everything behind it is CMake; presets are listed by `cmake --list-presets`.

BUILD ?= build
# Without assertions and tests: what is installed and measured.
LEAN = build/install
PREFIX ?= /usr/local

.PHONY: all deps configured everything test test-compilers test-long demo install lean bench bench-long bench-peers asan tsan fuzz kills soak memcheck clean

# What a user needs: the program, the library, the examples of its use.
all: configured
	@cmake --build $(BUILD) --target rheo rheo_shared embed expressions

deps:
	@tools/install-deps

configured: deps
	@cmake --preset release -B $(BUILD) >/dev/null

everything: configured
	@cmake --build $(BUILD)

# As many tests side by side as there are cores; each has one thread unless it asks for more. (A third beside two, for
# tests that mostly wait, was slower: they keep a core busy after all.)
JOBS ?= $(shell nproc)
test: everything
	@tools/install-deps --browser
	@status=0; ctest --test-dir $(BUILD) --output-on-failure --timeout 1500 -j $(JOBS) --output-junit $(abspath $(BUILD))/tests.xml || status=$$?; \
	  tools/slowest-tests $(BUILD)/tests.xml; exit $$status

# Other ways to build the same: the golden scenes without AVX2, to the same bits (where the machine has it), and the
# unit tests with the other compiler (clang) and with the address and undefined-behaviour sanitizers, in one build:
# short enough for every change, because the C++ around OpenVDB, which takes longest to compile, is the first build's,
# without sanitizers. COMPILERS="clang asan" also runs them as clang optimises them. `make asan` and `make tsan` are the
# whole suite.
COMPILERS ?= asan
sanitized_environment = ASAN_OPTIONS=detect_container_overflow=0:$$ASAN_OPTIONS LSAN_OPTIONS=suppressions=$(CURDIR)/tests/reliability/lsan.supp:print_suppressions=0
test-compilers: configured
	@cmake --build $(BUILD) --target rheo_vdb foreign_vdb
	@if cmake --build $(BUILD) --target help | grep -q test_golden_portable; then \
	  cmake --build $(BUILD) --target test_golden_portable && $(BUILD)/tests/test_golden_portable --table; fi
	@set -e; for preset in $(COMPILERS); do \
	  echo "test-compilers: $$preset"; \
	  cmake --preset $$preset -B build/unit-$$preset -DRHEO_VDB_FROM=$(abspath $(BUILD)) >/dev/null; cmake --build build/unit-$$preset --target unit_tests; \
	  $(sanitized_environment) ctest --test-dir build/unit-$$preset -L unit --output-on-failure --timeout 1800 -j $(JOBS); \
	done

# Tests that know RHEO_LONG, at length, and PROGRAMS random programs of expressions through OpenVDB AX and through us,
# on points and on volumes; after `make test`.
PROGRAMS ?= 5000
SEED ?= 7
LONG_TESTS = $(notdir $(basename $(shell grep -l RHEO_LONG tests/*/test_*.c)))
long_fuzz = python3 tests/lang/fuzz_ax.py --data $(BUILD)/tests/ax_data --rheo $(BUILD)/rheo --count $(PROGRAMS) --bundle 20 --seed $(SEED)
test-long: configured
	@cmake --build $(BUILD) --target rheo ax_data $(LONG_TESTS)
	@status=0; RHEO_LONG=1 ctest --test-dir $(BUILD) --output-on-failure --timeout 36000 -j $(JOBS) --output-junit $(abspath $(BUILD))/tests-long.xml -R "/($$(echo $(LONG_TESTS) | tr ' ' '|'))$$" || status=$$?; \
	  tools/slowest-tests $(BUILD)/tests-long.xml; exit $$status
	@for kind in "" --volumes; do $(long_fuzz) $$kind || { status=$$?; [ $$status -eq 77 ] || exit $$status; }; done

demo: configured
	@cmake --build $(BUILD) --target rheo
	@tools/demo $(BUILD)

install: deps
	@cmake --preset install >/dev/null
	@cmake --build $(LEAN) --target rheo rheo_shared
	@cmake --install $(LEAN) --prefix $(PREFIX)

# Tables on the terminal, $(LEAN)/bench.csv and bench_surface.csv; docs/performance.md explains them. BENCH passes
# options: make bench BENCH="--only dam --memory".
lean: deps
	@cmake --preset install >/dev/null
	@cmake --build $(LEAN) --target rheo bench

bench: lean
	@$(LEAN)/bench $(BENCH)

bench-long: lean
	@$(LEAN)/bench --long --memory $(BENCH)

# The same dam break in Blender's Mantaflow and here. PEERS passes options: make bench-peers PEERS="--resolution 128
# --frames 13".
bench-peers: lean
	@tools/bench-peers --rheo $(LEAN)/rheo $(PEERS)

# Address and undefined-behaviour sanitizers over the whole suite but valgrind, which is another of its kind, and the
# check of names, which would find those of clang's OpenMP. SANITIZED passes options to ctest: make asan SANITIZED="-L
# unit". Containers of C++ are handed to libraries that are not instrumented and know nothing of the room marked behind
# their ends.
asan: deps
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan
	@$(sanitized_environment) ctest --test-dir build/asan --output-on-failure --timeout 3600 -E "reliability/memcheck|tools/check_prefix" $(SANITIZED)

# Thread sanitizer (clang: gcc's OpenMP runtime raises false alarms; archer tells the sanitizer what clang's does) over
# what runs in threads inside our own code. Libraries that are not instrumented keep their secrets: the first two words
# leave out what happens inside of them.
tsan: deps
	@cmake --preset tsan >/dev/null
	@cmake --build --preset tsan
	@OMP_NUM_THREADS=3 OMP_TOOL_LIBRARIES=$$(llvm-config --libdir)/libarcher.so TSAN_OPTIONS="ignore_noninstrumented_modules=1 suppressions=$(CURDIR)/tests/reliability/tsan.supp $$TSAN_OPTIONS" \
	  ctest --test-dir build/tsan --output-on-failure --timeout 3600 -L "unit|property|analytic|golden" $(SANITIZED)

# Fuzzes every reader for FUZZ_SECONDS each (clang). A crash leaves its input in build/fuzz/ and stops.
FUZZ_SECONDS ?= 60
fuzz: deps
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz
	@set -e; for target in build/fuzz/tests/fuzz/fuzz_*; do \
	  [ -x $$target ] || continue; name=$${target##*/fuzz_}; mkdir -p build/fuzz/corpus/$$name; \
	  dictionary=tests/fuzz/$$name.dict; [ -f $$dictionary ] && dictionary=-dict=$$dictionary || dictionary=; \
	  echo "fuzz: $$name for $(FUZZ_SECONDS) s"; \
	  OMP_NUM_THREADS=1 $$target $$dictionary -max_total_time=$(FUZZ_SECONDS) -timeout=25 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=1 \
	    -artifact_prefix=build/fuzz/ build/fuzz/corpus/$$name tests/fuzz/corpus/$$name; \
	done

# At length what `make test` does briefly: KILLS random kill -9, each run resumed and compared byte by byte;
# SOAK_SECONDS of runs in one process; small runs under valgrind.
KILLS ?= 1000
kills: everything
	@cd $(BUILD) && python3 $(CURDIR)/tests/reliability/kills.py ./rheo $(CURDIR) --kills $(KILLS)

SOAK_SECONDS ?= 3600
soak: everything
	@cd $(BUILD) && python3 $(CURDIR)/tests/reliability/soak.py tests/soak_worker $(CURDIR) ./rheo --seconds $(SOAK_SECONDS)

memcheck: everything
	@cd $(BUILD) && python3 $(CURDIR)/tests/reliability/memcheck.py ./rheo $(CURDIR) --all

clean:
	@rm -rf $(BUILD)
