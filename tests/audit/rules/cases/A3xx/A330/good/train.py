from diffusers import EMAModel


def log_validation(model, ema, loader):
    ema.store(model.parameters())
    ema.copy_to(model.parameters())
    try:
        return sum(model(x).mean().item() for x in loader)
    finally:
        ema.restore(model.parameters())


def main(model, loader, optimizer, epochs):
    ema = EMAModel(model.parameters())
    for epoch in range(epochs):
        for x in loader:
            model(x).mean().backward()
            optimizer.step()
            ema.step(model.parameters())
        print(log_validation(model, ema, loader))
