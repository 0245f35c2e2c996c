#!/bin/bash
cd "$(dirname "$0")"
source settings.env
# start with an empty cache so that a changed stride is never mixed with old tiles
rm -rf "$CACHE"
# warm the cache within the budget of the prolog; what is missing is made at the start of training
timeout --signal=KILL "$WARM_SECONDS" python -m geo.warm --cache "$CACHE" || echo "warm-up ended by its budget"
exec torchrun --standalone --nproc_per_node=2 -m geo.train --cache "$CACHE"
