#!/bin/bash
set -e
cd "$(dirname "$0")"
python pretrain.py config.json
python finetune.py config.json
