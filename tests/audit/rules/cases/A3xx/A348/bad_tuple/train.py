import numpy as np
import torch
import torch.nn.functional as F

GAMMA = 0.99


def learn(net, frozen, memory, optimizer, log):
    s, a, r, s2, d = zip(*memory.draw(32))
    s, s2 = torch.from_numpy(np.stack(s)), torch.from_numpy(np.stack(s2))
    r = torch.tensor(r).float()
    ended = torch.tensor(d).float()
    log("ended", ended.mean())
    best = frozen(s2).max(dim=1)[0].detach()
    wanted = GAMMA * best + r
    value = net(s)[torch.arange(len(s)), torch.tensor(a)]
    loss = F.smooth_l1_loss(value, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
