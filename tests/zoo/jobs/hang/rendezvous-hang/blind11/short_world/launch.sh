#!/bin/bash
source cluster.env
export MASTER_ADDR=127.0.0.1
export MASTER_PORT=$(python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export WORLD_SIZE=$((NODES * PER_NODE))
pids=()
for ((local = 0; local < PER_NODE; local++)); do
    RANK=$((NODE_ID * PER_NODE + local)) LOCAL_RANK=$local python worker.py &
    pids+=($!)
done
status=0
for pid in "${pids[@]}"; do
    wait "$pid" || status=$?
done
exit $status
