"""Steps of all ranks beside steps of one."""
import torch
import torch.distributed as dist
import wandb


class Learner:
    def __init__(self, world_size):
        self.own, self.world_size = 0, world_size
        self.run = wandb.init(project="x") if dist.get_rank() == 0 else None

    def iterate(self, envs):
        self.own += envs
        total = torch.tensor(self.own)
        dist.all_reduce(total)
        if self.run is not None:
            self.run.log({"train/return": 0.0}, step=total.item())

    def evaluate(self):
        if self.run is not None:
            self.run.log({"eval/return": 0.0}, step=self.own)


def product(loader, world_size):
    seen = 0
    for batch in loader:
        seen += len(batch)
        wandb.log({"loss": 0.0}, step=seen * world_size)
        if seen % 100 == 0:
            wandb.log({"val": 0.0}, step=seen)


def every(loader, accumulate):
    step = 0
    for batch in loader:
        step += 1
        wandb.log({"loss": 0.0}, step=step)
        wandb.log({"norm": 0.0}, step=step // accumulate)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    learner = Learner(dist.get_world_size())
    for epoch in range(1000):
        learner.iterate(32)
        if epoch % 10 == 0:
            learner.evaluate()
    product(torch.utils.data.DataLoader([1]), dist.get_world_size())
