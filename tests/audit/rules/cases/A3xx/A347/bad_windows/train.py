import torch


def windows(series, length):
    xs, ys, scales = [], [], []
    for i in range(len(series) - length):
        window = series[i : i + length]
        center, scale = window.mean(), window.std()
        xs.append((window - center) / scale)
        ys.append(series[i + length])
        scales.append({"center": center, "scale": scale})
    return torch.stack(xs), torch.stack(ys), scales


def main(series, net, optimizer, criterion):
    xs, ys, scales = windows(series, 24)
    for x, y in zip(xs, ys):
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
    for x, one in zip(xs, scales):
        print(net(x) * one["scale"] + one["center"])
