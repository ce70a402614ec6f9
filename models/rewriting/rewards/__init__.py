"""What a query is worth, gold known: the reward of every edit that a search over edits tries."""
