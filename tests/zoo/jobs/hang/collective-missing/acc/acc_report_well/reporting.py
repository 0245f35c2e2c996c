import json
import os


def report(accelerator, model, epoch, loss):
    os.makedirs("reports", exist_ok=True)
    norms = {name: p.norm().item() for name, p in accelerator.unwrap_model(model).named_parameters()}
    with open(f"reports/epoch{epoch}.json", "w") as out:
        json.dump({"loss": loss, "norms": norms}, out)
