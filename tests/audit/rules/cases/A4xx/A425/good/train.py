import torch


def main(model, optimizer, loader, evaluate, args):
    start_epoch, best_acc = 0, 0.0
    if args.resume:
        state = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        start_epoch, best_acc = state["epoch"] + 1, state["best_acc"]
    for epoch in range(start_epoch, args.epochs):
        for batch in loader:
            model(batch).backward()
            optimizer.step()
        acc = evaluate(model)
        if acc > best_acc:
            best_acc = acc
            torch.save(model.state_dict(), "best.pth")
        state = {"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
        state["best_acc"] = best_acc
        torch.save(state, "last.pth")
