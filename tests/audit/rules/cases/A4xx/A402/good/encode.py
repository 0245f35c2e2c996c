import torch


def encode(encoder, files):
    encoder = encoder.cuda().eval()
    for path in files:
        x = torch.load(path).cuda()
        latents = encoder(x).cpu()
        torch.save({"latents": latents, "dt": 0.01}, path + ".latents")
        torch.save(encoder(x).detach().cpu().numpy(), path + ".npy")


def checkpoint(model, optimizer, path):
    model = model.cuda()
    torch.save(model.state_dict(), path)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    torch.save(model, path)


def on_cpu(encoder, x):
    torch.save(encoder(x.to("cpu")), "cache.pt")
    torch.save(x.to(torch.float16), "half.pt")


def brought_back(encoder, x, files):
    encoder.cuda()
    latents = encoder(x.cuda())
    latents = latents.cpu()
    torch.save(latents, "latents.pt")
    torch.save(x, "inputs.pt")
    kept = []
    for path in files:
        kept.append(encoder(torch.load(path).cuda()).cpu())
    torch.save(kept, "all.pt")
