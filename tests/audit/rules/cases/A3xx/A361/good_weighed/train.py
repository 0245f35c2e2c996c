import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def collate(rows):
    tokens = pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    return {"tokens": tokens, "labels": tokens.clone(), "keep": tokens != 0}


def main(model, data):
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in DataLoader(data, batch_size=8, collate_fn=collate):
        losses = F.cross_entropy(model(batch["tokens"]).transpose(1, 2), batch["labels"], reduction="none")
        loss = (losses * batch["keep"]).sum() / batch["keep"].sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
