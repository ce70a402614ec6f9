"""How good the queries are that claims were rewritten into: query files, their scores, tables."""
