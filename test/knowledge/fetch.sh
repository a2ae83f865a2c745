#!/bin/sh
# Brings the documents of documents.json into a folder: sh test/knowledge/fetch.sh FOLDER [held-out]
set -eu
here=$(dirname "$0")
folder=$1
node -e '
  for (const { repository, commit, path } of require(process.argv[1])) console.log([repository, commit, path].join("\t"));
' "$(cd "$here" && pwd)/${2:+$2/}documents.json" | while IFS="$(printf '\t')" read -r repository commit path; do
  git="$folder/.git/$repository"
  if [ ! -d "$git" ]; then
    git init -q --bare "$git"
    git -C "$git" fetch -q --depth 1 "https://github.com/$repository.git" "$commit"
  fi
  mkdir -p "$(dirname "$folder/$repository/$path")"
  git -C "$git" show "$commit:$path" > "$folder/$repository/$path"
done
