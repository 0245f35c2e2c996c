#!/usr/bin/env bash
set -u

NPROC=${NPROC:-$(nvidia-smi -L | wc -l)}
LOG_DIR=${LOG_DIR:-logs}
RETRIES=${RETRIES:-2}
RUN=${RUN:-$(date +%Y%m%d-%H%M%S)}

mkdir -p "$LOG_DIR"
rm -rf /tmp/"$USER"-triton-cache || true
export TRITON_CACHE_DIR=/tmp/"$USER"-triton-cache
export PYTHONUNBUFFERED=1

attempt=0
while :; do
  log="$LOG_DIR/$RUN.$attempt.log"
  torchrun --standalone --nproc-per-node "$NPROC" finetune.py --run "$RUN" --resume auto 2>&1 | tee "$log"
  rc=${PIPESTATUS[0]}
  if [ "$rc" -eq 0 ]; then
    break
  fi
  attempt=$((attempt + 1))
  if [ "$attempt" -gt "$RETRIES" ]; then
    echo "giving up after $attempt attempts (exit $rc)" >&2
    exit "$rc"
  fi
  echo "exit $rc, attempt $attempt of $RETRIES" >&2
  sleep 20
done

python evaluate.py --run "$RUN"
