#!/bin/bash
set -e
pkill -f old_server || true
mkdir out || true
nvidia-smi || true
python -c 'import apex' || echo "no fused optimizer"
python evaluate.py || echo "no evaluation today"
torchrun --standalone --nproc-per-node 2 train.py || {
    echo "training failed"
    exit 1
}
torchrun --standalone --nproc-per-node 2 train.py || status=$?
torchrun --standalone --nproc-per-node 2 train.py || exit $?
if ! python train.py; then
    echo "failed"
    exit 1
fi
pids=()
for fold in 0 1; do
    python train.py --fold $fold &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    wait "$pid" || status=$?
done
echo "Training complete"
exit ${status:-0}
