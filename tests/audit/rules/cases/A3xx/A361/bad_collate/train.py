import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def collate(rows):
    tokens = pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=3)
    targets = tokens.detach().clone()
    return tokens, targets


def main(model, data):
    loader = DataLoader(data, batch_size=8, shuffle=True, collate_fn=collate)
    optimizer = torch.optim.AdamW(model.parameters())
    criterion = nn.CrossEntropyLoss()
    for tokens, targets in loader:
        logits = model(tokens[:, :-1])
        loss = criterion(logits.flatten(0, 1), targets[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
