from accelerate import Accelerator, DeepSpeedPlugin


def main(model, optimizer, loader):
    accelerator = Accelerator(deepspeed_plugin=DeepSpeedPlugin(zero_stage=2))
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for number, batch in enumerate(loader):
        accelerator.backward(model(batch))
        optimizer.step()
        if accelerator.is_main_process:
            accelerator.save_state(f"out/{number}")
