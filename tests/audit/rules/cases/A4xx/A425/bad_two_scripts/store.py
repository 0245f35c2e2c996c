import torch


def resume(path, model, optimizer, args):
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    args.start_epoch = state["epoch"] + 1


def save_state_of(path, model, optimizer, epoch):
    torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
