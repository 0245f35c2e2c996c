#!/usr/bin/env bash
set -eu
WORLD=${WORLD:-2}
export MASTER_ADDR=127.0.0.1 MASTER_PORT=${MASTER_PORT:-29672} WORLD_SIZE=$WORLD
mkdir -p logs shards
python -m ranker.make_shards --out shards --parts 3
for ((r = 0; r < WORLD; r++)); do
  RANK=$r LOCAL_RANK=$r python -m ranker.train --shards shards >"logs/rank$r.log" 2>&1 &
done
wait
tail -n 3 logs/rank*.log
echo "launch: all $WORLD ranks have ended"
