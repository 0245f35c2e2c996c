import torch
import torch.distributed as dist

from engine import Budget, Trainer
from report import RunIndex


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    index = RunIndex("previous_runs") if dist.get_rank() == 0 else None
    trainer = Trainer(torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.GELU(), torch.nn.Linear(64, 1)), Budget(seconds=6.0, max_steps=200_000))
    trainer.fit()
    trainer.summary(index)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
