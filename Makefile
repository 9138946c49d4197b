# The front door. `make` builds, `make test` proves, `make demo` shows.
# Everything behind it is CMake; presets are listed by `cmake --list-presets`.

BUILD ?= build

.PHONY: all deps test demo bench bench-long bench-peers asan tsan fuzz kills soak memcheck clean

all: deps
	@cmake --preset release -B $(BUILD) >/dev/null
	@cmake --build $(BUILD)

deps:
	@tools/install-deps

test: all
	@tools/install-deps --browser
	@ctest --test-dir $(BUILD) --output-on-failure --timeout 900

demo: all
	@tools/demo $(BUILD)

# Tables on the terminal, $(BUILD)/bench.csv, bench_surface.csv and others; docs/performance.md explains them. BENCH passes options: make bench BENCH="--only dam --memory".
bench: all
	@$(BUILD)/bench $(BENCH)

bench-long: all
	@$(BUILD)/bench --long --memory $(BENCH)

# The same dam break in Blender's Mantaflow and here. PEERS passes options: make bench-peers PEERS="--resolution 128 --frames 13".
bench-peers: all
	@tools/bench-peers --rheo $(BUILD)/rheo $(PEERS)

# Address and undefined-behaviour sanitizers over the whole suite but valgrind, which is another of its kind, and the check of names, which would find those of clang's OpenMP. SANITIZED passes options to ctest: make asan SANITIZED="-L unit".
# Containers of C++ are handed to libraries that are not instrumented and know nothing of the room marked behind their ends.
asan: deps
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan
	@ASAN_OPTIONS=detect_container_overflow=0:$$ASAN_OPTIONS LSAN_OPTIONS=suppressions=$(CURDIR)/tests/reliability/lsan.supp:print_suppressions=0 ctest --test-dir build/asan --output-on-failure --timeout 3600 -E "reliability/memcheck|tools/check_prefix" $(SANITIZED)

# Thread sanitizer (clang: gcc's OpenMP runtime raises false alarms; archer tells the sanitizer what clang's does) over what runs in threads inside our own code.
# Libraries that are not instrumented keep their secrets: the first two words leave out what happens inside of them.
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

# At length what `make test` does briefly: KILLS random kill -9, each run resumed and compared byte by byte; SOAK_SECONDS of runs in one process;
# small runs under valgrind.
KILLS ?= 1000
kills: all
	@cd $(BUILD) && python3 $(CURDIR)/tests/reliability/kills.py ./rheo $(CURDIR) --kills $(KILLS)

SOAK_SECONDS ?= 3600
soak: all
	@cd $(BUILD) && python3 $(CURDIR)/tests/reliability/soak.py tests/soak_worker $(CURDIR) ./rheo --seconds $(SOAK_SECONDS)

memcheck: all
	@cd $(BUILD) && python3 $(CURDIR)/tests/reliability/memcheck.py ./rheo $(CURDIR) --all

clean:
	@rm -rf $(BUILD)
