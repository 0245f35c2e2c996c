import copy

import torch


class GeneratorEma:
    def __init__(self, net, decay, start):
        self.net, self.decay, self.start = copy.deepcopy(net).requires_grad_(False), decay, start

    @torch.no_grad()
    def update(self, net, step):
        if step < self.start:
            return
        if step == self.start:
            self.net.load_state_dict(net.state_dict())
        for kept, now in zip(self.net.parameters(), net.parameters()):
            kept.lerp_(now, 1 - self.decay)
        for kept, now in zip(self.net.buffers(), net.buffers()):
            kept.copy_(now)
