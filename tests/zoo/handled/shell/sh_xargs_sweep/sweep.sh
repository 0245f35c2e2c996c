#!/bin/bash
# xargs says 123 when any trial failed; which one it was stands in status.tsv
printf '%s\n' 0.1 0.01 100 | xargs -n 1 -P 2 sh -c 'python trial.py "$0" > "out_$0.txt" 2>&1; rc=$?; echo "$0 $rc" >> status.tsv; exit $rc'
rc=$?
if [ "$rc" -ne 0 ] && [ "$rc" -ne 123 ]; then
    exit "$rc"
fi
sort -n status.tsv
good=$(grep -c ' 0$' status.tsv)
echo "$good of 3 trials are usable"
[ "$good" -ge 2 ]
