import torch
import torch.distributed as dist

from rm.config import RewardConfig
from rm.data import PreferencePairs
from rm.modeling import SequenceClassifier
from rm.trainer import RewardTrainer

if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    cfg = RewardConfig()
    trainer = RewardTrainer(SequenceClassifier(cfg), cfg, PreferencePairs(cfg))
    trainer.train()
    dist.destroy_process_group()
