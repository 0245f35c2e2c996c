import torch

from pretrain import Net

if __name__ == "__main__":
    model = Net()
    model.load_state_dict(torch.load("out/pretrained.pt", map_location="cpu"))
    torch.save(model.state_dict(), "out/strict.pt")
