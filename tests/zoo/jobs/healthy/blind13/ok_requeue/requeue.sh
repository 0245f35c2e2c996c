#!/usr/bin/env bash
set -uo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
slice=80
for attempt in 1 2 3; do
    torchrun --standalone --nproc-per-node 2 job.py --work "$work" --slice $slice --steps 140
    code=$?
    [ $code -eq 0 ] && break
    echo "attempt $attempt left with $code, going on from the last state"
done
exit $code
