class Phases:
    def __init__(self, model, switch):
        self.model, self.switch = model, switch
        self.freeze(True)

    def freeze(self, frozen):
        for parameter in self.model.body.parameters():
            parameter.requires_grad_(not frozen)  # cause

    def advance(self, epoch):
        if epoch == self.switch:
            self.freeze(False)  # cause
