#!/usr/bin/env bash
# The queue gives short slots: train until the slot is used up (exit code 85), then come back for the rest.
set -u
ckpt=${CKPT:-state/last.pt}
mkdir -p "$(dirname "$ckpt")"
for slot in 1 2 3; do
  torchrun --standalone --nproc-per-node 2 train.py --state "$ckpt" --slot-steps 100
  code=$?
  if [ -f "$(dirname "$ckpt")/complete" ]; then
    echo "complete after slot $slot"
    exit 0
  fi
  if [ ! -f "$(dirname "$ckpt")/pause" ]; then
    echo "slot $slot failed with $code" >&2
    exit "$code"
  fi
  rm "$(dirname "$ckpt")/pause"
done
echo "not complete" >&2
exit 1
