"""Questions about programs that were run on values that are not known (`static/execution`): one a file, pure.

Each gives back events and values; a rule of `audit` says what they mean. May import static/execution and
static/program. A new question is one file here and the rule that asks it.
"""
