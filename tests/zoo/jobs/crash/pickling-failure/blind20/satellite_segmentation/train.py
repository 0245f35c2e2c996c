import torch
import torch.distributed as dist

from segkit.config import Config
from segkit.data import build_loader
from segkit.model import SmallSegNet
from segkit.trainer import Trainer


def main():
    cfg = Config.from_file("config.yaml")
    dist.init_process_group("gloo")
    torch.manual_seed(cfg.seed)
    loader, sampler = build_loader(cfg, dist.get_rank(), dist.get_world_size())
    model = SmallSegNet(cfg.data["bands"], cfg.data["classes"], **cfg.model)
    Trainer(cfg, model, loader, sampler).fit()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
