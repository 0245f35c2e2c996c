#!/bin/bash
set -e
start=$(date +%s)
if [ "${LOCAL_WORLD_SIZE:-1}" -gt 1 ]; then
    python -u train.py
else
    torchrun --standalone --nproc-per-node 8 train.py
fi
code=$?
end=$(date +%s)
echo "RESULT,$((end - start))"
if [[ $code != 0 ]]; then
    echo "failed with $code"
    exit $code
fi
exit 0
