"""Averages that go into another model, at the end, over weights that are kept, or by design."""

import copy

import torch
import torch.nn.functional as F
from diffusers import EMAModel


def evaluate(net, loader):
    with torch.no_grad():
        return sum(net(x).mean().item() for x, _ in loader)


def into_a_copy(net, loader, optimizer, epochs):
    ema = EMAModel(net.parameters())
    sampler = copy.deepcopy(net)
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
            ema.step(net.parameters())
        ema.copy_to(sampler.parameters())
        evaluate(sampler, loader)


def at_the_end(net, loader, optimizer, epochs):
    ema = EMAModel(net.parameters())
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
            ema.step(net.parameters())
        if epoch == epochs - 1:
            ema.copy_to(net.parameters())
            evaluate(net, loader)
    ema.copy_to(net.parameters())
    evaluate(net, loader)


def kept_by_hand(net, loader, optimizer, epochs):
    ema = EMAModel(net.parameters())
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
            ema.step(net.parameters())
        kept = [p.detach().clone() for p in net.parameters()]
        ema.copy_to(net.parameters())
        evaluate(net, loader)
        with torch.no_grad():
            for p, old in zip(net.parameters(), kept):
                p.copy_(old)


def put_average_in(ema, net):
    ema.collected = [p.detach().clone() for p in net.parameters()]
    ema.copy_to(net.parameters())
    net.eval()


def by_functions(net, loader, optimizer, epochs):
    ema = EMAModel(net.parameters())
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
            ema.step(net.parameters())
        put_average_in(ema, net)
        evaluate(net, loader)
        ema.restore(net.parameters())


def out_of_a_spike(net, ema_net, loader, optimizer, epochs):
    for _ in range(epochs):
        for x, y in loader:
            loss = F.cross_entropy(net(x), y)
            if not torch.isfinite(loss):
                net.load_state_dict(ema_net.state_dict())
                continue
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        evaluate(ema_net, loader)


def slow_weights(net, slow, loader, optimizer, epochs):
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
            slow.step(net.parameters())
        slow.copy_to(net.parameters())
        evaluate(net, loader)


def of_the_teacher(net, ema_net, loader, optimizer, epochs):
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), ema_net(x).argmax(1)).backward()
            optimizer.step()
        ema_net.load_state_dict(net.state_dict())
        evaluate(net, loader)


@torch.no_grad()
def drawn(net, ema, noise):
    ema.copy_to(net.parameters())
    return net(noise)


def kept_around(net, loader, optimizer, epochs, noise):
    ema = EMAModel(net.parameters())
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
            ema.step(net.parameters())
        ema.store(net.parameters())
        drawn(net, ema, noise)
        ema.restore(net.parameters())


if __name__ == "__main__":
    shown = torch.nn.Linear(2, 2)
    average = EMAModel(shown.parameters())
    average.copy_to(shown.parameters())
    evaluate(shown, [])
