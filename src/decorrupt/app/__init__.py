"""The application: tables, training, pages and the command line."""
