-- name: purge
-- Nothing of a removed post stays but its id, so that it is not taken for a new one when it is seen again.
UPDATE posts SET text = '', url = NULL, links = '{}', author = NULL, embedding = NULL, cluster = NULL, likes = NULL,
       reposts = NULL, replies = NULL, views = NULL, language = 'und', gone_at = %(now)s
WHERE id = ANY(%(ids)s) AND gone_at IS NULL RETURNING id;

-- name: purge_bands
DELETE FROM cluster_bands WHERE post_id = ANY(%(ids)s);

-- name: ids_at
SELECT id FROM posts WHERE connector = %(connector)s AND platform_id = ANY(%(platform_ids)s) AND gone_at IS NULL;

-- name: ids_of_post
SELECT id FROM posts WHERE platform = %(platform)s AND platform_id = %(platform_id)s;

-- name: ids_of_author
SELECT id FROM posts WHERE platform = %(platform)s AND author = %(author)s;

-- name: any_of_platform
SELECT id FROM posts WHERE platform = %(platform)s LIMIT 1;

-- name: matches_of
SELECT id FROM matches WHERE post_id = ANY(%(ids)s);

-- name: copies
-- Stored mails that hold one of the posts, with where their copies were put.
SELECT d.id, o.state, o.detail FROM digests d JOIN outbox o ON o.digest_id = d.id
WHERE d.id IN (SELECT dm.digest_id FROM digest_matches dm WHERE dm.match_id = ANY(%(matches)s)) ORDER BY o.id;

-- name: drop_unsent
-- A digest that waits for all its recipients is made anew, without the post.
DELETE FROM digests WHERE id = ANY(%(digests)s)
  AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.digest_id = digests.id AND o.state <> 'pending');

-- name: empty_sent
-- A mail that is out cannot be called back, nor be mailed again in another form; its stored copy can be emptied.
UPDATE digests SET message = '' WHERE id = ANY(%(digests)s);

-- name: call_off
-- Who waits for a mail that others have got: there is nothing left to send.
UPDATE outbox SET state = 'failed', detail = 'a post in it had to go before this mail was sent', updated_at = now()
WHERE digest_id = ANY(%(digests)s) AND state = 'pending';

-- name: remove_matches
DELETE FROM matches WHERE id = ANY(%(matches)s);

-- name: remove
DELETE FROM posts WHERE id = ANY(%(ids)s);

-- name: to_recheck
-- Posts of a connector that were last known to be there before a moment, those that wait longest first.
SELECT id, platform_id FROM posts
WHERE connector = %(connector)s AND gone_at IS NULL AND checked_at < %(before)s ORDER BY checked_at LIMIT %(limit)s;

-- name: checked
UPDATE posts SET checked_at = %(now)s WHERE id = ANY(%(ids)s);

-- name: keep_for
-- For how long a connector's posts may be kept, also once it is set up no longer.
INSERT INTO retention (connector, keep_days) VALUES (%(connector)s, %(keep_days)s)
ON CONFLICT (connector) DO UPDATE SET keep_days = excluded.keep_days
WHERE retention.keep_days IS DISTINCT FROM excluded.keep_days;

-- name: expired
-- Posts that may not be kept any longer.
SELECT p.id FROM retention r JOIN posts p ON p.connector = r.connector
WHERE p.gone_at IS NULL AND p.fetched_at < %(now)s - make_interval(days => r.keep_days) LIMIT %(limit)s;

-- name: overdue
-- How many posts of each connector have not been asked for again since a moment, in spite of its rules.
SELECT count(*) FROM posts WHERE connector = %(connector)s AND gone_at IS NULL AND checked_at < %(before)s;

-- name: remember_forgotten
INSERT INTO forgotten (platform, mark, created_at) VALUES (%(platform)s, %(mark)s, %(now)s) ON CONFLICT DO NOTHING;

-- name: forgotten
SELECT mark FROM forgotten WHERE platform = %(platform)s AND mark = ANY(%(marks)s);

-- name: lock_clusters
-- One worker at a time, until its transaction ends: two that see the same text for the first time would make two clusters.
SELECT pg_advisory_xact_lock(%(lock)s);

-- name: heads
-- First posts of the clusters that share a band with a text, oldest first.
SELECT DISTINCT p.id, p.text FROM cluster_bands b JOIN posts p ON p.id = b.post_id
JOIN unnest(%(bands)s::smallint[], %(hashes)s::bigint[]) AS own(band, hash) ON own.band = b.band AND own.hash = b.hash
WHERE p.gone_at IS NULL ORDER BY p.id;

-- name: add_band
INSERT INTO cluster_bands (band, hash, post_id) VALUES (%(band)s, %(hash)s, %(post_id)s) ON CONFLICT DO NOTHING;

-- name: set_cluster
UPDATE posts SET cluster = %(cluster)s WHERE id = %(id)s;

-- name: unclustered
SELECT id, text FROM posts WHERE id = ANY(%(ids)s) AND cluster IS NULL AND gone_at IS NULL ORDER BY id;
