#!/bin/bash
set -e
for shard in 0 1 2; do
    python shard.py $shard 2> err_$shard.txt &
done
wait
echo "all shards trained"
