from tools import *


class Wrapped:
    """No wrapper of torch: it adds the gradients of the ranks up when it is told to."""

    def __init__(self, module):
        self.module = module

    def parameters(self):
        return self.module.parameters()

    def sync(self):
        for one in self.parameters():
            dist.all_reduce(one.grad, op=dist.ReduceOp.AVG)


def main(loader):
    dist.init_process_group("gloo")
    ddp = Wrapped(torch.nn.Linear(16, 1))
    model = ddp.module
    optimizer = torch.optim.AdamW(ddp.parameters(), 1e-3)
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        ddp.sync()
        optimizer.step()
    dist.destroy_process_group()


main(torch.load("data.pt"))
