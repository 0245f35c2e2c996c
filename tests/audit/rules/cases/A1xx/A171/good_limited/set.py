import train

if __name__ == "__main__":
    train.by_setting(train.options, train.torch.load("model.pt"), train.torch.load("data.pt"))
