"""What the lead does on the pages: a module for each act, which says first what it would do."""
