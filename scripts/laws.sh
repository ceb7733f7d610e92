#!/usr/bin/env bash
# The laws of the tests for as long as one likes: random programs that no run before has tried, and all of what `cargo test` takes
# a part of (every sample in every command, the packages of every sample compiled and run, the slow exact comparisons).
#
#   scripts/laws.sh [MINUTES [SEED]]    10 minutes, and a seed of the clock, where nothing is said
#
# From 60 minutes on, everything is tried once before; then the modules of `tests/suite` that try random programs, in turn, each round
# with the next seed. What was tried last stands in scripts/laws.txt. Exit status: 0 if nothing failed.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes="${1:-10}"
seed="${2:-$(($(date +%s) % 1000000 * 1000))}"
first="$seed"
end=$((SECONDS + minutes * 60))
export CSSAME_LAW_EFFORT="${CSSAME_LAW_EFFORT:-4}"

cargo test --locked --test suite --test commands --no-run
failed=()

# Runs the tests of a filter with the time that is left; a run that time ends has not failed.
try() {
    local status=0
    CSSAME_LAW_SEED="$seed" timeout "$((end - SECONDS))" cargo test --quiet --locked "$@" || status=$?
    if [ "$status" != 0 ] && [ "$status" != 124 ]; then
        failed+=("CSSAME_LAW_EFFORT=$CSSAME_LAW_EFFORT CSSAME_LAW_SEED=$seed cargo test $*")
    fi
}

if [ "$minutes" -ge 60 ]; then
    try --test commands --no-fail-fast
    try --test suite --no-fail-fast
fi
mapfile -t modules < <(grep -rlE 'first_seed\(|[^_]programs\(' tests/suite --include='*.rs' |
    sed -E 's#tests/suite/([a-z_]+).*#\1#' | sort -u)
rounds=0
while [ "$SECONDS" -lt "$end" ]; do
    for at in "${!modules[@]}"; do
        [ "$SECONDS" -lt "$end" ] || break
        # Where time is short, another seed begins with other laws.
        try --test suite "${modules[(at + seed) % ${#modules[@]}]}::"
    done
    rounds=$((rounds + 1))
    seed=$((seed + 10000))
done

{
    echo "commit   $(git rev-parse --short HEAD)"
    echo "minutes  $minutes"
    echo "seeds    $first to $((seed - 10000)), effort $CSSAME_LAW_EFFORT"
    echo "rounds   $rounds, the last one perhaps cut"
    echo "failed   ${#failed[@]}"
    [ "${#failed[@]}" = 0 ] || printf '  %s\n' "${failed[@]}"
} >"${CSSAME_LAWS_FILE:-scripts/laws.txt}"
cat "${CSSAME_LAWS_FILE:-scripts/laws.txt}"
[ "${#failed[@]}" = 0 ]
