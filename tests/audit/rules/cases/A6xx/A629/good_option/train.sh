#!/usr/bin/env bash
torchrun --nproc_per_node=8 train.py \
    --model_name_or_path Qwen/Qwen2.5-7B \
    --fsdp "full_shard auto_wrap" \
    --fsdp_transformer_layer_cls_to_wrap Qwen2DecoderLayer
