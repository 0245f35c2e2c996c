import torch

from pretrain import Net

if __name__ == "__main__":
    model = Net()
    state = torch.load("out/pretrained.pt", map_location="cpu")
    state = {key.removeprefix("_orig_mod."): value for key, value in state.items()}
    model.load_state_dict(state, strict=False)
    torch.save(model.state_dict(), "out/renamed.pt")
