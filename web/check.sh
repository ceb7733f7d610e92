#!/usr/bin/env bash
# Checks the pages: types, tests, that the bundles are what the sources make, and how they look in a browser. Needs node and npm; the
# browser is Debian's Chromium, where it is at hand (CHROMIUM is another one). CSSAME is the program, target/debug/cssame if it is not set.
set -euo pipefail
cd "$(dirname "$0")"
if grep -n '"resolved"' package-lock.json; then
    echo "web/package-lock.json names hosts: npm install --omit-lockfile-registry-resolved leaves them out" >&2
    exit 1
fi
npm ci --silent
npm run --silent types
npm test --silent
before="$(mktemp -d)"
trap 'rm -rf "$before"' EXIT
cp dist/* "$before"
npm run --silent build >/dev/null 2>&1
if ! diff -q "$before" dist; then
    echo "web/dist is not what the sources make: commit it as it is now" >&2
    exit 1
fi
if [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
    npm run --silent browser
else
    echo "chromium is not installed: the pages were not looked at"
fi
