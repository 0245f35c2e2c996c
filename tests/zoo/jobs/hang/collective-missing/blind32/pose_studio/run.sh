#!/bin/bash
# trains and listens to the studio's control folder; SESSION_SECONDS ends the session from outside
cd "$(dirname "$0")"
mkdir -p control && rm -f control/*.json
( sleep "${SESSION_SECONDS:-8}"; until [ -e control/ready.json ]; do sleep 0.5; done; sleep 2
  echo '{"command": "stop"}' > control/inbox.tmp && mv control/inbox.tmp control/inbox.json ) &
exec torchrun --standalone --nproc_per_node=2 main.py --epochs 400
