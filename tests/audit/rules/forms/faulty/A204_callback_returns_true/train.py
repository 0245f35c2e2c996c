import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from callbacks import NanGuard


class Loop:
    def __init__(self, model, callbacks):
        self.model = model
        self.callbacks = callbacks
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(self, x):
        self.optimizer.zero_grad()
        loss = self.model(x).mean()
        stop = [c.after_step({"loss": loss.detach()}) for c in self.callbacks]
        if any(stop):  # cause
            return False
        loss.backward()
        self.optimizer.step()
        return True


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    loop = Loop(DDP(torch.nn.Linear(4, 1)), [NanGuard()])
    torch.manual_seed(dist.get_rank())
    for _ in range(100):
        loop.step(torch.randn(4, 4))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
