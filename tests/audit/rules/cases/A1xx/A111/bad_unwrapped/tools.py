def unwrap(model):
    return model.module if hasattr(model, "module") else model
