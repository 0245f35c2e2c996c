import json
import os


def report(accelerator, model, epoch, loss):
    os.makedirs("reports", exist_ok=True)
    norms = {name: p.norm().item() for name, p in accelerator.unwrap_model(model).named_parameters()}
    accelerator.wait_for_everyone()  # nobody may change the weights while they are written
    with open(f"reports/epoch{epoch}.json", "w") as out:
        json.dump({"loss": loss, "norms": norms}, out)
