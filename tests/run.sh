#!/usr/bin/env bash
# Runs every test of the workspace and ends with one line: `N passed, N failed`, summed over all test binaries.
#
# Arguments go to `cargo test`. Tests that need PostgreSQL find it at $POSTRIDER_TEST_POSTGRES; unless that is set, a
# throw-away server is started here, on a socket in a temporary folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work="$(mktemp -d "${TMPDIR:-/tmp}/postrider-test.XXXXXX")"
pg_bin=""
as_owner=()

stop() {
  if [ -n "$pg_bin" ] && [ -f "$work/pg/postmaster.pid" ]; then
    "${as_owner[@]}" "$pg_bin/pg_ctl" -D "$work/pg" -m immediate -w stop >/dev/null 2>&1 || true
  fi
  rm -rf "$work"
}
trap stop EXIT

postgres() {
  local found
  found="$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -1 || true)"
  found="${found:-$(command -v initdb || true)}"
  [ -n "$found" ] || { echo "error: no PostgreSQL here: make test installs it" >&2; exit 1; }
  pg_bin="$(dirname "$found")"
  if [ "$(id -u)" -eq 0 ]; then
    # PostgreSQL does not run as root.
    as_owner=(setpriv --reuid=postgres --regid=postgres --clear-groups)
    chown postgres:postgres "$work"
  fi
  (
    cd /
    "${as_owner[@]}" "$pg_bin/initdb" -D "$work/pg" -U postrider -A trust -E UTF8 --locale=C >"$work/initdb.log" 2>&1 ||
      { cat "$work/initdb.log" >&2; exit 1; }
    # Nothing here outlives the run, so nothing has to reach the disk.
    "${as_owner[@]}" "$pg_bin/pg_ctl" -D "$work/pg" -w -l "$work/postgres.log" start \
      -o "-c listen_addresses='' -c unix_socket_directories='$work' -c fsync=off -c max_connections=200" >/dev/null ||
      { cat "$work/postgres.log" >&2; exit 1; }
  )
  chmod 755 "$work"
  "$pg_bin/createdb" -h "$work" -U postrider postrider
  export POSTRIDER_TEST_POSTGRES="postgres://postrider@${work//\//%2F}/postrider"
}

[ -n "${POSTRIDER_TEST_POSTGRES:-}" ] || postgres

# The independent AS4 products, from public registries; a second time this does nothing.
[ "${POSTRIDER_WITHOUT_PEERS:-}" = 1 ] || conformance/peers/setup.sh keys phase4 oxalis pyas4

log="$work.log"
status=0
cargo test --workspace --no-fail-fast "$@" 2>&1 </dev/null | tee "$log" || status=$?
# Our schemas and our reader against the published ones.
[ "${POSTRIDER_WITHOUT_PEERS:-}" = 1 ] || tests/published-schema.sh 2>&1 </dev/null | tee -a "$log" || status=$?
counts="$(awk '
  /^test result: / {
    for (i = 1; i < NF; i++) {
      if ($(i + 1) ~ /^passed/) passed += $i
      if ($(i + 1) ~ /^failed/) failed += $i
    }
  }
  END { printf "%d %d\n", passed, failed }' "$log")"
rm -f "$log"
read -r passed failed <<<"$counts"
echo
echo "$passed passed, $failed failed"
# A test binary that does not build or that dies counts no failure: cargo's own status tells.
[ "$status" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
