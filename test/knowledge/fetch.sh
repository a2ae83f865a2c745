#!/bin/sh
# Brings the documents of documents.json into a folder: sh test/knowledge/fetch.sh FOLDER [held-out | packages]
# The packages are of Debian 12, and need apt-get and dpkg-deb.
set -eu
here=$(dirname "$0")
folder=$1
mkdir -p "$folder"
node -e '
  for (const { repository, commit, package, version, path } of require(process.argv[1]))
    console.log([repository ?? package, commit ?? version, repository ? "git" : "deb", path].join("\t"));
' "$(cd "$here" && pwd)/${2:+$2/}documents.json" | while IFS="$(printf '\t')" read -r source version kind path; do
  if [ "$kind" = deb ]; then
    [ -d "$folder/$source" ] && continue
    (cd "$folder" && apt-get download -qq "$source=$version" && dpkg-deb -x "$source"_*.deb "$source")
    continue
  fi
  git="$folder/.git/$source"
  if [ ! -d "$git" ]; then
    git init -q --bare "$git"
    git -C "$git" fetch -q --depth 1 "https://github.com/$source.git" "$version"
  fi
  mkdir -p "$(dirname "$folder/$source/$path")"
  git -C "$git" show "$version:$path" > "$folder/$source/$path"
done
