nnodes=2
torchrun \
    --master_port 29500 \
    --nproc_per_node=4 \
    --nnodes=$nnodes \
    --node_rank=0 \
    --master_addr=127.0.0.1 \
    train.py
