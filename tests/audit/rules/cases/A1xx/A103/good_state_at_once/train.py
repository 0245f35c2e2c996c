import torch


def adam(device):
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    return model.to(device), optimizer


def moved_before(device):
    model = torch.nn.Linear(8, 8).to(device)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    model.to(memory_format=torch.channels_last)
    return model, optimizer


def back(device):
    model = torch.nn.Linear(8, 8)
    model.to(device)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    model.to("cpu")
    return model, optimizer


if __name__ == "__main__":
    adam("cuda")
    moved_before("cuda")
    back("cuda")
