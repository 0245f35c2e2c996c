import torch

from pretrain import Net

if __name__ == "__main__":
    model = torch.compile(Net())
    model.load_state_dict(torch.load("out/pretrained.pt", map_location="cpu"), strict=False)
    torch.save(model.state_dict(), "out/compiled.pt")
