import torch
import torch.distributed as dist
from torch import nn

from config import Config
from data import loaders
from trainer.callbacks import EarlyStopping, PrintLogs
from trainer.core import Trainer


def main():
    cfg = Config()
    dist.init_process_group("gloo")
    torch.manual_seed(cfg.seed)
    model = nn.Sequential(nn.Linear(cfg.features, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, 1))
    trainer = Trainer(cfg, model, [PrintLogs(), EarlyStopping("valid_loss", cfg.patience, cfg.min_delta)])
    result = trainer.fit(*loaders(cfg, dist.get_rank()))
    if dist.get_rank() == 0:
        print("done", result)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
