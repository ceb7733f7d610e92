#!/usr/bin/env bash
# Makes an archive of a release: the program, its manual, completions for shells, and the licences.
#
#   scripts/archive.sh [DIRECTORY]     the directory for the archive; target/archive if none is given
set -euo pipefail
cd "$(dirname "$0")/.."
directory="${1:-target/archive}"
version="$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)"
target="$(rustc -vV | sed -n 's/^host: //p')"
name="cssame-$version-$target"
program="${CSSAME:-}"
if [ -z "$program" ]; then
    cargo build --release --locked
    program="${CARGO_TARGET_DIR:-target}/release/cssame"
fi
place="$directory/$name"
rm -rf "$place"
mkdir -p "$place/completions"
install -m 755 "$program" "$place/cssame"
"$program" man --out "$place/man/man1" >/dev/null
for shell in bash zsh fish powershell elvish; do
    "$program" completions "$shell" >"$place/completions/cssame.$shell"
done
cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$place"
# The same files give the same bytes, whoever packs them and when.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$directory" -cf - "$name" | gzip -n9 >"$place.tar.gz"
echo "$place.tar.gz"
