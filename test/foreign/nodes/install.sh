#!/usr/bin/env bash
# Brings the Nodes that the program is to run under, from npm, into node_modules
# here; with --all also the one that CI leaves out. One that is missing is
# skipped, by name, by test/system/nodes.long.test.ts.
set -euo pipefail
cd "$(dirname "$0")"

system="$(node -p 'process.platform + "-" + process.arch')"
nodes=("node-22@npm:node-$system@22.23.3" "node-24@npm:node-$system@24.21.0")
if [ "${1:-}" = "--all" ]; then nodes+=("node-26@npm:node-$system@26.10.0"); fi
npm install --prefix . --no-save --no-package-lock --no-audit --no-fund --loglevel=error "${nodes[@]}"
