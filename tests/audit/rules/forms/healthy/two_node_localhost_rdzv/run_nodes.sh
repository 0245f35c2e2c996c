#!/usr/bin/env bash
set -euo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
source "$HERE/cluster.env"

NNODES=${#HOSTS[@]}
JOB_ID=${JOB_ID:-clip-$(date +%s)}
HEAD=${HOSTS[0]}

RDZV_HOST=${RDZV_HOST:-$HEAD}
RDZV_PORT=${RDZV_PORT:-29511}

pids=()
cleanup() {
  for pid in "${pids[@]}"; do
    kill "$pid" 2>/dev/null || true
  done
}
trap cleanup INT TERM

for host in "${HOSTS[@]}"; do
  echo "starting on $host (head $HEAD)"
  ssh -tt "$host" "cd $WORKDIR && \
    NCCL_SOCKET_IFNAME=$IFACE OMP_NUM_THREADS=4 \
    $VENV/bin/torchrun \
      --nnodes=$NNODES \
      --nproc-per-node=$GPUS_PER_NODE \
      --rdzv-backend=c10d \
      --rdzv-id=$JOB_ID \
      --rdzv-endpoint=$RDZV_HOST:$RDZV_PORT \
      train_clip.py --config configs/clip.yaml" &
  pids+=($!)
done

rc=0
for pid in "${pids[@]}"; do
  wait "$pid" || rc=$?
done
exit "$rc"
