#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
python pretrain.py --out towers.pt
python finetune.py --pretrained towers.pt --out ranker.pt
