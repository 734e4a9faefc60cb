"""The command line: parse, call, exit code; no logic."""
