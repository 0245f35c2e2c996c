def train(model, epochs, patience, evaluate):
    best, bad = 0.0, 0
    for epoch in range(epochs):
        model.train_one(epoch)
        score = evaluate(model)
        if score > best:
            best = score
            model.save("best.pt")
        else:
            bad += 1
            if bad > patience:
                print("no better for", patience, "epochs")
                break
