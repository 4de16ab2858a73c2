# make run     install what is missing, build, run the quickstart on 6 ranks, leave a NetCDF file and a map
# make test    the whole test suite (installs what it needs)
# make build   the program, with MPI where there is one;  make build-serial   the one without MPI
# make build-static   the one without MPI that contains netCDF and HDF5: target/static/release/atmostr
# make lint    formatting and clippy;  make slow   tests that take minutes each
# make docs    the handbook (mdBook);  make bench   criterion benches

SHELL := /bin/bash
RANKS ?= 6
ENVIRONMENT := set -euo pipefail; . scripts/environment.sh
# Tests compiled only with feature `mpi`, as cargo names them.
MPI_TESTS := $(patsubst %/main,%,$(patsubst tests/%.rs,%,$(shell grep -l '^\#!\[cfg(feature = "mpi")\]' tests/*.rs tests/*/main.rs)))

export RANKS
export ATMOSTR_PYTHON ?= $(CURDIR)/target/python/bin/python

.PHONY: run test slow build build-serial build-static lint docs bench setup-run setup-test

run: build
	@scripts/quickstart.sh

build: setup-run
	@$(ENVIRONMENT); \
	if can_build_mpi; then cargo_mpi build --release $$(optional_features); \
	else echo "No parallel netCDF here: building without MPI"; cargo build --release $$(optional_features); fi

build-serial: setup-run
	@$(ENVIRONMENT); cargo build --release $$(optional_features)

# Installs nothing: needs a C compiler and CMake, no netCDF.
build-static:
	@$(ENVIRONMENT); for tool in cc cmake cargo; do \
	    have $$tool || { echo "error: build-static needs a C compiler, CMake 3.26 or later and cargo; $$tool is missing" >&2; exit 1; }; \
	done; cargo build --release --features static-netcdf --target-dir target/static

# Everything runs even if a part fails; what failed is said again at the end.
test: setup-test
	@$(ENVIRONMENT); use_cuda_compilers; failed=; log=target/test.log; mkdir -p target; : >$$log; \
	cargo test --workspace --no-fail-fast $$(optional_features) 2>&1 | tee -a $$log || failed="$$failed serial tests;"; \
	if can_build_mpi; then \
	    cargo_mpi test --no-fail-fast $(if $(MPI_TESTS),$(MPI_TESTS:%=--test %),--test '*') 2>&1 | tee -a $$log || failed="$$failed MPI tests;"; \
	else echo "skipped: tests with MPI (no parallel netCDF here)"; fi; \
	scripts/lint.sh || failed="$$failed lint;"; \
	scripts/check-metal.sh || failed="$$failed types of Metal;"; \
	if [ -n "$$failed" ]; then \
	    grep -a -A 3 -E 'panicked at|^test .* FAILED$$' $$log | tail -n 60 || true; \
	    echo "make test: failed:$$failed"; exit 1; fi; \
	echo "make test: all passed"

# Tests marked #[ignore], in both builds.
slow: setup-test
	@$(ENVIRONMENT); use_cuda_compilers; failed=; \
	cargo test --release --workspace --no-fail-fast $$(optional_features) -- --ignored || failed="$$failed serial tests;"; \
	if can_build_mpi && [ -n "$(MPI_TESTS)" ]; then \
	    cargo_mpi test --release --no-fail-fast $(MPI_TESTS:%=--test %) -- --ignored || failed="$$failed MPI tests;"; fi; \
	if [ -n "$$failed" ]; then echo "make slow: failed:$$failed"; exit 1; fi

lint: setup-run
	@scripts/lint.sh deny

docs: setup-run
	@$(ENVIRONMENT); have mdbook || cargo install mdbook --locked; mdbook build docs

bench: setup-run
	@$(ENVIRONMENT); cargo bench --workspace

setup-run:
	@scripts/setup.sh run

setup-test:
	@scripts/setup.sh test
