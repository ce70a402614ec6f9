-- name: caps
SELECT scope, period, unit, cap FROM budgets WHERE connector = %(connector)s ORDER BY scope, period, unit;

-- name: lock
-- The row that a period's spending is counted in, made if need be and locked until the transaction ends.
INSERT INTO spending (connector, watch_id, period, starts) VALUES (%(connector)s, %(watch_id)s, %(period)s, %(starts)s)
ON CONFLICT (connector, watch_id, period, starts) DO UPDATE SET posts = spending.posts
RETURNING posts, micro_dollars;

-- name: add
-- Spend more, or give back what was reserved and not spent.
UPDATE spending SET posts = posts + %(posts)s, micro_dollars = micro_dollars + %(micro_dollars)s
WHERE connector = %(connector)s AND watch_id = %(watch_id)s AND period = %(period)s AND starts = %(starts)s;

-- name: charge_post
-- Whether a post is charged now: not again on the same UTC day.
INSERT INTO charged_posts (connector, day, mark) VALUES (%(connector)s, %(day)s, %(mark)s)
ON CONFLICT DO NOTHING RETURNING mark;

-- name: forget_charges
DELETE FROM charged_posts WHERE day < %(before)s;

-- name: set_cap
INSERT INTO budgets (connector, scope, period, unit, cap)
VALUES (%(connector)s, %(scope)s, %(period)s, %(unit)s, %(cap)s)
ON CONFLICT (connector, scope, period, unit) DO UPDATE SET cap = excluded.cap;

-- name: remove_cap
DELETE FROM budgets
WHERE connector = %(connector)s AND scope = %(scope)s AND period = %(period)s AND unit = %(unit)s RETURNING cap;

-- name: overview
-- Every cap with what the present period has spent of it; for claims, the one that spent most.
SELECT b.connector, b.scope, b.period, b.unit, b.cap,
       COALESCE(max(CASE b.unit WHEN 'posts' THEN s.posts ELSE s.micro_dollars END), 0) AS spent
FROM budgets b
LEFT JOIN spending s ON s.connector = b.connector AND s.period = b.period
     AND s.starts = date_trunc(b.period, %(now)s::timestamptz AT TIME ZONE 'UTC')::date
     AND (s.watch_id = 0) = (b.scope = 'connector')
GROUP BY b.connector, b.scope, b.period, b.unit, b.cap ORDER BY b.connector, b.scope, b.period, b.unit;
