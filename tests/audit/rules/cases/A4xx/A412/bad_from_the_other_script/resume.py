import torch

from pretrain import Net


def main():
    model = Net()
    state = torch.load("out/last.pt", map_location="cpu")
    model.load_state_dict(state["model"], strict=False)
    torch.save({"model": model.state_dict()}, "out/resumed.pt")


if __name__ == "__main__":
    main()
