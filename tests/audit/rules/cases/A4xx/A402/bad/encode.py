import torch


def encode(encoder, files):
    encoder = encoder.cuda().eval()
    for path in files:
        x = torch.load(path).cuda()
        latents = encoder(x)
        torch.save({"latents": latents, "dt": 0.01}, path + ".latents")


def collect(model, loader):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = model.to(device)
    found = []
    for x in loader:
        found.append(model(x.to(device)).detach())
    torch.save(torch.cat(found), "features.pt")


def moved_in_place(encoder, x):
    encoder.cuda()
    torch.save(encoder(x), "latents.pt")
