-- Of a long post, the passage that says what the claim says: what a digest quotes.
ALTER TABLE matches ADD COLUMN passage text NOT NULL DEFAULT '';
