#!/usr/bin/env bash
# Checks the grammar: the generated parser is current, the tests pass, and it accepts the programs that cssame accepts.
#
# Needs node, npm and a C compiler, and cssame: $CSSAME is the command, by default `cargo run`.
# With --write it writes the generated parser instead of comparing it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$here"

# Without a configuration each command warns of it.
echo "{\"parser-directories\": [\"$scratch\"]}" >"$scratch/config.json"
export TREE_SITTER_DIR=$scratch

# The npm package downloads its program from elsewhere when it is installed. Where that place is out of reach, cargo builds
# the same version from source.
version=$(node -p 'require("./package.json").devDependencies["tree-sitter-cli"]')
npm ci --ignore-scripts --silent
if [[ $(tree-sitter --version 2>/dev/null) == "tree-sitter $version"* ]]; then
  tree_sitter=tree-sitter
elif npm rebuild tree-sitter-cli --silent >/dev/null 2>&1; then
  tree_sitter=$here/node_modules/.bin/tree-sitter
else
  cargo install --quiet --locked --root "$root/target/tree-sitter" "tree-sitter-cli@$version"
  tree_sitter=$root/target/tree-sitter/bin/tree-sitter
fi

if [[ ${1:-} == --write ]]; then
  "$tree_sitter" generate
fi
"$tree_sitter" generate --output "$scratch/src"
if ! diff -r src "$scratch/src" >"$scratch/difference"; then
  head -20 "$scratch/difference"
  echo "src/ is not what grammar.js generates: run check.sh --write" >&2
  exit 1
fi

"$tree_sitter" test

# Compiles each query against the grammar.
for query in queries/*.scm; do
  "$tree_sitter" query --quiet "$query" "$root/samples/counter_class.csm" >/dev/null
done

# Each program has a syntax error here if and only if cssame reports one with a code that `differences.txt` does not list.
cd "$root"
read -ra cssame <<<"${CSSAME:-cargo run --quiet --}"
known=$(grep -o '^CS[0-9]*' "$here/differences.txt" | paste -sd '|')
find samples tests benches -name '*.csm' | sort >"$scratch/programs"
"$tree_sitter" parse --quiet --grammar-path "$here" --paths "$scratch/programs" >"$scratch/parsed" || true
failed=0
while read -r program; do
  answer=$("${cssame[@]}" ir "$program" --emit ast --format json) || [[ $? == 2 ]]
  codes=$(grep -o '"code": "CS01[0-9]*"' <<<"$answer" | grep -vE "$known" || true)
  tool=$([[ -n $codes ]] && echo rejects || echo accepts)
  grammar=$(grep -qF "$program " "$scratch/parsed" && echo rejects || echo accepts)
  if [[ $tool != "$grammar" ]]; then
    echo "$program: cssame $tool it, the grammar $grammar it" >&2
    failed=1
  fi
done <"$scratch/programs"
echo "$(wc -l <"$scratch/programs") programs compared, $(wc -l <"$scratch/parsed") with syntax errors"
exit "$failed"
