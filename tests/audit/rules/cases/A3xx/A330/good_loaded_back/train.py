import copy

from diffusers import EMAModel


def main(model, loader, optimizer, epochs):
    ema = EMAModel(model.parameters())
    for epoch in range(epochs):
        for x in loader:
            model(x).mean().backward()
            optimizer.step()
            ema.step(model.parameters())
        ema.store(model.parameters())
        kept = copy.deepcopy(model.state_dict())
        ema.copy_to(model.parameters())
        print(model(x).mean().item())
        model.load_state_dict(kept)
