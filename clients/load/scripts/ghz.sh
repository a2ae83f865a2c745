#!/usr/bin/env bash
# ghz: one rpc of the gRPC port at a constant rate, whatever the server does.
#
#   LOAD_KEY=… clients/load/scripts/ghz.sh
#
# LOAD_GRPC (127.0.0.1:50051), LOAD_CALL (cti.v1.AccountService.Whoami), LOAD_DATA ({}),
# LOAD_RATE (100), LOAD_SECONDS (30) and LOAD_CONNECTIONS (16) choose the load; further
# arguments go to ghz, such as --format html --output report.html.

set -euo pipefail
cd "$(dirname "$0")/../../.."

# A file, because every user of this machine can see the arguments of a program.
metadata=$(umask 077 && mktemp)
trap 'rm -f "$metadata"' EXIT
printf '{"authorization":"Bearer %s"}' "${LOAD_KEY:?an API key}" >"$metadata"

"${GHZ:-ghz}" --insecure \
  --protoset proto/gen/api.binpb \
  --call "${LOAD_CALL:-cti.v1.AccountService.Whoami}" \
  --data "${LOAD_DATA:-"{}"}" \
  --metadata-file "$metadata" \
  --rps "${LOAD_RATE:-100}" --async \
  --duration "${LOAD_SECONDS:-30}s" \
  --connections "${LOAD_CONNECTIONS:-16}" --concurrency "${LOAD_CONNECTIONS:-16}" \
  "$@" \
  "${LOAD_GRPC:-127.0.0.1:50051}"
