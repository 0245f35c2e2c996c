#!/bin/bash
status=0
torchrun --standalone train.py || status=$?
if [ "$status" -ne 0 ]; then
    exit "$status"
fi
if ! torchrun train.py --more; then
    echo "failed"
    tail -n 3 train.log
    echo "tail ended with $?"
    exit 1
fi
if torchrun train.py --most; then
    echo done
else
    exit $?
fi
if ! grep -q done train.log; then
    exit $?
fi
