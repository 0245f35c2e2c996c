import torch
import torch.distributed as dist

from callbacks import LossPrinter, TokenPreview
from config import MoEConfig
from moe import ExpertParallelLayer
from symm_pool import SymmetricPool
from trainer import Trainer


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    cfg = MoEConfig()
    torch.manual_seed(cfg.seed)
    pool = SymmetricPool(capacity=4 * cfg.tokens * cfg.dim)
    preview = TokenPreview(cfg.preview_every)
    trainer = Trainer(cfg, ExpertParallelLayer(cfg, pool), rank, [LossPrinter(), preview])
    trainer.fit()
    if rank == 0:
        print(preview.render())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
