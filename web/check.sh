#!/usr/bin/env bash
# Checks the pages: types, tests, that the bundle is what the sources make, and how it looks in a browser. Needs node and npm; the
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
before="$(mktemp)"
trap 'rm -f "$before"' EXIT
cp dist/report.html "$before"
npm run --silent build >/dev/null
if ! cmp -s dist/report.html "$before"; then
    echo "web/dist/report.html is not what the sources make: commit it as it is now" >&2
    exit 1
fi
if [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
    npm run --silent browser
else
    echo "chromium is not installed: the pages were not looked at"
fi
