import torch


def main(device):
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    model.to(device)
    model(torch.ones(1, 8, device=device)).sum().backward()
    optimizer.step()


if __name__ == "__main__":
    main("cuda")
