set -e
torchrun --nnodes 1 --nproc-per-node 2 --master-port 66664 train.py
