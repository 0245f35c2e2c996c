#!/bin/bash
cleanup() {
    kill -TERM "$pid"
    wait
}
trap cleanup TERM
python train.py &
pid=$!
tail --pid="$pid" -f train.log
wait "$pid"
