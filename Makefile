# The front door. `make` builds, `make test` proves, `make demo` shows.
# Everything behind it is CMake; presets are listed by `cmake --list-presets`.

BUILD ?= build

.PHONY: all deps test demo asan tsan fuzz clean

all: deps
	@cmake --preset release -B $(BUILD) >/dev/null
	@cmake --build $(BUILD)

deps:
	@tools/install-deps

test: all
	@ctest --test-dir $(BUILD) --output-on-failure --timeout 900

demo: all
	@tools/demo $(BUILD)

# Address and undefined-behaviour sanitizers over the unit and property tests.
asan: deps
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan
	@ctest --test-dir build/asan --output-on-failure -LE slow

# Thread sanitizer (clang: gcc's OpenMP runtime raises false alarms).
tsan: deps
	@cmake --preset tsan >/dev/null
	@cmake --build --preset tsan
	@ctest --test-dir build/tsan --output-on-failure -LE slow

clean:
	@rm -rf $(BUILD)
