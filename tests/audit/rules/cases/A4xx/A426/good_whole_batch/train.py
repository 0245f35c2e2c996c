from torch.optim.lr_scheduler import ExponentialLR


def fit(model, inputs, targets, optimizer, first_epoch, epochs):
    scheduler = ExponentialLR(optimizer, 0.99, last_epoch=first_epoch - 1)
    for epoch in range(first_epoch, epochs):
        loss = model(inputs, targets)
        loss.backward()
        optimizer.step()
        scheduler.step()
