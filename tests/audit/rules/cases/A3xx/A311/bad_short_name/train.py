from contextlib import nullcontext


def train(model, opt, batches):
    for number, (x, y) in enumerate(batches):
        last = (number + 1) % 4 == 0
        with model.no_sync() if last else nullcontext():
            (model(x) - y).square().mean().backward()
        if last:
            opt.step()
            opt.zero_grad()
