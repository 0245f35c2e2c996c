#!/bin/bash
for host in a b; do ssh "$host" nvidia-smi dmon & watchers+=($!); done
python train.py
code=$?
kill "${watchers[@]}"
for pid in "${watchers[@]}"; do wait "$pid"; done
exit $code
