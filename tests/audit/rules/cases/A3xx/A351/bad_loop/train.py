import torch


def fit(model, optimizer, loader, evaluate, epochs):
    best_accuracy = 0.0
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        accuracy = evaluate(model)
        if accuracy > best_accuracy:
            print(f"epoch {epoch}: new best {accuracy:.3f}")
            torch.save({"model": model.state_dict(), "epoch": epoch}, "best.pt")
        best_accuracy = accuracy
