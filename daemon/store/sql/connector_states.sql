-- name: state
SELECT outcome, detail, until, closed_until, failures FROM connector_states WHERE connector = %(connector)s;

-- name: failed
INSERT INTO connector_states (connector, outcome, detail, until, closed_until, updated_at)
VALUES (%(connector)s, %(outcome)s, %(detail)s, %(until)s, %(closed_until)s, %(now)s)
ON CONFLICT (connector) DO UPDATE SET outcome = excluded.outcome, detail = excluded.detail, until = excluded.until,
    closed_until = GREATEST(connector_states.closed_until, excluded.closed_until),
    failures = connector_states.failures + 1, updated_at = excluded.updated_at;

-- name: works
-- An answer to a request that left before the failure became known says nothing against it.
DELETE FROM connector_states WHERE connector = %(connector)s AND updated_at <= %(asked_at)s;

-- name: all
SELECT connector, outcome, detail, until, closed_until, failures FROM connector_states ORDER BY connector;
