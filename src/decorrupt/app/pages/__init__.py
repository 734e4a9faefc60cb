"""Parts of the pages about one model or one table: plain dicts of `tabular` become blocks."""
