#!/bin/bash
set -euo pipefail

attempt() {
    local n=0 code
    while [ "$n" -lt 5 ]; do
        torchrun --standalone --nproc-per-node 8 train.py --resume latest 2>&1 | tee "log.$n"
        code=${PIPESTATUS[0]}
        [ "$code" -eq 0 ] && return 0
        echo "attempt $n ended with $code"
        n=$((n + 1))
        sleep 60
    done
    return "$code"
}

attempt
