#!/bin/bash
tries=1
until python train.py; do
    tries=$((tries + 1))
    if [ "$tries" -gt 5 ]; then
        echo "giving up" >&2
        exit 1
    fi
    echo "attempt $tries"
    sleep 0.2
done
echo "done after $tries attempts"
