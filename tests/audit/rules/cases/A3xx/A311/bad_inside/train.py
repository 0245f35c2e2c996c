def train(model, optimizer, batches, every):
    with model.no_sync():
        for number, (x, y) in enumerate(batches):
            (model(x) - y).square().mean().backward()
            if (number + 1) % every == 0:
                optimizer.step()
                optimizer.zero_grad()
