def train(model, opt, batches, every):
    for group in batches:
        with model.no_sync():
            for x, y in group[:-1]:
                (model(x) - y).square().mean().backward()
        x, y = group[-1]
        (model(x) - y).square().mean().backward()
        opt.step()
        opt.zero_grad()
