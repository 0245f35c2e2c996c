#!/bin/sh
set -e
export MASTER_ADDR=127.0.0.1 MASTER_PORT=${MASTER_PORT:-29677}
rm -rf members || true
test -f cache.bin || echo "no cache, building tables in memory"
exec python ensemble.py --folds "${FOLDS:-3}" "$@"
