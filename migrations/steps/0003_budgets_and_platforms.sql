-- What may be spent, and what was: reserved before a request, settled after it. Nothing used the first form of budgets.
DROP TABLE budgets;
CREATE TABLE budgets (
    connector     text NOT NULL,
    scope         text NOT NULL CHECK (scope IN ('connector', 'claim')),  -- for all together, or for each claim
    period        text NOT NULL CHECK (period IN ('day', 'month')),       -- UTC
    unit          text NOT NULL CHECK (unit IN ('posts', 'micro_dollars')),
    cap           bigint NOT NULL CHECK (cap >= 0),
    PRIMARY KEY (connector, scope, period, unit)
);
CREATE TABLE spending (                           -- a reservation that was never settled stays counted as spent
    connector     text NOT NULL,
    watch_id      bigint NOT NULL,                -- 0: all claims together
    period        text NOT NULL,
    starts        date NOT NULL,
    posts         bigint NOT NULL DEFAULT 0 CHECK (posts >= 0),
    micro_dollars bigint NOT NULL DEFAULT 0 CHECK (micro_dollars >= 0),
    PRIMARY KEY (connector, watch_id, period, starts)
);
CREATE TABLE charged_posts (                      -- a post is charged once a UTC day
    connector     text NOT NULL,
    day           date NOT NULL,
    post_id       bigint NOT NULL REFERENCES posts ON DELETE CASCADE,
    PRIMARY KEY (connector, day, post_id)
);
CREATE INDEX charged_posts_post ON charged_posts (post_id);
CREATE INDEX charged_posts_day ON charged_posts (day);

-- Until when a connector is left alone, and why; no row: it works.
CREATE TABLE connector_states (
    connector     text PRIMARY KEY,
    outcome       text NOT NULL CHECK (outcome IN ('rate_limited', 'budget_used_up', 'not_permitted', 'unavailable')),
    detail        text NOT NULL,
    until         timestamptz,                    -- as the platform said; null where it did not
    closed_until  timestamptz,                    -- null: not closed (yet)
    failures      integer NOT NULL DEFAULT 1,     -- in a row
    updated_at    timestamptz NOT NULL
);

-- Each connector has come as far as it has; one that fails holds up no other.
CREATE TABLE watch_progress (
    watch_id      bigint NOT NULL REFERENCES watches ON DELETE CASCADE,
    connector     text NOT NULL,
    searched_to   timestamptz NOT NULL,           -- everything before this moment has been searched
    PRIMARY KEY (watch_id, connector)
);
INSERT INTO watch_progress (watch_id, connector, searched_to)
SELECT DISTINCT w.id, q.connector, w.searched_to FROM watches w JOIN queries q ON q.watch_id = w.id
WHERE w.searched_to IS NOT NULL;

ALTER TABLE searches ADD COLUMN edits jsonb NOT NULL DEFAULT '[]',        -- what compiling for the platform changed
                     ADD COLUMN incomplete text NOT NULL DEFAULT '';      -- why the platform gave no more
ALTER TABLE posts ADD COLUMN connector text,                              -- that found it first: its policy holds
                  ADD COLUMN checked_at timestamptz;                      -- when it was last known to be there
CREATE INDEX posts_checked ON posts (connector, checked_at) WHERE gone_at IS NULL;
CREATE INDEX posts_cluster ON posts (cluster);
