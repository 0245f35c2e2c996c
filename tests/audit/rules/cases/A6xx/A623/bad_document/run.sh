#!/bin/bash
leader=node1
for part in a b; do
    bash -s -- "$part" <<'END'
if [ "$(hostname)" = "$leader" ]; then
    python train.py --part "$1"
fi
END
done
