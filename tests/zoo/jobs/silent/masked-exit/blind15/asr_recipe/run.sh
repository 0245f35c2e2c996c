#!/usr/bin/env bash
# stage 0: data, stage 1: training, stage 2: decoding with the last checkpoint
set -eu

stage=0
stop_stage=2
nj=2
exp=exp/conformer_tiny
epochs=4

. local/parse_options.sh

mkdir -p "$exp" data

if [ $stage -le 0 ] && [ $stop_stage -ge 0 ]; then
  echo "$(date +%T) stage 0: prepare data"
  python local/prepare.py --out data --utterances 600
fi

if [ $stage -le 1 ] && [ $stop_stage -ge 1 ]; then
  echo "$(date +%T) stage 1: train"
  torchrun --standalone --nproc-per-node "$nj" local/train.py --data data/train.pt --exp "$exp" \
    --epochs "$epochs" 2>&1 | tee "$exp/train.log"
fi

if [ $stage -le 2 ] && [ $stop_stage -ge 2 ]; then
  echo "$(date +%T) stage 2: decode"
  python local/decode.py --data data/test.pt --model "$exp/last.pt" > "$exp/result.txt"
  cat "$exp/result.txt"
fi
