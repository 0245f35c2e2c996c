from torch.optim.lr_scheduler import LambdaLR


def train(model, loader, optimizer, state, epochs):
    start_epoch = state["epoch"]
    scheduler = LambdaLR(optimizer, lambda step: 0.99**step, last_epoch=start_epoch - 1)
    scheduler.load_state_dict(state["scheduler"])
    for epoch in range(start_epoch, epochs):
        for batch in loader:
            model(batch).backward()
            optimizer.step()
            scheduler.step()
