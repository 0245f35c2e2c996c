from accelerate import Accelerator


def train(model, loader, optimizer):
    accelerator = Accelerator()
    model, loader, optimizer = accelerator.prepare(model, loader, optimizer)
    for batch in loader:
        accelerator.backward(model(batch).loss)
        optimizer.step()
        optimizer.zero_grad()
    if accelerator.is_main_process:
        accelerator.save(accelerator.get_state_dict(model), "final.pt")
