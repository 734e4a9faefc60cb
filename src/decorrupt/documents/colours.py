"""Colours of figures."""

from __future__ import annotations

# Replaced by the page's text colour.
FOREGROUND = "#010203"
# Each colour has a contrast of at least 3:1 on the light and the dark page.
COLOURS = ("#0b78b8", "#cf5b00", "#0a8f6a", "#b4589a", "#8a6fd1", "#a67c00", "#d14545", "#7b828a")
