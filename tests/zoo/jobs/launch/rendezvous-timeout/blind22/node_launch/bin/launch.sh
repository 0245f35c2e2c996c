#!/usr/bin/env bash
# One process per entry of the host file, as on the cluster.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
hosts=${1:-$here/hosts}
export MASTER_ADDR=127.0.0.1
export MASTER_PORT=$(python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export WORLD_SIZE=$(wc -l < "$hosts")
export PYTHONPATH=$here/lib

rank=0
pids=()
while read -r host slots; do
  case $host in ''|'#'*) continue ;; esac
  RANK=$rank NODE=$host python "$here/pretrain.py" &
  pids+=($!)
  rank=$((rank + 1))
done < "$hosts"

status=0
for pid in "${pids[@]}"; do
  wait "$pid" || status=$?
done
exit $status
