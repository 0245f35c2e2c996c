#!/usr/bin/env bash
set -euo pipefail
ACTORS=${ACTORS:-2}
export MASTER_ADDR=127.0.0.1 MASTER_PORT=${MASTER_PORT:-29688} WORLD_SIZE=$ACTORS
mkdir -p logs
for r in $(seq 0 $((ACTORS - 1))); do
  RANK=$r python -u reinforce.py --iterations 120 > logs/actor_$r.log 2>&1 &
done
wait
tail -n 2 logs/actor_0.log
echo "run finished, logs in logs/"
