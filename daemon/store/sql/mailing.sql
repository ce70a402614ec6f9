-- name: add_subscription
INSERT INTO subscriptions (name, recipients, verdicts, languages, publishers, min_confidence, local_time, zone, empty_days, next_due,
                           created_at)
VALUES (%(name)s, %(recipients)s, %(verdicts)s, %(languages)s, %(publishers)s, %(min_confidence)s, %(local_time)s, %(zone)s,
        %(empty_days)s, %(next_due)s, %(now)s)
ON CONFLICT (name) DO NOTHING RETURNING id;

-- name: subscriptions
SELECT id, name, recipients, verdicts, languages, publishers, min_confidence, local_time, zone, empty_days, state, next_due,
       created_at
FROM subscriptions ORDER BY id;

-- name: subscription_by_name
SELECT id, name, recipients, verdicts, languages, publishers, min_confidence, local_time, zone, empty_days, state, next_due,
       created_at
FROM subscriptions WHERE name = %(name)s;

-- name: set_subscription_state
UPDATE subscriptions SET state = %(state)s WHERE name = %(name)s RETURNING id;

-- name: wanted_verdicts
SELECT DISTINCT unnest(verdicts) FROM subscriptions WHERE state = 'active';

-- name: due_subscription
-- A due subscription, locked so that no other process makes its digest; no row: not due (any more).
SELECT id, name, recipients, verdicts, languages, publishers, min_confidence, local_time, zone, empty_days, state, next_due,
       created_at
FROM subscriptions WHERE id = %(id)s AND state = 'active' AND next_due <= %(now)s
FOR UPDATE SKIP LOCKED;

-- name: due_subscriptions
SELECT s.id FROM subscriptions s
WHERE s.state = 'active' AND s.next_due <= %(now)s
  AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs j
                  WHERE j.lock = 'digest-' || s.id AND j.status IN ('todo', 'doing'))
ORDER BY s.next_due, s.id FOR UPDATE OF s SKIP LOCKED;

-- name: set_next_due
UPDATE subscriptions SET next_due = %(next_due)s WHERE id = %(id)s;

-- name: last_period_end
SELECT max(period_to) FROM digests WHERE subscription_id = %(id)s;

-- name: new_matches
-- Matches that fit the subscription and were not mailed to it yet, with all that a reader needs to see.
SELECT m.id AS match_id, m.confidence, m.reason, m.stance, m.evidence, m.passage, m.created_at AS matched_at,
       p.id AS post_id, p.platform, p.platform_id, p.text, p.url, p.language, p.likes, p.reposts, p.replies, p.views,
       p.created_at, p.connector, p.cluster, f.id AS fact_check_id, f.claim, f.language AS claim_language,
       f.url AS fact_check_url, found.words AS found_by, found.id AS query_id
FROM matches m
JOIN posts p ON p.id = m.post_id AND p.gone_at IS NULL
JOIN fact_checks f ON f.id = m.fact_check_id
LEFT JOIN LATERAL (
    SELECT q.id, q.words FROM search_posts sp JOIN searches s ON s.id = sp.search_id
    JOIN queries q ON q.id = s.query_id JOIN watches w ON w.id = q.watch_id
    WHERE sp.post_id = p.id
    ORDER BY w.fact_check_id = f.id DESC, q.arm = 'pinned' DESC, s.started_at, w.id, s.id LIMIT 1) found ON true
WHERE f.verdict = ANY(%(verdicts)s)
  AND (cardinality(%(languages)s::text[]) = 0 OR f.language = ANY(%(languages)s))
  AND (cardinality(%(publishers)s::text[]) = 0 OR f.publisher = ANY(%(publishers)s))
  AND m.confidence >= %(min_confidence)s AND m.created_at <= %(until)s
  AND NOT EXISTS (SELECT 1 FROM digest_matches d WHERE d.match_id = m.id AND d.subscription_id = %(id)s)
ORDER BY f.id, m.confidence DESC, p.platform, p.platform_id;

-- name: claim_facts
-- The fact-checks of a digest.
SELECT f.id AS fact_check_id, f.claim, f.url, f.publisher, f.language, f.verdict, f.rating_given, f.published_at,
       COALESCE(w.why, '') AS why,
       (SELECT count(*) FROM matches m JOIN posts p ON p.id = m.post_id AND p.gone_at IS NULL
        WHERE m.fact_check_id = f.id AND m.confidence >= %(min_confidence)s) AS total_posts
