#!/bin/bash
# The coordinator hands out the curriculum; it may start long before or after the ranks.
export COORDINATOR_PORT=29871
python coordinator.py & coordinator=$!
torchrun --standalone --nproc-per-node 2 worker.py
code=$?
wait $coordinator
exit $code
