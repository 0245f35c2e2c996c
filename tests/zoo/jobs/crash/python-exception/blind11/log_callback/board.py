import json

from transformers import TrainerCallback


class BoardCallback(TrainerCallback):
    """Writes what the group's board shows."""

    def __init__(self, path):
        self.path = path

    def on_log(self, args, state, control, logs=None, **kwargs):
        if not state.is_world_process_zero:
            return
        row = {"step": state.global_step, "loss": logs["loss"], "lr": logs["learning_rate"]}
        with open(self.path, "a") as f:
            f.write(json.dumps(row) + "\n")
