#!/bin/bash
# the queue gives each job 2500 MB; do the same here
group=/sys/fs/cgroup/memory/demand-$$
mkdir $group
echo 2500M > $group/memory.limit_in_bytes
trap 'rmdir $group 2>/dev/null' EXIT
(
    echo $BASHPID > $group/cgroup.procs
    exec torchrun --standalone --nproc-per-node 2 train.py --config config.yaml
)
status=$?
exit $status
