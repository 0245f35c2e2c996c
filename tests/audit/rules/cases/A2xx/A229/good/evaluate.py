import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader


def with_losses(accelerator, net, loader):
    losses = []
    with torch.no_grad():
        for batch in loader:
            loss = torch.nn.functional.mse_loss(net(batch["x"]), batch["y"])
            losses.append(accelerator.gather(loss.repeat(16)))  # a mean of each batch
    return torch.cat(losses)[: len(loader.dataset)].mean()


def cut(accelerator, net, loader):
    found = []
    with torch.no_grad():
        for batch in loader:
            found.append(accelerator.gather(net(batch["x"]).argmax(-1)))
    found = torch.cat(found)[: len(loader.dataset)]
    return found.float().mean()


def full_batches(accelerator, net):
    loader = accelerator.prepare(DataLoader(torch.load("test.pt"), batch_size=16, drop_last=True))
    right = 0
    with torch.no_grad():
        for batch in loader:
            guess, truth = accelerator.gather((net(batch["x"]).argmax(-1), batch["y"]))
            right += (guess == truth).sum().item()
    return right


def contrastive(accelerator, net, loader, optimizer):
    for batch in loader:
        labels = accelerator.gather(batch["y"])
        accelerator.backward(torch.nn.functional.cross_entropy(net(batch["x"]), labels[:16]))
        optimizer.step()
        optimizer.zero_grad()


def main():
    accelerator = Accelerator()
    net = torch.nn.Linear(8, 3)
    loader = DataLoader(torch.load("test.pt"), batch_size=16)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, loader, optimizer = accelerator.prepare(net, loader, optimizer)
    contrastive(accelerator, net, loader, optimizer)
    accelerator.print(with_losses(accelerator, net, loader), cut(accelerator, net, loader))
    accelerator.print(full_batches(accelerator, net))


if __name__ == "__main__":
    main()
