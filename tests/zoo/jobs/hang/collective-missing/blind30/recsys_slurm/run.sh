#!/bin/bash
# Local twin of the sbatch script: same variables, same handling of the soft limit.
#   --signal=B:USR1@120 reaches this shell, the shell hands it on
set -u
export MASTER_ADDR=127.0.0.1 MASTER_PORT=${MASTER_PORT:-29547}
export WORLD_SIZE=${NTASKS:-2} OMP_NUM_THREADS=1
GRACE=${GRACE:-2}
OUT=${OUT:-runs/mf}
mkdir -p "$OUT"

for task in $(seq 0 $((WORLD_SIZE - 1))); do
    RANK=$task LOCAL_RANK=$task python -m recsys.train --out "$OUT" "$@" &
    PID=$!
done

trap 'echo "[run.sh] soft limit, asking for a checkpoint"; kill -USR1 $PID' USR1
# no slurm here: the soft limit comes a little after the first checkpoint
( while [ ! -f "$OUT/last.pt" ]; do sleep 1; done; sleep "$GRACE"; kill -USR1 $$ 2>/dev/null ) &
LIMIT=$!

status=0
while true; do
    wait $PID; status=$?
    [ $status -eq 138 ] && kill -0 $PID 2>/dev/null && continue
    break
done
wait $(jobs -p | grep -v "^$LIMIT$")
kill $LIMIT 2>/dev/null
[ -f "$OUT/REQUEUE" ] && echo "[run.sh] would requeue now"
exit $status
