import torch.distributed as dist
import wandb

if not dist.is_initialized() or dist.get_rank() == 0:
    wandb.init(project="flow")
dist.init_process_group("nccl")
