"""Questions about programs that were run on values that are not known (`static/execution`): one a file, pure.

Each gives back events and values; a rule of `audit` says what they mean. May import static/execution and
static/program. A new question is one file and the rule that asks it: about a model and its wrapper in `models/`, about
gradients, rates and epochs in `steps/`, about checkpoints in `checkpoints/`, about data workers in `loading/`, anything
else here. What several questions ask (`training.py`, `own_data.py`, `saved_files.py`, `ranks.py`, `values_met.py`,
`rounds.py`) stands here, and imports none of these folders.
"""
