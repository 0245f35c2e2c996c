import torch

from config import FitConfig
from lit_module import RingData, SurrogateModule
from strategy import FSDP2Strategy
from trainer import Trainer


def main():
    cfg = FitConfig()
    strategy = FSDP2Strategy()
    strategy.setup_environment()
    torch.manual_seed(cfg.seed)
    trainer = Trainer(cfg, strategy)
    trainer.fit(SurrogateModule(cfg), RingData(cfg, strategy.rank))
    strategy.teardown()


if __name__ == "__main__":
    main()
