#!/usr/bin/env bash
# Resolves and builds the peers and makes the test keys; does nothing that is already done.
#   setup.sh [keys] [phase4] [oxalis] [pyas4]      default: all
#   setup.sh --check [...]      builds nothing: fails when one of them is not built, or not from what stands here
# Everything is put in $PEERS_HOME (default ${XDG_CACHE_HOME:-$HOME/.cache}/as4-peers); this folder may be read-only.
# MVN_ARGS is passed to mvn (for example MVN_ARGS=-o when the local Maven repository already has everything).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

CHECK=""
[ "${1:-}" != --check ] || { CHECK=1; shift; }

# present WHAT STAMP : whether it is built from that; ends this program when only that was asked.
present() {
  [ "$(cat "$PEERS_HOME/$1/.built" 2>/dev/null || true)" != "$2" ] || { echo "$1 is built"; return 0; }
  [ -z "$CHECK" ] || die "$1 is not built from what stands here: run setup.sh $1"
  return 1
}

build() {
  local p="$1" want
  want="$(cd "$HERE/$p" && find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d' ' -f1)"
  present "$p" "$want" && return
  rm -rf "$PEERS_HOME/build/$p"; mkdir -p "$PEERS_HOME/build/$p"
  cp -R "$HERE/$p/." "$PEERS_HOME/build/$p/"; chmod -R u+w "$PEERS_HOME/build/$p"
  (cd "$PEERS_HOME/build/$p" && mvn -B -q -T1 ${MVN_ARGS:-} -DskipTests package)
  rm -rf "$PEERS_HOME/$p.new"; mkdir -p "$PEERS_HOME/$p.new"
  cp "$PEERS_HOME/build/$p/target/$p.jar" "$PEERS_HOME/$p.new/"
  cp -R "$PEERS_HOME/build/$p/target/lib" "$PEERS_HOME/$p.new/lib"
  echo "$want" >"$PEERS_HOME/$p.new/.built"
  rm -rf "$PEERS_HOME/$p" "$PEERS_HOME/build/$p"; mv "$PEERS_HOME/$p.new" "$PEERS_HOME/$p"
  echo "$p is built"
}

[ $# -gt 0 ] || set -- keys phase4 oxalis pyas4
for what in "$@"; do
  case "$what" in
    keys)
      [ -z "$CHECK" ] || [ -f "$KEYS/.complete" ] || die "there are no keys: run setup.sh keys"
      bash "$HERE/gen-keys.sh" ;;
    phase4|oxalis) build "$what" ;;
    pyas4)
      present pyas4 "$(cat "$HERE/pyas4/requirements.txt")" && continue
      rm -rf "$PEERS_HOME/pyas4"; "${PYTHON:-python3}" -m venv "$PEERS_HOME/pyas4"
      "$PEERS_HOME/pyas4/bin/pip" -q --disable-pip-version-check install -r "$HERE/pyas4/requirements.txt"
      cp "$HERE/pyas4/requirements.txt" "$PEERS_HOME/pyas4/.built"; echo "pyas4 is built" ;;
    *) die "unknown: $what" ;;
  esac
done
echo "READY peers in $PEERS_HOME"
