-- name: database
-- Version of the server and of its vector extension; no row: it has none.
SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'vector';

-- name: queue
-- Workers that have been heard of since a moment, jobs that wait, jobs that failed.
SELECT count(*) FILTER (WHERE last_heartbeat > now() - %(age)s),
       (SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'),
       (SELECT count(*) FROM procrastinate_jobs WHERE status = 'failed')
FROM procrastinate_workers;

-- name: jobs
SELECT status::text, count(*) FROM procrastinate_jobs GROUP BY status ORDER BY status;

-- name: try_tick_lock
-- Held until the transaction ends, so that two daemons that tick at once do the work once.
SELECT pg_try_advisory_xact_lock(%(lock)s);
