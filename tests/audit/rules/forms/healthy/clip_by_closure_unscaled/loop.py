import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def clipper(model, limit):
    def clip():
        return torch.nn.utils.clip_grad_norm_(model.parameters(), limit)

    return clip


def fit(net, loader, device, dtype=torch.float16, limit=1.0):
    model = DDP(net.to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda", enabled=(dtype is torch.float16))
    before_step = [clipper(model, limit)]
    for x, y in loader:
        with torch.autocast("cuda", dtype=dtype):
            loss = torch.nn.functional.mse_loss(model(x.to(device)), y.to(device))
        opt.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        for call in before_step:
            call()
        scaler.step(opt)
        scaler.update()
