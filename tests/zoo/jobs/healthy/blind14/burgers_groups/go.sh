#!/usr/bin/env bash
set -e
torchrun --standalone --nproc-per-node "${WORLD:-4}" -m dd.train --parts 2 "$@"
