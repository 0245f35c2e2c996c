#!/bin/bash
# Two allocations of one job: the first is asked to stop, the second goes on where it stopped.
set -u
OUT=${OUT:-exp}
rm -rf "$OUT"; mkdir -p "$OUT"
launch() { torchrun --standalone --nproc_per_node=2 jepa.py --out "$OUT"; }

launch &
JOB=$!
for _ in $(seq 120); do
    [ -f "$OUT/rank1.pid" ] && [ -f "$OUT/ckpt.pt" ] && break
    sleep 0.5
done
sleep 1
echo "[slurm] preempting one node"
kill -USR1 "$(cat "$OUT/rank1.pid")"
wait $JOB; code=$?
echo "[slurm] first allocation ended with $code"
[ $code -eq 0 ] || exit $code
if [ -f "$OUT/requeue" ]; then
    rm "$OUT/requeue"
    echo "[slurm] requeued"
    launch
fi
