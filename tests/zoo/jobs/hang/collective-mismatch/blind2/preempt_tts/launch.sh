#!/usr/bin/env bash
# Runs the training the way the batch system does: the scheduler's warning arrives
# some time before the limit and is passed on to the trainer.
set -u
cd "$(dirname "$0")"
RUN_DIR=${RUN_DIR:-$(mktemp -d)}
export RUN_DIR
NPROC=${NPROC:-2}
WARN_AFTER=${WARN_AFTER:-2}

torchrun --standalone --nproc-per-node "$NPROC" train.py --config tts.yaml &
launcher=$!

forward_warning() {
    while [ ! -s "$RUN_DIR/trainer.pid" ]; do
        kill -0 "$launcher" 2>/dev/null || return
        sleep 0.2
    done
    sleep "$WARN_AFTER"
    echo "limit is near, asking the trainer for a checkpoint"
    kill -USR1 "$(cat "$RUN_DIR/trainer.pid")"
}

forward_warning
wait "$launcher"
code=$?
rm -rf "$RUN_DIR"
exit $code
