-- name: watch_wanted
-- Watches for prepared fact-checks whose verdict is wanted, also those that an earlier rating had paused; the ones that
-- are watched already, or that a person paused, stay as they are.
INSERT INTO watches (fact_check_id, next_due, created_at, interval_s, why)
SELECT f.id, %(now)s, %(now)s, %(interval_s)s, 'rated ' || f.verdict
FROM fact_checks f
WHERE f.prepared_at IS NOT NULL AND f.verdict = ANY(%(verdicts)s) AND f.id = ANY(%(ids)s)
ON CONFLICT (fact_check_id) DO UPDATE SET state = 'active', paused_by = NULL, why = excluded.why, next_due = excluded.next_due
WHERE watches.paused_by = 'rating' RETURNING id;

-- name: watch_all_wanted
-- The same for all fact-checks: a subscription asks for more verdicts than before.
INSERT INTO watches (fact_check_id, next_due, created_at, interval_s, why)
SELECT f.id, %(now)s, %(now)s, %(interval_s)s, 'rated ' || f.verdict
FROM fact_checks f WHERE f.prepared_at IS NOT NULL AND f.verdict = ANY(%(verdicts)s)
ON CONFLICT (fact_check_id) DO UPDATE SET state = 'active', paused_by = NULL, why = excluded.why, next_due = excluded.next_due
WHERE watches.paused_by = 'rating' RETURNING id;

-- name: pause_unwanted
-- A corrected rating ends a watch that a rating began; one that a person added stays.
UPDATE watches w SET state = 'paused', paused_by = 'rating', why = 'rating corrected to ' || f.verdict
FROM fact_checks f
WHERE f.id = w.fact_check_id AND f.id = ANY(%(ids)s) AND NOT f.verdict = ANY(%(verdicts)s)
  AND w.state = 'active' AND w.origin = 'rating';

-- name: add
-- A person watches a fact-check whatever its rating.
INSERT INTO watches (fact_check_id, next_due, created_at, interval_s, why, priority, origin)
SELECT id, %(now)s, %(now)s, %(interval_s)s, 'added by hand', 1, 'person' FROM fact_checks WHERE key = %(key)s AND prepared_at IS NOT NULL
ON CONFLICT (fact_check_id) DO UPDATE SET state = 'active', paused_by = NULL, origin = 'person', priority = 1,
    why = 'added by hand', next_due = excluded.next_due
RETURNING id;

-- name: list
SELECT w.id, w.state, w.next_due, w.interval_s, w.why, f.key, f.claim, f.url, f.verdict,
       (SELECT min(p.searched_to) FROM watch_progress p WHERE p.watch_id = w.id) AS searched_to,
       (SELECT count(*) FROM matches m WHERE m.fact_check_id = f.id) AS matches,
       ARRAY(SELECT r.rule || ' ' || r.words FROM word_rules r WHERE r.watch_id = w.id ORDER BY r.id) AS rules
FROM watches w JOIN fact_checks f ON f.id = w.fact_check_id
ORDER BY w.next_due, w.id LIMIT %(limit)s;

-- name: set_state
UPDATE watches SET state = %(state)s, paused_by = CASE WHEN %(state)s = 'paused' THEN 'person' END
WHERE id = %(id)s RETURNING id;

-- name: add_rule
INSERT INTO word_rules (watch_id, rule, words) SELECT id, %(rule)s, %(words)s FROM watches WHERE id = %(id)s
ON CONFLICT (watch_id, rule, words) DO UPDATE SET words = excluded.words RETURNING id;

-- name: rules
SELECT rule, words FROM word_rules WHERE watch_id = %(id)s ORDER BY id;

-- name: due
-- Due watches without an open job, in order of due time, locked so that two ticks never take the same.
SELECT w.id FROM watches w
WHERE w.state = 'active' AND w.next_due <= %(now)s
  AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs j
                  WHERE j.lock = 'watch-' || w.id AND j.status IN ('todo', 'doing'))
ORDER BY w.priority DESC, w.next_due, w.id LIMIT %(limit)s
FOR UPDATE OF w SKIP LOCKED;

-- name: begin
-- Begin, or go on with, the search of a due watch; no row: it is not due (any more).
UPDATE watches w SET run_until = COALESCE(w.run_until, %(now)s)
FROM fact_checks f
WHERE w.id = %(id)s AND f.id = w.fact_check_id AND w.state = 'active' AND w.next_due <= %(now)s
RETURNING w.id, w.run_until, w.interval_s, w.failures, f.id AS fact_check_id, f.key, f.claim, f.language;

-- name: finish
-- A search is over: when it is due again, and why then.
UPDATE watches SET next_due = %(next_due)s, interval_s = %(interval_s)s, run_until = NULL, failures = 0, why = %(why)s
WHERE id = %(id)s;

-- name: postpone
-- The run goes on later with what it could not do: where it broke must not hold up the rest.
UPDATE watches SET next_due = %(next_due)s, failures = failures + 1 WHERE id = %(id)s;

-- name: failures
SELECT failures FROM watches WHERE id = %(id)s;

-- name: progress
SELECT searched_to, open_until FROM watch_progress WHERE watch_id = %(id)s AND connector = %(connector)s;

-- name: open_window
INSERT INTO watch_progress (watch_id, connector, open_until) VALUES (%(id)s, %(connector)s, %(until)s)
ON CONFLICT (watch_id, connector) DO UPDATE SET open_until = excluded.open_until;

-- name: give_up
UPDATE watch_progress SET open_until = NULL WHERE watch_id = %(id)s AND connector = %(connector)s;

-- name: advance
-- A connector has searched everything before a moment.
INSERT INTO watch_progress (watch_id, connector, searched_to) VALUES (%(id)s, %(connector)s, %(searched_to)s)
ON CONFLICT (watch_id, connector) DO UPDATE SET searched_to = excluded.searched_to, open_until = NULL;

-- name: counts
SELECT count(*) FILTER (WHERE state = 'active') AS active, count(*) FILTER (WHERE state = 'paused') AS paused,
       count(*) FILTER (WHERE state = 'active' AND next_due <= %(now)s) AS due,
       count(*) FILTER (WHERE failures > 0) AS failing
FROM watches;
