import torch
from torch.utils.data import DataLoader
from tqdm import tqdm


def train(model, optimizer, data, args):
    state = torch.load(args.resume)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    loader = DataLoader(data, batch_size=8, shuffle=True)
    for epoch in range(state["epoch"], args.epochs):
        for i, batch in enumerate(tqdm(loader)):
            if epoch == state["epoch"] and i <= state["last_step"]:
                continue
            model(batch).backward()
            optimizer.step()
