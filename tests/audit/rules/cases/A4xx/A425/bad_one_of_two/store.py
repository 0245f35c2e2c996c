import torch


def restore(path):
    state = torch.load(path, weights_only=True)
    return state["epoch"], state.get("best_loss", 1e9)


def save_epoch(model, epoch):
    torch.save({"epoch": epoch, "model": model.state_dict()}, f"epoch_{epoch}.pt")


def save_best(model, epoch, loss):
    torch.save({"epoch": epoch, "model": model.state_dict(), "best_loss": loss}, "best.pt")
