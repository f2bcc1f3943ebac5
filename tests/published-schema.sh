#!/usr/bin/env bash
# Compares our schema and our reader with the published ebMS3 and ebBP schemas, which are fetched from Maven Central
# (inside phase4-lib and the ph-xsds artifacts) and not kept here. Needs mvn, unzip and cargo; `make test` calls it.
#   tests/published-schema.sh [FOLDER]     FOLDER: where to put the schemas (default: target/published-schema)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(realpath -m "${1:-target/published-schema}")
mkdir -p "$folder"
for artifact in com.helger.phase4:phase4-lib:4.4.1 com.helger.xsd:ph-xsds-xlink:4.1.0 com.helger.xsd:ph-xsds-xml:4.1.0 \
                com.helger.xsd:ph-xsds-xmldsig:4.1.0; do
  IFS=: read -r _ name version <<<"$artifact"
  [ -f "$folder/$name-$version.jar" ] ||
    mvn -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$artifact" -DoutputDirectory="$folder"
done
for jar in "$folder"/*.jar; do unzip -qoj "$jar" '*.xsd' -d "$folder"; done
cp schemas/exc-c14n.xsd "$folder"

# libxml2 takes an import without location from what was imported before it: so the order matters.
{
  echo '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">'
  while read -r namespace location; do echo "  <xs:import namespace=\"$namespace\" schemaLocation=\"$location\"/>"; done <<'LIST'
http://www.w3.org/XML/1998/namespace xml.xsd
http://www.w3.org/1999/xlink xlink.xsd
http://www.w3.org/2001/10/xml-exc-c14n# exc-c14n.xsd
http://www.w3.org/2000/09/xmldsig# xmldsig-core-schema.xsd
http://www.w3.org/2003/05/soap-envelope soap12.xsd
http://schemas.xmlsoap.org/soap/envelope/ soap11.xsd
http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/ ebms-header-3_0-200704.xsd
http://docs.oasis-open.org/ebxml-bp/ebbp-signals-2.0 ebbp-signals-2.0.4.xsd
LIST
  echo '</xs:schema>'
} > "$folder/message.xsd"

POSTRIDER_PUBLISHED_SCHEMA="$folder/message.xsd" cargo test --test schemas -- --ignored
