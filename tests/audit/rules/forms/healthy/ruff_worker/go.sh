#!/usr/bin/env bash
set -euo pipefail
python entry.py --data "$1" --out model.pt
cp model.pt "/srv/models/$(date +%F).pt"
