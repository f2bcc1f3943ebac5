# make demo   two gateways exchange signed, encrypted, receipted documents
# make test   every test, with PostgreSQL and the other AS4 implementations; ends with "N passed, N failed"
# make lint   format, clippy, documentation, dependencies
#
# Each installs the Debian packages that it misses (as root or through sudo), and says which.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.PHONY: demo test lint

TARGET := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)

demo:
	@tests/prepare.sh build
	cargo build --release --bin postrider
	$(TARGET)/release/postrider demo

test:
	@tests/prepare.sh test
	@tests/run.sh

lint:
	@tests/prepare.sh lint
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
	cargo deny --workspace check bans licenses sources
	@if git ls-remote -q https://github.com/RustSec/advisory-db HEAD >/dev/null 2>&1; \
	then cargo deny --workspace check advisories; \
	else echo "note: the advisory database is not reachable from here; known vulnerabilities were not looked up"; fi
