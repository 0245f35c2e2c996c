class Checkpoints:
    def __init__(self, accelerator, every):
        self.accelerator, self.every = accelerator, every
        self.steps, self.saved = 0, []

    def step(self, loss):
        self.steps += 1
        if self.steps % self.every:
            return
        if not self.accelerator.is_local_main_process:
            return
        self.saved.append(self.accelerator.save_state())
