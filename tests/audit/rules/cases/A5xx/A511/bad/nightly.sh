#!/bin/bash
set -e
torchrun --standalone --nproc-per-node 2 train.py || true
accelerate launch finetune.py \
    --epochs 3 || {
    echo "fine-tuning failed"
}
for seed in 1 2; do
    python train.py --seed "$seed" || echo "seed $seed failed"
done
bash -c "torchrun --nproc-per-node 2 train.py || :"
tar cf results.tar out/
