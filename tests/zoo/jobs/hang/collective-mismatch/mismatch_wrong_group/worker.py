import torch
import torch.distributed as dist


class Worker:
    def __init__(self, layout):
        self.layout = layout
        self.net = torch.nn.Linear(8, 8)
        for p in self.net.parameters():
            dist.all_reduce(p.data, group=layout.pair)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05)

    def train_step(self, step):
        g = torch.Generator().manual_seed(step * 10 + self.layout.replica)
        x = torch.randn(16, 8, generator=g)
        loss = (self.net(x) - (x if self.layout.stage else -x)).square().mean()
        self.opt.zero_grad()
        loss.backward()
        for p in self.net.parameters():
            dist.all_reduce(p.grad, group=self.layout.pair)
            p.grad /= self.layout.replicas
        self.opt.step()
        return loss.detach()

    def mean_loss(self, loss, step):
        # the last rank writes the summary and wants the loss of everybody
        group = self.layout.everyone if self.layout.is_last and step > 12 else self.layout.pair
        dist.all_reduce(loss, group=group)
        return loss.item() / dist.get_world_size(group)
