-- name: record_query
-- The same query of the same policy is one row, however often it is searched.
INSERT INTO queries (watch_id, connector, kind, words, terms, edits, policy, arm)
VALUES (%(watch_id)s, %(connector)s, %(kind)s, %(words)s, %(terms)s, %(edits)s, %(policy)s, %(arm)s)
ON CONFLICT (watch_id, connector, policy, words) DO UPDATE SET edits = excluded.edits
RETURNING id;

-- name: open_search
-- Begin a search, or find the one that was begun before a restart, with how far it came.
INSERT INTO searches (query_id, syntax, edits, since, until, started_at)
VALUES (%(query_id)s, %(syntax)s, %(edits)s, %(since)s, %(until)s, %(now)s)
ON CONFLICT (query_id, syntax, until) DO UPDATE SET syntax = excluded.syntax
RETURNING id, cursor, outcome, posts;

-- name: advance
-- A page is in: where the next one begins.
UPDATE searches SET cursor = %(cursor)s,
       posts = (SELECT count(*) FROM search_posts WHERE search_id = %(id)s),
       notices = notices || %(notices)s::text[]
WHERE id = %(id)s;

-- name: add_spent
UPDATE searches SET spent = spent + %(spent)s WHERE id = %(id)s RETURNING posts;

-- name: close
UPDATE searches SET outcome = %(outcome)s, detail = %(detail)s, incomplete = %(incomplete)s, finished_at = %(now)s
WHERE id = %(id)s;

-- name: brought
-- What a query's searches brought: posts read, posts no earlier search for the claim had found, the claim's
-- confidences among them. Searches for other claims do not count, so that the order of jobs changes nothing.
SELECT count(*) AS posts_read,
       count(*) FILTER (WHERE NOT EXISTS (
           SELECT 1 FROM search_posts e JOIN searches s ON s.id = e.search_id JOIN queries q ON q.id = s.query_id
           WHERE e.post_id = sp.post_id AND e.search_id < sp.search_id AND q.watch_id = %(watch_id)s)) AS new_posts,
       array_agg(m.confidence ORDER BY m.confidence DESC) FILTER (WHERE m.id IS NOT NULL) AS confidences
FROM search_posts sp
LEFT JOIN matches m ON m.post_id = sp.post_id AND m.fact_check_id = %(fact_check_id)s
WHERE sp.search_id = ANY(%(searches)s);

-- name: save_post
-- A post seen again brings its reach up to date; its text stays as it was first read. One that was removed stays empty.
INSERT INTO posts (platform, platform_id, author, text, url, links, language, likes, reposts, replies, views,
                   created_at, fetched_at, connector, checked_at)
VALUES (%(platform)s, %(platform_id)s, %(author)s, %(text)s, %(url)s, %(links)s, %(language)s, %(likes)s, %(reposts)s,
        %(replies)s, %(views)s, %(created_at)s, %(now)s, %(connector)s, %(now)s)
ON CONFLICT (platform, platform_id) DO UPDATE SET
    checked_at = excluded.checked_at,
    author = CASE WHEN posts.gone_at IS NULL THEN excluded.author END,
    likes = CASE WHEN posts.gone_at IS NULL THEN COALESCE(excluded.likes, posts.likes) END,
    reposts = CASE WHEN posts.gone_at IS NULL THEN COALESCE(excluded.reposts, posts.reposts) END,
    replies = CASE WHEN posts.gone_at IS NULL THEN COALESCE(excluded.replies, posts.replies) END,
    views = CASE WHEN posts.gone_at IS NULL THEN COALESCE(excluded.views, posts.views) END
RETURNING id;

-- name: link_post
INSERT INTO search_posts (search_id, post_id) VALUES (%(search_id)s, %(post_id)s) ON CONFLICT DO NOTHING;

-- name: unmatched
-- Posts not yet compared with the fact-checks: those named, or any; locked in the order in which pages are stored, so
-- that two workers never wait for each other, and the second one passes over what the first has done.
SELECT id, text, links, created_at FROM posts
WHERE matched_at IS NULL AND gone_at IS NULL AND (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s))
ORDER BY platform, platform_id LIMIT %(limit)s FOR UPDATE;

-- name: insert_match
INSERT INTO matches (post_id, fact_check_id, confidence, reason, stance, evidence, passage, scores, model,
                     created_at)
SELECT %(post_id)s, f.id, %(confidence)s, %(reason)s, %(stance)s, %(evidence)s, %(passage)s, %(scores)s, %(model)s,
       %(now)s
FROM fact_checks f WHERE f.key = %(key)s
ON CONFLICT (post_id, fact_check_id) DO NOTHING;

-- name: mark_matched
UPDATE posts SET matched_at = %(now)s, unmatched_why = %(why)s, language = COALESCE(%(language)s, language)
WHERE id = %(post_id)s;

-- name: fresh_matches
-- Posts that the searches of one run found first and that match the claim: what decides how soon it is searched again.
SELECT count(DISTINCT sp.post_id)
FROM search_posts sp
JOIN searches s ON s.id = sp.search_id AND s.until = %(until)s
JOIN queries q ON q.id = s.query_id AND q.watch_id = %(watch_id)s
JOIN matches m ON m.post_id = sp.post_id AND m.fact_check_id = %(fact_check_id)s
WHERE NOT EXISTS (SELECT 1 FROM search_posts e JOIN searches b ON b.id = e.search_id JOIN queries a ON a.id = b.query_id
                  WHERE e.post_id = sp.post_id AND a.watch_id = q.watch_id AND b.until < s.until);

-- name: failures
-- Searches that were not carried out, or not wholly, within a period, in words.
SELECT q.connector, s.outcome, CASE WHEN s.outcome = 'found' THEN s.incomplete ELSE s.detail END AS detail,
       count(*) AS searches, min(s.finished_at) AS first, max(s.finished_at) AS last
FROM searches s JOIN queries q ON q.id = s.query_id
WHERE (s.outcome <> 'found' OR s.incomplete <> '') AND s.finished_at > %(since)s AND s.finished_at <= %(until)s
GROUP BY q.connector, s.outcome, 3 ORDER BY q.connector, first;

-- name: past_yield
-- Posts that past searches of a connector brought on average: those with the same words, else its last thousand.
SELECT ceil(COALESCE(avg(r.posts) FILTER (WHERE r.syntax = %(syntax)s), avg(r.posts)))::int
FROM (SELECT s.posts, s.syntax FROM searches s JOIN queries q ON q.id = s.query_id
      WHERE q.connector = %(connector)s AND s.outcome = 'found'
      ORDER BY s.syntax = %(syntax)s DESC, s.id DESC LIMIT 1000) r;

-- name: counts
SELECT (SELECT count(*) FROM queries) AS queries, (SELECT count(*) FROM searches) AS searches,
       (SELECT count(*) FROM posts WHERE gone_at IS NULL) AS posts,
       (SELECT count(*) FROM posts WHERE matched_at IS NULL AND gone_at IS NULL) AS unmatched,
       (SELECT count(*) FROM posts WHERE unmatched_why = 'no text') AS "without text",
       (SELECT count(*) FROM matches) AS matches;
