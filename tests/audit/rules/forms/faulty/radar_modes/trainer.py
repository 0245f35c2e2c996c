from torch import nn


class Trainer:
    def __init__(self, net, opt, hooks, device):
        self.net, self.opt, self.hooks, self.device = net, opt, hooks, device
        self.lossf = nn.CrossEntropyLoss()

    def batches(self, loader, steps):
        epoch, done = 0, 0
        while True:
            loader.sampler.set_epoch(epoch)
            for batch in loader:
                yield batch
                done += 1
                if done == steps:
                    return
            epoch += 1

    def run(self, loader, steps):
        self.net.train()  # cause
        for step, (x, y) in enumerate(self.batches(loader, steps), 1):
            self.opt.zero_grad(set_to_none=True)
            loss = self.lossf(self.net(x.to(self.device)), y.to(self.device))
            loss.backward()
            self.opt.step()
            for hook in self.hooks:
                hook.after_step(step, self)
