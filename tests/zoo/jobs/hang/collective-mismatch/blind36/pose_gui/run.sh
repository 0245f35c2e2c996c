#!/bin/bash
set -e
cd "$(dirname "$0")"
REPORT=${REPORT:-29762}
CONTROL=${CONTROL:-29761}
python monitor.py $REPORT $CONTROL 15 &
MONITOR=$!
trap 'kill $MONITOR 2>/dev/null || true' EXIT
torchrun --standalone --nproc_per_node=2 train_pose.py --report-port $REPORT --control-port $CONTROL
