"""The words everyone shares: facts, queries, posts, matches. Standard library only; imports nothing of ours."""
