"""Self-contained HTML pages, and the same content in markdown."""