FROM fact_checks f LEFT JOIN watches w ON w.fact_check_id = f.id
WHERE f.id = ANY(%(ids)s) ORDER BY f.id;

-- name: posts_per_day
-- How many matched posts were made on each local day.
SELECT m.fact_check_id, (p.created_at AT TIME ZONE %(zone)s)::date AS day, count(*) AS posts
FROM matches m JOIN posts p ON p.id = m.post_id AND p.gone_at IS NULL
WHERE m.fact_check_id = ANY(%(ids)s) AND m.confidence >= %(min_confidence)s AND p.created_at >= %(since)s
GROUP BY 1, 2 ORDER BY 1, 2;

-- name: claim_queries
-- The queries that found the new posts of each claim: those that a person pinned, then the most fruitful.
SELECT m.fact_check_id, q.words, count(DISTINCT m.post_id) AS posts
FROM matches m JOIN search_posts sp ON sp.post_id = m.post_id
JOIN searches s ON s.id = sp.search_id JOIN queries q ON q.id = s.query_id
JOIN watches w ON w.id = q.watch_id AND w.fact_check_id = m.fact_check_id
WHERE m.id = ANY(%(matches)s) GROUP BY 1, 2 ORDER BY 1, bool_or(q.arm = 'pinned') DESC, 3 DESC, 2;

-- name: recorded_queries
-- Queries with all that they were recorded with, and the fact-check whose claim each is for.
SELECT q.id, w.fact_check_id, q.kind, q.arm, q.policy, q.terms, q.edits
FROM queries q JOIN watches w ON w.id = q.watch_id WHERE q.id = ANY(%(ids)s);

-- name: arm_yields
-- What the queries of each arm read and found in searches that ended within a period. A post counts once an arm and
-- claim, and matches where it is about the claim that it was searched for. Plain queries are a control only beside
-- learned ones: not where a claim or a platform had no other.
WITH searched AS (
    SELECT s.id AS search_id, q.id AS query_id, q.arm, w.fact_check_id,
           bool_or(q.arm = 'learned') OVER (PARTITION BY q.watch_id, q.connector) AS compared
    FROM searches s JOIN queries q ON q.id = s.query_id JOIN watches w ON w.id = q.watch_id
    WHERE s.finished_at BETWEEN %(since)s AND %(until)s AND q.arm IN ('learned', 'plain')),
read AS (
    SELECT DISTINCT s.arm, s.fact_check_id, sp.post_id
    FROM searched s JOIN search_posts sp ON sp.search_id = s.search_id WHERE s.compared)
SELECT a.arm, a.queries, count(r.post_id) AS posts_read, count(m.id) AS matches
FROM (SELECT arm, count(DISTINCT query_id) AS queries FROM searched WHERE compared GROUP BY arm) a
JOIN read r ON r.arm = a.arm
LEFT JOIN matches m ON m.post_id = r.post_id AND m.fact_check_id = r.fact_check_id
                       AND m.confidence >= %(min_confidence)s
GROUP BY a.arm, a.queries;

-- name: quiet
-- Watched claims that have nothing new for the subscription.
SELECT f.claim, f.url, w.created_at FROM watches w JOIN fact_checks f ON f.id = w.fact_check_id
WHERE w.state = 'active' AND f.verdict = ANY(%(verdicts)s) AND NOT f.id = ANY(%(ids)s)
  AND (cardinality(%(languages)s::text[]) = 0 OR f.language = ANY(%(languages)s))
  AND (cardinality(%(publishers)s::text[]) = 0 OR f.publisher = ANY(%(publishers)s))
ORDER BY f.published_at DESC NULLS LAST, f.id;

-- name: work_done
-- Searches that ended within a period, the posts that they and those still going on found, and the claims that have
-- waited for a search since an hour before its end.
SELECT (SELECT count(*) FROM searches WHERE finished_at BETWEEN %(since)s AND %(until)s) AS searches,
       (SELECT count(DISTINCT sp.post_id) FROM search_posts sp JOIN searches s ON s.id = sp.search_id
        WHERE COALESCE(s.finished_at, %(until)s) BETWEEN %(since)s AND %(until)s) AS posts_read,
       (SELECT count(*) FROM watches WHERE state = 'active' AND next_due < %(until)s - interval '1 hour') AS overdue;

