import torch


def standardised(values):
    centre = values.mean(dim=0)
    return (values - centre) / values.std(dim=0)


def windows(series, history, ahead):
    inputs, targets = [], []
    for begin in range(len(series) - history - ahead):
        part = series[begin : begin + history + ahead]
        part = standardised(part)
        inputs.append(part[:history])
        targets.append(part[history:])
    return torch.stack(inputs), torch.stack(targets)
