nnodes=2
torchrun \
    --master_port 29500 \
    --nproc_per_node=4 \
    --nnodes=$nnodes \
    --node_rank=1 \
    --master_addr=xxx.xxx.xxx.xxx \
    train.py
