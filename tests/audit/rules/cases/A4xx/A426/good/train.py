from torch.optim.lr_scheduler import LambdaLR, StepLR


def by_step(model, loader, optimizer, start_epoch, epochs):
    scheduler = LambdaLR(optimizer, lambda step: 0.99**step, last_epoch=start_epoch * len(loader) - 1)
    for epoch in range(start_epoch, epochs):
        for batch in loader:
            model(batch).backward()
            optimizer.step()
            scheduler.step()


def by_epoch(model, loader, optimizer, start_epoch, epochs):
    scheduler = StepLR(optimizer, 30, last_epoch=start_epoch - 1)
    for epoch in range(start_epoch, epochs):
        for batch in loader:
            model(batch).backward()
            optimizer.step()
        scheduler.step()
