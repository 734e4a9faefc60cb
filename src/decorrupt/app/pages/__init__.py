"""Pages about one model or one table: typed records become sections of HTML."""
