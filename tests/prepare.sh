#!/usr/bin/env bash
# Makes this machine able to build (`prepare.sh build`), test (`test`) or lint (`lint`) Postrider.
#
# Installs the Debian packages that are missing, as root or through sudo, and says which. Takes well under a second
# when nothing is missing. On other systems it names what is needed and goes on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
what="${1:?prepare.sh build|test|lint}"

die() { echo "error: $*" >&2; exit 1; }

# Rust: never installed here, for it is the user's.
needed="$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml | head -1)"
command -v cargo >/dev/null && command -v rustc >/dev/null ||
  die "Rust $needed or newer is needed and is not installed: see https://rustup.rs"
have="$(rustc --version | cut -d' ' -f2)"
oldest="$(printf '%s\n%s\n' "$needed" "${have%%-*}" | sort -V | head -1)"
[ "$oldest" = "$needed" ] || die "Rust $needed or newer is needed, this is $have: rustup update stable"

# Packages, and why. OpenSSL, libxml2 and libxmlsec1 do the XML security, libpq speaks to PostgreSQL; SQLite is built in.
# clang and libclang make the bindings of libxmlsec1; the C++ compiler and cmake build the TLS library.
packages=(gcc g++ make pkg-config cmake clang libclang-dev libssl-dev libxml2-dev libxmlsec1-dev libpq-dev)
if [ "$what" = test ]; then
  # xmllint checks our schemas; openssl, Java, Maven and Python run the other AS4 implementations;
  # unzip takes the published schemas out of their artifacts.
  packages+=(libxml2-utils openssl python3-venv curl unzip)
  command -v java >/dev/null || packages+=(openjdk-17-jdk-headless)
  command -v mvn >/dev/null || packages+=(maven)
  # The Debian package, 15 on Debian 12; any later one will do.
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || packages+=(postgresql)
fi

if command -v dpkg-query >/dev/null; then
  missing=()
  for package in "${packages[@]}"; do
    state="$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)"
    [ "$state" = installed ] || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    root=()
    if [ "$(id -u)" -ne 0 ]; then
      command -v sudo >/dev/null || die "these packages are missing, and there is no sudo: apt-get install ${missing[*]}"
      root=(sudo)
    fi
    echo "installing ${missing[*]}" >&2
    "${root[@]}" apt-get update -qq </dev/null
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >&2
  fi
else
  echo "note: this is not Debian; what is needed here by other names: ${packages[*]}" >&2
fi

if [ "$what" = lint ]; then
  if ! cargo deny --version >/dev/null 2>&1; then
    echo "installing cargo-deny" >&2
    cargo install --locked cargo-deny >&2
  fi
fi
