import torch
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel


def wrap(model):
    return DistributedDataParallel(model)


def train(model, tokenizer, texts):
    model = wrap(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(3):
        for text in texts:
            ids = torch.tensor([tokenizer.encode(text)])
            loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
