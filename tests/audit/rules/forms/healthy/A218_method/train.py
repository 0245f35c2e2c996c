import torch
import torch.distributed as dist


class Averager:
    def __init__(self, model):
        self.model = model

    def _reduce(self, tensor):
        return dist.all_reduce(tensor, async_op=True)

    def average(self):
        for p in self.model.parameters():
            self._reduce(p.grad).wait()
            p.grad /= dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    averager = Averager(model)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(1, 2)).sum().backward()
        averager.average()
        optimizer.step()
    dist.destroy_process_group()


main()
