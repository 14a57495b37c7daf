# Entry points for people; CMake does the building and scripts/ hold what takes more than a line.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help quickstart test check check-tools check-format asan format tidy layers bench bench-overtake bench-peers clean

BUILD ?= build
JOBS ?= $(shell nproc)
TEXT ?=
OUT ?= runs/quickstart
PEERS ?=
export JOBS

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

quickstart:  ## install, build, train a small sweep on real text, write the report [TEXT=path] [OUT=dir]
	@scripts/setup build run
	@scripts/build $(BUILD) darkformer
	@scripts/quickstart '$(BUILD)' '$(OUT)' '$(TEXT)'

test:  ## install, build, run all tests
	@scripts/setup build test
	@scripts/build $(BUILD) all -DBUILD_TESTING=ON
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error

check: check-tools check-format layers tidy test asan  ## everything a change must pass

check-tools:
	@scripts/setup build test bench check

check-format:
	@scripts/format --check

asan:  ## run all tests under the address and undefined-behaviour sanitizers
	@scripts/setup build test
	@scripts/build $(BUILD)/asan all -DBUILD_TESTING=ON -DDARKFORMER_SANITIZE=address,undefined \
	  -DCMAKE_CXX_FLAGS_RELEASE=-O1
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  ctest --test-dir $(BUILD)/asan --output-on-failure --no-tests=error

format: check-tools  ## rewrite the sources in the project's format
	@scripts/format

tidy: check-tools  ## run clang-tidy over the sources
	@scripts/tidy '$(BUILD)'

layers:  ## check that includes point down between the rooms
	@scripts/check_layers --self-test
	@scripts/check_layers

bench:  ## build and run the benchmarks
	@scripts/setup build bench
	@scripts/build $(BUILD) all -DDARKFORMER_BENCH=ON
	@for program in $(BUILD)/bench/bench_*; do "$$program" || exit; done

bench-overtake:  ## draw from which length random features overtake exact attention
	@scripts/setup build run bench
	@scripts/build $(BUILD) darkformer
	@/usr/bin/env python3 bench/overtake.py $(BUILD)/darkformer --out $(BUILD)/overtake.svg

bench-peers:  ## time steps and a sweep beside PyTorch and two packages from PyPI; takes two hours [PEERS="--turns 6 --tokens 2048"]
	@scripts/setup build run peers
	@scripts/build $(BUILD) darkformer
	@test -x $(BUILD)/peers/bin/python || python3 -m venv $(BUILD)/peers
	@$(BUILD)/peers/bin/pip install --quiet --requirement bench/peers/requirements.txt
	@$(BUILD)/peers/bin/python bench/peers/compare.py $(BUILD)/darkformer $(PEERS) --out $(BUILD)/peers.md
	@scripts/bible $(BUILD)/data/bible.txt
	@$(BUILD)/peers/bin/python bench/peers/sweep.py $(BUILD)/darkformer $(BUILD)/data/bible.txt --out $(BUILD)/peers.md

clean:  ## remove what was built; runs stay
	rm -rf $(BUILD)
