torchrun --nproc_per_node 8 train.py --output_dir out --gradient_accumulation_steps 4
