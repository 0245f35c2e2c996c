"""Synchronous parameter server: rank 0 serves, the other ranks compute gradients."""
import torch
import torch.distributed as dist
import torch.nn as nn

STOP = -1.0


def flat(tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


def load_flat(params, vec):
    at = 0
    for p in params:
        p.data.copy_(vec[at: at + p.numel()].view_as(p))
        at += p.numel()


def serve(model, steps, lr):
    params = list(model.parameters())
    opt = torch.optim.SGD(params, lr=lr, momentum=0.9)
    size = sum(p.numel() for p in params)
    active = set(range(1, dist.get_world_size()))
    updates = 0
    while active:
        weights = flat([p.data for p in params])
        for w in sorted(active):
            dist.send(weights, w)
        grads, finished = [], []
        for w in sorted(active):
            msg = torch.empty(size + 1)
            dist.recv(msg, w)
            if msg[0] == STOP:
                finished.append(w)
            else:
                grads.append(msg[1:])
        active -= set(finished)
        if grads:
            load = torch.stack(grads).mean(0)
            at = 0
            for p in params:
                p.grad = load[at: at + p.numel()].view_as(p).clone()
                at += p.numel()
            opt.step()
            updates += 1
            if updates % 40 == 0:
                print(f"[server] {updates} updates, {len(active)} workers left", flush=True)
    return updates


def work(model, batches):
    params = list(model.parameters())
    size = sum(p.numel() for p in params)
    for x, y in batches:
        vec = torch.empty(size)
        dist.recv(vec, 0)
        load_flat(params, vec)
        loss = nn.functional.cross_entropy(model(x), y)
        model.zero_grad()
        loss.backward()
        dist.send(torch.cat([loss.detach().reshape(1), flat([p.grad for p in params])]), 0)
    dist.recv(torch.empty(size), 0)
    dist.send(torch.full((size + 1,), STOP), 0)
