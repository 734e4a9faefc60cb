"""From tables to a trained model and plain dicts of results: no printing, no files.

Modules are imported by name (``decorrupt.app.training.train``). Their dicts are described in
:mod:`decorrupt.app.training.results`.
"""
