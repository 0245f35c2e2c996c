import torch


def main(model, loader, optimizer, schedule):
    scaler = torch.amp.GradScaler("cuda")
    made = 0
    for batch in loader:
        with torch.autocast("cuda"):
            loss = model(batch).mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if torch.isfinite(norm) and norm < 50:
            scaler.step(optimizer)
            scaler.update()
            made += 1
        schedule.step()
    return made
