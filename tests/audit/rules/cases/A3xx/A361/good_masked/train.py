import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def collate(rows):
    tokens = pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=3)
    targets = tokens.clone()
    targets[tokens == 3] = -100
    return tokens, targets


def main(model, data):
    optimizer = torch.optim.AdamW(model.parameters())
    for tokens, targets in DataLoader(data, batch_size=8, shuffle=True, collate_fn=collate):
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), targets[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
