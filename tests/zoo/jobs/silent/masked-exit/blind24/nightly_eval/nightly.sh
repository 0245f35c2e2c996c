#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")"
source common.sh
RESULTS=$(mktemp)
log "nightly retrieval models"
train_model small 32
train_model base 64
train_model odd 48
log "all models trained, $(wc -l < "$RESULTS") results"
rm -f "$RESULTS"
