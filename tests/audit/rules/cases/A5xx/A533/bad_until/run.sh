#!/bin/bash
set -euo pipefail
run() {
    torchrun --nproc-per-node 2 "$@" 2>&1 | tee log
}
until [ "${code:-1}" -eq 0 ]; do
    run train.py
    code=${PIPESTATUS[0]}
    sleep 5
done
