# make run     install what is missing, build, run the quickstart on 6 ranks, leave a NetCDF file and a map
# make test    the whole test suite (installs what it needs)
# make build   the MPI binary;  make build-serial   the one without MPI
# make docs    the handbook (mdBook);  make bench   criterion benches

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
RANKS ?= 6
ENVIRONMENT := . scripts/environment.sh
MPI_BUILD := --release --features mpi --target-dir target/mpi

.PHONY: run test slow build build-serial lint docs bench setup-run setup-test

run: build
	@$(ENVIRONMENT); mkdir -p run; cd run; \
	mpirun -n $(RANKS) ../target/mpi/release/atmostr run ../configs/quickstart.toml; \
	../target/mpi/release/atmostr plot quickstart.nc --var blob_column_mean -o quickstart.png; \
	echo "Result: run/quickstart.nc   Map: run/quickstart.png"

build: setup-run
	@$(ENVIRONMENT); cargo build $(MPI_BUILD)

build-serial: setup-run
	@$(ENVIRONMENT); unset NETCDF_DIR HDF5_DIR; cargo build --release

test: setup-test lint
	@$(ENVIRONMENT); (unset NETCDF_DIR HDF5_DIR; cargo test --workspace --no-fail-fast); \
	cargo test $(MPI_BUILD) --no-fail-fast --test '*'

# Suites that take minutes each; see docs/src/promises.md.
slow: setup-test
	@$(ENVIRONMENT); cargo test $(MPI_BUILD) --no-fail-fast --workspace -- --ignored

lint: setup-test
	@$(ENVIRONMENT); unset NETCDF_DIR HDF5_DIR; \
	if cargo fmt --version >/dev/null 2>&1; then cargo fmt --all -- --check; fi; \
	if cargo clippy --version >/dev/null 2>&1; then cargo clippy --workspace --all-targets -- -D warnings; fi

docs: setup-run
	@$(ENVIRONMENT); command -v mdbook >/dev/null || cargo install mdbook; mdbook build docs

bench: setup-run
	@$(ENVIRONMENT); unset NETCDF_DIR HDF5_DIR; cargo bench --workspace

setup-run:
	@scripts/setup.sh run

setup-test:
	@scripts/setup.sh test
