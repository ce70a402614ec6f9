-- name: upsert
-- Insert, or update where something differs; no row back means that nothing changed. A language or date that the
-- record does not give leaves the stored one as it is.
INSERT INTO fact_checks AS f (
    key, url, claim, title, body, publisher, author, language, rating_given, rating_value, rating_best, rating_worst,
    rating_score, rating_flags, verdict, published_at, aliases, clean)
VALUES (
    %(key)s, %(url)s, %(claim)s, %(title)s, %(body)s, %(publisher)s, %(author)s, %(language)s, %(rating_given)s,
    %(rating_value)s, %(rating_best)s, %(rating_worst)s, %(rating_score)s, %(rating_flags)s, %(verdict)s,
    %(published_at)s, %(aliases)s, true)
ON CONFLICT (key) DO UPDATE SET
    claim = excluded.claim, title = excluded.title, body = excluded.body, publisher = excluded.publisher,
    author = excluded.author, language = COALESCE(NULLIF(excluded.language, ''), f.language),
    rating_given = excluded.rating_given, rating_value = excluded.rating_value, rating_best = excluded.rating_best,
    rating_worst = excluded.rating_worst, rating_score = excluded.rating_score, rating_flags = excluded.rating_flags,
    verdict = excluded.verdict, published_at = COALESCE(excluded.published_at, f.published_at),
    aliases = ARRAY(SELECT DISTINCT unnest(f.aliases || excluded.aliases)), updated_at = now()
WHERE (f.claim, f.title, f.body, f.publisher, f.author, f.rating_given, f.rating_value, f.verdict)
      IS DISTINCT FROM (excluded.claim, excluded.title, excluded.body, excluded.publisher, excluded.author,
                        excluded.rating_given, excluded.rating_value, excluded.verdict)
   OR (excluded.language <> '' AND excluded.language <> f.language)
   OR (excluded.published_at IS NOT NULL AND excluded.published_at IS DISTINCT FROM f.published_at)
   OR NOT excluded.aliases <@ f.aliases
RETURNING xmax = 0 AS inserted;

-- name: announce_writer
-- Tells the version trigger who makes the changes of this transaction: 'import' or 'cleaning'.
SELECT set_config('claimwatch.writer', %(writer)s, true);

-- name: unclean
-- New or changed rows that another system wrote, oldest first.
SELECT id, key, rating_flags AS flags, COALESCE(url, '') AS url, claim, title, body, publisher, author, language,
       rating_given AS rating, COALESCE(rating_value, '') AS rating_value, COALESCE(rating_best, '') AS rating_best,
       COALESCE(rating_worst, '') AS rating_worst, published_at
FROM fact_checks WHERE NOT clean AND prepared_at IS NULL AND set_aside IS NULL
ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED;

-- name: store_cleaned
UPDATE fact_checks SET
    key = %(key)s, url = %(url)s, claim = %(claim)s, title = %(title)s, body = %(body)s, publisher = %(publisher)s,
    author = %(author)s, language = %(language)s, rating_score = %(rating_score)s, rating_flags = %(rating_flags)s,
    verdict = %(verdict)s, published_at = %(published_at)s, clean = true
WHERE id = %(id)s;

-- name: unprepared
-- Clean rows that are new or changed, whoever wrote them, oldest first.
SELECT id, version, claim, title, language FROM fact_checks WHERE clean AND prepared_at IS NULL AND set_aside IS NULL
ORDER BY id LIMIT %(limit)s;

-- name: store_prepared
UPDATE fact_checks SET
    language = %(language)s, embedding = %(embedding)s, encoder = %(encoder)s, prepared_at = %(now)s
WHERE id = %(id)s AND clean AND version = %(version)s;

-- name: outdated
-- Prepared rows whose vector another encoder made.
SELECT id, version, claim, title, language FROM fact_checks
WHERE prepared_at IS NOT NULL AND encoder IS DISTINCT FROM %(encoder)s ORDER BY id LIMIT %(limit)s;

-- name: outdated_count
SELECT count(*) FROM fact_checks WHERE prepared_at IS NOT NULL AND encoder IS DISTINCT FROM %(encoder)s;

-- name: verdict
SELECT verdict FROM fact_checks WHERE key = %(key)s;

-- name: id_of_key
SELECT id FROM fact_checks WHERE key = %(key)s AND id <> %(except_id)s;

-- name: set_aside
-- A row of another system that cannot be used; changing it brings it back.
UPDATE fact_checks SET set_aside = %(reason)s WHERE id = %(id)s;

-- name: state
-- Changes whenever the prepared fact-checks, or their vectors by an encoder, do.
SELECT count(*) AS fact_checks, count(*) FILTER (WHERE encoder = %(encoder)s) AS embedded,
       max(GREATEST(prepared_at, updated_at)) AS latest
FROM fact_checks WHERE prepared_at IS NOT NULL;

-- name: all_prepared
-- With their vectors by one encoder: those of two must never be compared.
SELECT id, key, claim, title, body, url, publisher, language, verdict, rating_given, published_at, aliases,
       CASE WHEN encoder = %(encoder)s THEN embedding END AS embedding
FROM fact_checks WHERE prepared_at IS NOT NULL ORDER BY id;

-- name: nearest
-- Fact-checks nearest to a query vector, exactly: an approximate index costs more at every import than it saves here.
SELECT key, 1 - (embedding <=> %(vector)s) AS cosine FROM fact_checks
WHERE embedding IS NOT NULL ORDER BY embedding <=> %(vector)s LIMIT %(k)s;

-- name: counts
SELECT count(*) AS fact_checks, count(*) FILTER (WHERE prepared_at IS NULL AND set_aside IS NULL) AS unprepared,
       count(*) FILTER (WHERE verdict IN ('false', 'misleading')) AS debunked
FROM fact_checks;

-- name: quarantine
INSERT INTO quarantine (source, row, field, reason, record)
VALUES (%(source)s, %(row)s, %(field)s, %(reason)s, %(record)s) ON CONFLICT DO NOTHING;

-- name: kept_aside
-- What lies in quarantine, the newest first.
SELECT id, source, row, field, reason, record, created_at FROM quarantine ORDER BY id DESC LIMIT %(limit)s;

-- name: quarantine_count
SELECT count(*) FROM quarantine;
