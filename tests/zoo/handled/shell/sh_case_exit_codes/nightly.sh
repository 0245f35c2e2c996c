#!/bin/bash
set -eu
for seed in 1 2 3; do
    set +e
    python trial.py "$seed"
    rc=$?
    set -e
    case $rc in
        0)   verdict="converged" ;;
        3)   verdict="diverged" ;;
        139) verdict="segfault in the sampler (known, see #88)" ;;
        *)   echo "seed $seed: unexpected code $rc" >&2; exit "$rc" ;;
    esac
    echo "seed $seed: $verdict" >> verdicts.txt
done
cat verdicts.txt
