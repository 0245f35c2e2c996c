import torch


def main(model, optimizer, loader, evaluate, args):
    best_acc = 0.0
    if args.pretrained:
        model.load_state_dict(torch.load(args.pretrained)["model"])
    for epoch in range(args.epochs):
        for batch in loader:
            model(batch).backward()
            optimizer.step()
        acc = evaluate(model)
        state = {"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, "last.pth")
        if acc > best_acc:
            best_acc = acc
            torch.save(model.state_dict(), "best.pth")
