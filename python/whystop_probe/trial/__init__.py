"""The interventions of `whystop try`: the same program again with one thing changed. docs/try.md says how a trial is judged."""
