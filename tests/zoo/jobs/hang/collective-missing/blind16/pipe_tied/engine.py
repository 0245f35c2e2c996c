import torch
import torch.distributed as dist
import torch.nn.functional as F

from stages import build, thaw_plan


class Engine:
    def __init__(self, layout, cfg):
        self.l, self.cfg = layout, cfg
        self.net = build(layout, cfg)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=cfg.lr)
        self.plan = thaw_plan(self.net, cfg)

    def apply_plan(self, k):
        for name in self.plan.get(k, ()):
            p = self.net.get_parameter(name)
            p.requires_grad_(False)
            p.grad = None

    def forward_backward(self, tok):
        l = self.l
        if l.first:
            h = self.net(tok[:, :-1])
            dist.send(h.detach().contiguous(), l.peer)
            g = torch.empty(h.shape)
            dist.recv(g, l.peer)
            h.backward(g)
            return None
        h = torch.empty(tok.shape[0], tok.shape[1] - 1, self.cfg.dim)
        dist.recv(h, l.peer)
        h.requires_grad_()
        loss = F.cross_entropy(self.net(h).flatten(0, 1), tok[:, 1:].flatten())
        loss.backward()
        dist.send(h.grad, l.peer)
        return loss.item()

    def sync(self):
        w = self.net.word.weight
        if w.grad is not None:
            dist.all_reduce(w.grad, group=self.l.ends)
        for p in self.net.parameters():
            if p.requires_grad:
                dist.all_reduce(p.grad, group=self.l.replicas)
                p.grad /= self.l.width

    def update(self, k, tok):
        self.apply_plan(k)
        self.opt.zero_grad()
        loss = self.forward_backward(tok)
        self.sync()
        self.opt.step()
        return loss
