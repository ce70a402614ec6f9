"""Claims rewritten by a decision transformer: edits as actions, what a query finds as reward (paper, section 3.2)."""
