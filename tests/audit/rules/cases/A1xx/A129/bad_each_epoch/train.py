import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader


def main(model, data, args):
    accelerator = Accelerator()
    loader = DataLoader(data, batch_size=4, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    first_epoch, done = 0, None
    if args.resume_from:
        state = torch.load(args.resume_from + "/state.pt", weights_only=True)
        accelerator.load_state(args.resume_from)
        first_epoch, done = state["epoch"], state["batches"]

    for epoch in range(first_epoch, args.epochs):
        model.train()
        batches = accelerator.skip_first_batches(loader, done) if args.resume_from and done else loader
        for batch in batches:
            loss = model(**batch).loss
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
