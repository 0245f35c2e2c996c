import torch
import torch.distributed as dist


class Stage:
    """One part of the network. All forwards of a batch, then all backwards (GPipe)."""

    def __init__(self, index, count, width, micro):
        torch.manual_seed(index)
        self.index, self.width, self.micro = index, width, micro
        self.first, self.last = index == 0, index == count - 1
        self.net = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.Tanh())
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05)

    def run(self, batch_size):
        kept = self.forwards(batch_size)
        for x, y in kept:
            self.backward(x, y)
        self.opt.step()
        self.opt.zero_grad()

    def forwards(self, batch_size):
        kept = []
        if self.first:
            # the input is cut by the loader, which drops what does not fill a micro-batch
            inputs = torch.randn(batch_size, self.width)[: batch_size // self.micro * self.micro].split(self.micro)
        else:
            inputs = (self.receive(self.index - 1) for _ in range(batch_size // self.micro))
        for x in inputs:
            y = self.net(x)
            if not self.last:
                dist.send(y.detach(), self.index + 1)
            kept.append((x, y))
        return kept

    def backward(self, x, y):
        if self.last:
            y.square().mean().backward()
        else:
            gradient = torch.empty_like(y)
            dist.recv(gradient, self.index + 1)
            y.backward(gradient)
        if not self.first:
            dist.send(x.grad, self.index - 1)

    def receive(self, source):
        x = torch.empty(self.micro, self.width)
        dist.recv(x, source)
        return x.requires_grad_()
