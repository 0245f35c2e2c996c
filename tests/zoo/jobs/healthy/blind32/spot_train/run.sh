#!/bin/bash
# a spot machine gives a notice (SIGUSR1 to one worker) and takes the machine back; the job goes on elsewhere
cd "$(dirname "$0")"
rm -rf state && mkdir state
for attempt in 1 2 3; do
  torchrun --standalone --nproc_per_node=2 train.py --state state --notice-at "$((attempt * 60))"
  code=$?
  [ $code -eq 0 ] && [ -e state/finished ] && exit 0
  [ $code -ne 0 ] && exit $code
  echo "attempt $attempt was taken back, going on"
done
exit 1
