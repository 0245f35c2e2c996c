import copy

import torch


class Averaged:
    def __init__(self, net, decay=0.9999):
        self.decay = decay
        self.shadow = copy.deepcopy(net)

    @torch.no_grad()
    def update(self, net):
        for mine, theirs in zip(self.shadow.parameters(), net.parameters()):
            mine.mul_(self.decay).add_(theirs, alpha=1 - self.decay)


def main(make, vae, loader, device):
    unet = make().to(device, torch.float32)
    vae.to(device, dtype=torch.bfloat16)
    average = Averaged(unet)
    for batch in loader:
        with torch.autocast("cuda", torch.bfloat16):
            loss = unet(vae.encode(batch))
        loss.backward()
        average.update(unet)
