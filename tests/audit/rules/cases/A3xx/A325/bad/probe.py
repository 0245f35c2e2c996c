class Recorder:
    def __init__(self, model):
        self.model = model
        self.seen = []

    def record(self, inputs):
        for block in self.model.blocks:
            handle = block.register_forward_hook(lambda module, given, out: self.seen.append(out))
        out = self.model(inputs)
        handle.remove()
        return out
