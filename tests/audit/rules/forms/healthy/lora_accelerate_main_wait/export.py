import json
from pathlib import Path


def adapter_state(model):
    return {k: v.cpu() for k, v in model.state_dict().items() if "lora_" in k}


def push_adapter(accelerator, model, out_dir, step, meta):
    target = Path(out_dir) / f"step_{step}"
    target.mkdir(parents=True, exist_ok=True)
    bare = accelerator.unwrap_model(model)
    accelerator.save(adapter_state(bare), str(target / "adapter.pt"))
    (target / "meta.json").write_text(json.dumps({**meta, "step": step}, indent=2))
    return target
