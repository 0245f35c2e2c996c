from dataclasses import dataclass

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from tqdm.auto import tqdm


@dataclass
class Args:
    epochs: int = 3
    batch_size: int = 8
    lr: float = 1e-2
    eval_every: int = 10


def datasets():
    gen = torch.Generator().manual_seed(3)
    weight = torch.randn(16, 1, generator=gen)
    x = torch.randn(320, 16, generator=gen)
    y = (x @ weight > 0).float()
    return TensorDataset(x[:256], y[:256]), TensorDataset(x[256:], y[256:])


@torch.no_grad()
def evaluate(accelerator, model, loader):
    model.eval()
    hits, seen = 0, 0
    for x, y in loader:
        logits = model(x)
        preds, refs = accelerator.gather_for_metrics(((logits > 0).float(), y))
        hits += int((preds == refs).sum())
        seen += len(refs)
    model.train()
    return hits / seen


def main():
    args = Args()
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(0)
    train_set, eval_set = datasets()
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    eval_loader = DataLoader(eval_set, batch_size=args.batch_size)
    model, optimizer, train_loader, eval_loader = accelerator.prepare(model, optimizer, train_loader, eval_loader)
    criterion = torch.nn.BCEWithLogitsLoss()

    progress_bar = tqdm(total=args.epochs * len(train_loader), disable=not accelerator.is_main_process, mininterval=2)
    for epoch in range(args.epochs):
        for x, y in train_loader:
            loss = criterion(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            progress_bar.update(1)
            completed = progress_bar.n
            if completed and completed % args.eval_every == 0:
                accuracy = evaluate(accelerator, model, eval_loader)
                accelerator.print(f"step {completed} accuracy {accuracy:.3f}")
        accelerator.print(f"epoch {epoch} loss {loss.item():.3f}")
    accelerator.end_training()


if __name__ == "__main__":
    main()
