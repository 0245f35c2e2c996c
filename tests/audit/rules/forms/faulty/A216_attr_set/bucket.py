class Bucket:
    def __init__(self, model):
        self.names = {name for name, _ in model.named_parameters()}
        self.parameters = dict(model.named_parameters())

    def __iter__(self):
        return iter(self.names)
