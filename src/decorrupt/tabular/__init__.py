"""From tables to a trained model and plain dicts of results: no printing, no files.

The modules are imported by name (``decorrupt.tabular.train``); the dicts they make are described
in :mod:`decorrupt.tabular.results`.
"""
