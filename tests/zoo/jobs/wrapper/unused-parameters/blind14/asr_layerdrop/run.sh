#!/usr/bin/env bash
set -euo pipefail
stage=${stage:-1}
conf=${conf:-conf.yaml}
nj=${nj:-2}
if [ "$stage" -le 1 ]; then
  echo "$0: training with $conf on $nj workers"
  torchrun --standalone --nproc-per-node "$nj" train_ctc.py "$conf"
fi
