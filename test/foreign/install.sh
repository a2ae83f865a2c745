#!/usr/bin/env bash
# Installs the foreign clients that tests call, each into a folder of its own
# that git ignores; what is missing on a machine is skipped, by name, by the tests.
# With --samples also the samples of docs/integrating in Go and Java, which take a while to compile.
set -uo pipefail
cd "$(dirname "$0")"

if command -v python3 >/dev/null; then
  [ -x python/.venv/bin/python ] || python3 -m venv python/.venv
  python/.venv/bin/pip install -q --disable-pip-version-check -r python/requirements.txt || echo "python clients: not installed"
else
  echo "python clients: no python3"
fi

if command -v go >/dev/null; then
  GOBIN="$PWD/grpcurl/bin" go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3 || echo "grpcurl: not installed"
  # The schema of server.json, as the validator of the MCP registry has it.
  mkdir -p registry/bin
  registry=$(GO111MODULE=on go mod download -json github.com/modelcontextprotocol/registry@v1.8.9 |
    sed -n 's/^.*"Dir": "\(.*\)".*$/\1/p') && cp "$registry"/internal/validators/schemas/2025-12-11.json registry/bin/ ||
    echo "registry: not installed"
else
  echo "grpcurl, registry: no go"
fi

(cd claude-code && npm ci --no-audit --no-fund --loglevel=error) || echo "claude-code: not installed"
for client in mcp-remote inspector mcpb skills-ref codex; do
  (cd "$client" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) || echo "$client: not installed"
done
bash nodes/install.sh || echo "nodes: not installed"

[ "${1:-}" = --samples ] || exit 0
samples=../../docs/integrating

if command -v go >/dev/null; then
  (cd $samples/go && ../../../node_modules/.bin/buf generate ../../../proto && go build -o "$OLDPWD/go/bin/agents" .) ||
    echo "Go sample: not built"
else
  echo "Go sample: no go"
fi

if command -v mvn >/dev/null; then
  mkdir -p java/bin
  (cd $samples/java && mvn -q -B compile dependency:build-classpath "-Dmdep.outputFile=$OLDPWD/java/bin/classpath") ||
    echo "Java sample: not built"
else
  echo "Java sample: no mvn"
fi
