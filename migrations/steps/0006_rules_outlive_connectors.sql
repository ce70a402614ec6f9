-- What is charged is what the platform returned, kept or not: known by a one-way mark of its id.
DROP INDEX charged_posts_post;
ALTER TABLE charged_posts ADD COLUMN mark text;
UPDATE charged_posts c SET mark = left(encode(sha256(convert_to(p.platform_id, 'UTF8')), 'hex'), 32)
FROM posts p WHERE p.id = c.post_id;
ALTER TABLE charged_posts DROP CONSTRAINT charged_posts_pkey, DROP COLUMN post_id, ADD PRIMARY KEY (connector, day, mark);

-- A run that broke off keeps its window, so that its cursors can be taken up when there is budget again.
ALTER TABLE watch_progress ALTER COLUMN searched_to DROP NOT NULL,
                           ADD COLUMN open_until timestamptz;  -- end of the window that is being searched; null: none

-- How long a connector's posts may be kept, also when it is set up no longer.
CREATE TABLE retention (
    connector     text PRIMARY KEY,
    keep_days     integer                         -- null: for as long as the fact-check is kept
);

-- Posts from before connectors had rules: the connector that found them first.
UPDATE posts p SET connector = f.connector, checked_at = COALESCE(p.checked_at, p.fetched_at)
FROM (SELECT DISTINCT ON (sp.post_id) sp.post_id, q.connector
      FROM search_posts sp JOIN searches s ON s.id = sp.search_id JOIN queries q ON q.id = s.query_id
      ORDER BY sp.post_id, s.started_at, s.id) f
WHERE f.post_id = p.id AND p.connector IS NULL;

CREATE INDEX posts_fetched ON posts (connector, fetched_at) WHERE gone_at IS NULL;
CREATE INDEX reviews_match ON reviews (match_id);
CREATE INDEX digest_matches_match ON digest_matches (match_id);
CREATE INDEX digest_matches_digest ON digest_matches (digest_id);
