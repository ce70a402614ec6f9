"""Which edits of a claim make it find more: the search that makes training data, breadth first over the edits."""
