from transformers import TrainerCallback


class EvaluateOften(TrainerCallback):
    """Evaluates every few steps and keeps the history."""

    def __init__(self, trainer, every):
        self.trainer, self.every = trainer, every
        self.history = []

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step % self.every == 0:
            self.evaluate(state)

    def evaluate(self, state):
        self.history.append(self.trainer.evaluate()["eval_loss"])
        if not self.trainer.is_world_process_zero():
            return
        print(f"step {state.global_step} eval loss {self.history[-1]:.3f}", flush=True)
