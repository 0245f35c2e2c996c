import torch


def sample(model, shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return model.decode(torch.randn(shape, generator=generator))


def sample_alone(model, shape):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return model.decode(torch.randn(shape))


def sample_back(model, shape):
    state = torch.get_rng_state()
    torch.manual_seed(0)
    out = model.decode(torch.randn(shape))
    torch.set_rng_state(state)
    return out


def train(model, loader, optimizer, epochs, seed):
    torch.manual_seed(seed)
    for epoch in range(epochs):
        torch.manual_seed(seed + epoch)
        for step, batch in enumerate(loader):
            model(batch).backward()
            optimizer.step()
        sample(model, (4, 3))
        sample_alone(model, (4, 3))
        sample_back(model, (4, 3))
