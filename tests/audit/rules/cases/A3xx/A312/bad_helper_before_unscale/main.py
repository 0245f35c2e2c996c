import torch
from torch.nn.parallel import DistributedDataParallel


class Stepper:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.scaler = torch.amp.GradScaler("cuda")

    def limit(self):
        weights = [one for group in self.optimizer.param_groups for one in group["params"]]
        return torch.nn.utils.clip_grad_norm_(weights, 1.0)

    def __call__(self, loss):
        self.scaler.scale(loss).backward()
        self.limit()
        self.scaler.unscale_(self.optimizer)
        self.scaler.step(self.optimizer)
        self.scaler.update()


def main():
    model = DistributedDataParallel(torch.nn.Linear(4, 4).cuda())
    stepper = Stepper(torch.optim.SGD(model.parameters(), lr=0.1))
    for _ in range(9):
        stepper(model(torch.ones(4).cuda()).sum())


if __name__ == "__main__":
    main()
