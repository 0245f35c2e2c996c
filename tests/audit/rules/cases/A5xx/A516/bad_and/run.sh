#!/bin/bash
attempts=0
while ! python train.py --resume; do
    code=$?
    attempts=$((attempts + 1))
    if [ "$attempts" -gt 3 ]; then
        exit "$code"
    fi
done
! torchrun train.py --last && exit "$?"
