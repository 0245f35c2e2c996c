import torch


class Clipper:
    def __init__(self, scaler, limit):
        self.scaler, self.limit = scaler, limit

    def __call__(self, optimizer, net):
        self.scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), self.limit)


def main():
    net = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler()
    clip = Clipper(scaler, 1.0)
    for number, x in enumerate(torch.load("batches.pt")):
        scaler.scale(net(x).mean() / 4).backward()
        clip(optimizer, net)
        if number % 4 != 3:
            continue
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def in_one_loop(loader, net, optimizer, every):
    scaler = torch.cuda.amp.GradScaler()
    for i, x in enumerate(loader):
        scaler.scale(net(x).mean() / every).backward()
        scaler.unscale_(optimizer)
        if (i + 1) % every == 0 or i + 1 == len(loader):
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
