import torch


class Probe:
    def __init__(self, every, x, y):
        self.every, self.x, self.y = every, x, y

    def after_step(self, net, step):
        if step % self.every:
            return
        net.eval()
        with torch.no_grad():
            acc = (net.module(self.x).argmax(1) == self.y).float().mean()
        print(f"step {step} probe {acc:.3f} training={net.training}", flush=True)
