"""Training and evaluation of models from tables; results are plain dicts.

Nothing here prints or writes files. Import the modules by name (``decorrupt.app.training.train``).
:mod:`decorrupt.app.training.results` describes the dicts.
"""
