#!/usr/bin/env bash
# Checks the extension: types, tests, and that a package can be made. Needs node and npm.
set -euo pipefail
cd "$(dirname "$0")"
npm ci --silent
npm run --silent types
npm test --silent
npm run --silent package
