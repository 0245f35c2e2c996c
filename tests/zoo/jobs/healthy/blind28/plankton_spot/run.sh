#!/usr/bin/env bash
# One slot of the queue: the scheduler sends SIGUSR1 before the slot ends; what is left is done in the next slot.
set -euo pipefail
cd "$(dirname "$0")"
slots=${SLOTS:-4}
slot=${SLOT_STEPS:-40}
rm -rf state

for n in $(seq 1 "$slots"); do
    echo "slot $n of $slots"
    torchrun --standalone --nproc_per_node=2 train.py --state state --slot "$slot" "$@" && code=0 || code=$?
    if [ "$code" -ne 0 ]; then
        echo "slot $n ended with $code" >&2
        exit "$code"
    fi
    if [ -f state/complete ]; then
        echo "complete after $n slots"
        exit 0
    fi
    echo "to be continued"
done
echo "not complete after $slots slots" >&2
exit 1
