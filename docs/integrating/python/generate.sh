#!/usr/bin/env bash
# Makes the Python package "sallyport" from the repository's protos: generate.sh PROTO_FOLDER FOLDER
set -euo pipefail
protos=$1 stubs=$2/sallyport
mkdir -p "$stubs"
find "$protos" -name '*.proto' -not -path "$protos/gen/*" -not -path "$protos/grpc/*" |
  xargs "${PYTHON:-python3}" -m grpc_tools.protoc -I"$protos" --python_out="$stubs" --grpc_python_out="$stubs"
# Stubs import each other from the top level, but Python has a module "platform" there, and another package is "mcp".
names=$(cd "$stubs" && printf '%s|' */ | tr -d /)
find "$stubs" -name '*_pb2*.py' -exec sed -i -E "s/^from (${names%|})\b/from sallyport.\1/" {} +
