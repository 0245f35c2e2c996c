#!/usr/bin/env bash
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fit "$here/fit.py" "$work" 2
publish "$work"
