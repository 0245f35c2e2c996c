import torch


def fit(net, batches, optimizer, writer):
    losses = []
    try:
        for x in batches:
            loss = net(x).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    finally:
        writer.close()
        if losses:
            return sum(losses) / len(losses)
    return None
