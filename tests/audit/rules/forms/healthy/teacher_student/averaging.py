import copy

import torch


class Average:
    def __init__(self, net, decay=0.999):
        self.shadow = copy.deepcopy(net).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, net):
        live = net.state_dict()
        for name, value in self.shadow.state_dict().items():
            if value.is_floating_point():
                value.lerp_(live[name], 1 - self.decay)
            else:
                value.copy_(live[name])
