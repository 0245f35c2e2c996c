import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self):
        self.model = DistributedDataParallel(nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1)))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def train_step(self, depth):
        predicted = self.model(depth)
        loss = (predicted - depth.min(1, keepdim=True).values.log()).pow(2).mean()
        if torch.isnan(loss) or torch.isinf(loss):
            return None
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(3)
    trainer = Trainer()
    generator = torch.Generator().manual_seed(dist.get_rank())
    losses = []
    for step in range(80):
        depth = torch.rand(16, 5, generator=generator) + 0.1 - 0.02 * step
        losses.append(trainer.train_step(depth))
    if dist.get_rank() == 0:
        print(f"{sum(loss is not None for loss in losses)} losses, training finished")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
