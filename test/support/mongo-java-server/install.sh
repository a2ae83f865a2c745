#!/usr/bin/env bash
# Fetches the jars of an independent server that speaks MongoDB's protocol, so
# that the store's contract is tested through the official driver. Needs a JDK
# (17 or newer) and Maven; without either it says so and leaves the tests to
# skip those cases by name.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v java >/dev/null || ! command -v mvn >/dev/null; then
  echo "mongo-java-server: no JDK or no Maven here; its tests will be skipped" >&2
  exit 0
fi
[ lib/Server.class -nt pom.xml ] && [ lib/Server.class -nt Server.java ] && exit 0
rm -rf lib
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib
# Once here: to compile it at each start is four fifths of a start.
javac -cp 'lib/*' -d lib Server.java
