set -e
python3.6 -m torch.distributed.launch --nproc_per_node=2 train.py