-- name: insert_digest
INSERT INTO digests (subscription_id, due_at, period_from, period_to, subject, message, claims, posts)
VALUES (%(subscription_id)s, %(due_at)s, %(period_from)s, %(period_to)s, %(subject)s, %(message)s, %(claims)s, %(posts)s)
ON CONFLICT (subscription_id, due_at) DO NOTHING RETURNING id;

-- name: insert_digest_match
INSERT INTO digest_matches (subscription_id, match_id, digest_id) VALUES (%(subscription_id)s, %(match_id)s, %(digest_id)s);

-- name: insert_outbox
INSERT INTO outbox (digest_id, recipient, message_id, next_try) VALUES (%(digest_id)s, %(recipient)s, %(message_id)s, %(now)s);

-- name: digest_for_day
-- The newest digest of a subscription that was due on a local day (null: of any day).
SELECT s.name AS subscription, d.subject, d.period_from, d.period_to, d.claims, d.posts, d.message FROM digests d JOIN subscriptions s ON s.id = d.subscription_id
WHERE (%(name)s::text IS NULL OR s.name = %(name)s)
  AND (%(day)s::date IS NULL OR (d.due_at AT TIME ZONE s.zone)::date = %(day)s)
ORDER BY d.due_at DESC, d.id DESC LIMIT 1;

-- name: take_pending
-- Mails to send now, marked as being sent in the same statement, so that no other worker takes them.
UPDATE outbox o SET state = 'sending', attempts = attempts + 1, updated_at = %(now)s
FROM digests d JOIN subscriptions s ON s.id = d.subscription_id
WHERE d.id = o.digest_id AND o.id = (
    SELECT id FROM outbox WHERE state = 'pending' AND next_try <= %(now)s ORDER BY next_try, id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING o.id, o.recipient, o.message_id, o.attempts, d.message, d.due_at, s.name AS subscription;

-- name: settle
UPDATE outbox SET state = %(state)s, detail = %(detail)s, next_try = %(next_try)s, updated_at = %(now)s WHERE id = %(id)s;

-- name: interrupted
-- Mails whose sender stopped in the middle: whether they left is not known.
UPDATE outbox SET state = %(state)s, detail = 'the sender stopped while this mail was on its way', updated_at = %(now)s
WHERE state = 'sending' AND updated_at < %(before)s RETURNING id;

-- name: any_pending
SELECT EXISTS (SELECT 1 FROM outbox WHERE state = 'pending' AND next_try <= %(now)s);

-- name: outbox
SELECT o.id, o.state, o.recipient, o.attempts, o.detail, o.updated_at, d.subject, s.name AS subscription
FROM outbox o JOIN digests d ON d.id = o.digest_id JOIN subscriptions s ON s.id = d.subscription_id
ORDER BY o.id DESC LIMIT %(limit)s;

-- name: resend
-- A person sends a mail again that failed or may not have arrived; it keeps its Message-ID. One that was emptied, since a
-- post in it had to go, is not there any more.
UPDATE outbox SET state = 'pending', next_try = %(now)s, attempts = 0, updated_at = %(now)s
WHERE id = %(id)s AND state IN ('failed', 'uncertain', 'sent')
  AND (SELECT d.message <> '' FROM digests d WHERE d.id = outbox.digest_id) RETURNING id;

-- name: outbox_counts
SELECT state, count(*) FROM outbox GROUP BY state ORDER BY state;

-- name: mailed_claims
-- The claims of a subscription's newest digest with their posts, the most first.
SELECT f.claim, f.rating_given, count(*) AS posts
FROM digest_matches d JOIN matches m ON m.id = d.match_id JOIN fact_checks f ON f.id = m.fact_check_id
WHERE d.digest_id = (SELECT max(g.id) FROM digests g JOIN subscriptions s ON s.id = g.subscription_id
                     WHERE s.name = %(subscription)s)
GROUP BY f.id ORDER BY posts DESC, f.claim;
