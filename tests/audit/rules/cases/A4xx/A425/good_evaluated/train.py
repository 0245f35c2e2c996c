import torch


def main(model, optimizer, loader, evaluate, args):
    start_epoch, best = 0, -1.0
    if args.resume:
        state = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        start_epoch = state["epoch"] + 1
        best = evaluate(model)
    for epoch in range(start_epoch, args.epochs):
        for batch in loader:
            model(batch).backward()
            optimizer.step()
        score = evaluate(model)
        torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pth")
        if score > best:
            best = score
            torch.save(model.state_dict(), "kept.pth")
