import torch
import torch.distributed as dist
from torch.nn import functional as F


def share_initial_weights(model):
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=0)


def average_weights(model, weight):
    total = torch.tensor([weight])
    dist.all_reduce(total)
    for parameter in model.parameters():
        parameter.data.mul_(weight)
        dist.all_reduce(parameter.data)
        parameter.data.div_(total.item())


class LocalRounds:
    def __init__(self, model, site, cfg):
        self.model, self.site, self.cfg = model, site, cfg
        self.optimizer = torch.optim.SGD(model.parameters(), lr=cfg["lr"], momentum=0.9)

    def run(self):
        for number in range(self.cfg["rounds"]):
            for _ in range(self.cfg["local_steps"]):
                x, y = self.site.batch(self.cfg["batch_size"])
                loss = F.mse_loss(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            average_weights(self.model, float(len(self.site.x)))
            if number % 10 == 0:
                print(f"round {number} site {dist.get_rank()} loss {loss.item():.4f}", flush=True)
