#!/usr/bin/env bash
# Installs Chromium where it is missing and a package manager may; without it the tests in a browser are skipped, by name.
set -uo pipefail
for name in chromium chromium-browser google-chrome; do
  [ -x "/usr/bin/$name" ] && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null ||
    echo "chromium: not installed"
else
  echo "chromium: not installed"
fi
