set -e
GPUS=8
LAUNCH="
    --nproc_per_node $GPUS \
    --nnodes 1 \
    --standalone
"
torchrun $LAUNCH train.py
