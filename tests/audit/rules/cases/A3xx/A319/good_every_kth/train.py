import torch


def main():
    net = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler()
    for number, x in enumerate(torch.load("batches.pt")):
        scaler.scale(net(x).mean() / 4).backward()
        if number % 4 != 3:
            continue
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        if number % 100 == 99:
            print(norm)


if __name__ == "__main__":
    main()
