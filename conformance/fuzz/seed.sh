#!/usr/bin/env bash
# Fills corpus/ from the fixtures: ./seed.sh, then cargo +nightly fuzz run mime
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
root=../..
mkdir -p corpus/{mime,envelope,ebms_header,security_header,pmode,c14n,edi}
find "$root/tests/fixtures" \( -name '*.mime' -o -name '*.http' \) -print0 |
  while IFS= read -r -d '' file; do
    name="$(echo "${file#"$root"/tests/fixtures/}" | tr / -)"
    cp "$file" "corpus/mime/$name"
    # From the first tag of the envelope to its last.
    perl -0777 -ne 'print $1 if /(<(?:[\w.-]+:)?Envelope\b.*<\/(?:[\w.-]+:)?Envelope>)/s' "$file" >"corpus/envelope/$name.xml"
    [ -s "corpus/envelope/$name.xml" ] || { rm "corpus/envelope/$name.xml"; continue; }
    for other in ebms_header security_header c14n; do cp "corpus/envelope/$name.xml" "corpus/$other/"; done
  done
find "$root/pmodes" -name '*.xml' -exec cp -t corpus/pmode {} +
cp "$root"/tests/fixtures/documents/*.xml corpus/c14n/
cp "$root"/tests/fixtures/documents/* corpus/edi/
for folder in corpus/*; do echo "$(find "$folder" -type f | wc -l) $folder"; done
