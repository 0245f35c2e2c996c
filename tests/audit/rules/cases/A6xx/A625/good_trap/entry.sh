#!/bin/bash
trap 'kill -TERM "$child"' TERM
python train.py "$@" &
child=$!
wait "$child"
