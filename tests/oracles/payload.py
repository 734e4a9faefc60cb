"""What a forged model file would run, if anybody let it."""

from pathlib import Path

from sklearn.base import BaseEstimator


class LeavesATrace(BaseEstimator):
    """Writes a file at `note` wherever its state is restored."""

    def __init__(self, note=""):
        self.note = note

    def __setstate__(self, state):
        Path(state["note"]).write_text("I was here")
        self.__dict__.update(state)


class PickleBomb:
    """Makes a file at `path` when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (Path(self.path),))
