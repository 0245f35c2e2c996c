from types import SimpleNamespace

CONFIGS = {
    "base": SimpleNamespace(world=2, port=29655, warm_steps=60, tune_steps=160, lr=0.05, decay=0.05, momentum=0.9, batch=64),
}
