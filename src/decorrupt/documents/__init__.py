"""Results as pages: plain dicts become one self-contained HTML file, markdown or JSON."""
