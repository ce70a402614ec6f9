-- The whole data model. Times are timestamptz, UTC.
CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE fact_checks (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key           text UNIQUE,                    -- canonical url, or source:id; null until a foreign row is prepared
    url           text,
    claim         text NOT NULL,
    title         text NOT NULL DEFAULT '',
    body          text NOT NULL DEFAULT '',
    publisher     text NOT NULL DEFAULT '',
    author        text NOT NULL DEFAULT '',
    language      text NOT NULL DEFAULT '',       -- BCP 47 primary tag; empty: to be found out
    rating_given  text NOT NULL DEFAULT '',       -- as the publisher wrote it
    rating_value  text,                           -- raw numbers of the publisher's own scale
    rating_best   text,
    rating_worst  text,
    rating_score  real,                           -- 0 worst … 1 best on that scale
    rating_flags  text[] NOT NULL DEFAULT '{}',
    verdict       text CHECK (verdict IN ('false', 'misleading', 'mixed', 'true', 'satire', 'unknown')),
    published_at  timestamptz,
    aliases       text[] NOT NULL DEFAULT '{}',   -- other addresses of the same article
    version       integer NOT NULL DEFAULT 1,
    embedding     vector(384),
    encoder       text,
    prepared_at   timestamptz,                    -- null: new or changed, to be cleaned, embedded and watched
    set_aside     text,                           -- why a row that another system wrote cannot be used
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX fact_checks_unprepared ON fact_checks (id) WHERE prepared_at IS NULL AND set_aside IS NULL;

CREATE TABLE fact_check_versions (
    fact_check_id bigint NOT NULL REFERENCES fact_checks ON DELETE CASCADE,
    version       integer NOT NULL,
    claim         text NOT NULL,
    title         text NOT NULL,
    body          text NOT NULL,
    rating_given  text NOT NULL,
    replaced_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (fact_check_id, version)
);

-- Whoever writes a change, the old wording is kept and the row is prepared anew; only preparing itself, which cleans a
-- row that another system wrote, is no new version.
CREATE FUNCTION keep_fact_check_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('claimwatch.preparing', true) = 'on' THEN
        RETURN NEW;
    END IF;
    IF (NEW.claim, NEW.title, NEW.body, NEW.rating_given, NEW.rating_value)
       IS DISTINCT FROM (OLD.claim, OLD.title, OLD.body, OLD.rating_given, OLD.rating_value) THEN
        INSERT INTO fact_check_versions (fact_check_id, version, claim, title, body, rating_given)
        VALUES (OLD.id, OLD.version, OLD.claim, OLD.title, OLD.body, OLD.rating_given);
        NEW.version := OLD.version + 1;
        NEW.prepared_at := NULL;
        NEW.set_aside := NULL;
        NEW.updated_at := now();
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fact_checks_versioned BEFORE UPDATE ON fact_checks
    FOR EACH ROW EXECUTE FUNCTION keep_fact_check_version();

CREATE TABLE watches (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fact_check_id bigint NOT NULL UNIQUE REFERENCES fact_checks ON DELETE CASCADE,
    state         text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused')),
    next_due      timestamptz NOT NULL,
    interval_s    integer NOT NULL CHECK (interval_s > 0),
    priority      integer NOT NULL DEFAULT 0,
    searched_to   timestamptz,                    -- everything before this moment has been searched
    run_until     timestamptz,                    -- end of the window of a search that has begun; null between searches
    why           text NOT NULL,                  -- why it is watched, and at this interval
    failures      integer NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX watches_due ON watches (next_due) WHERE state = 'active';

CREATE TABLE word_rules (                         -- a person pins a query or bans a word
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    watch_id      bigint NOT NULL REFERENCES watches ON DELETE CASCADE,
    rule          text NOT NULL CHECK (rule IN ('pin', 'ban')),
    words         text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (watch_id, rule, words)
);

CREATE TABLE queries (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    watch_id      bigint NOT NULL REFERENCES watches ON DELETE CASCADE,
    connector     text NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('ranked', 'dense', 'boolean')),
    words         text NOT NULL,                  -- the query as people read it
    terms         jsonb NOT NULL,                 -- AND of OR groups, with weights
    edits         jsonb NOT NULL,                 -- the trail from claim to query
    policy        text NOT NULL,
    arm           text NOT NULL CHECK (arm IN ('learned', 'plain', 'pinned')),
    created_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (watch_id, connector, policy, words)
);

CREATE TABLE searches (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    query_id      bigint NOT NULL REFERENCES queries ON DELETE CASCADE,
    syntax        text NOT NULL,                  -- what the platform was sent
    since         timestamptz NOT NULL,
    until         timestamptz NOT NULL,
    cursor        text,
    outcome       text CHECK (outcome IN ('found', 'rate_limited', 'budget_used_up', 'not_permitted', 'unavailable')),
    detail        text NOT NULL DEFAULT '',       -- the outcome in words
    posts         integer NOT NULL DEFAULT 0,
    spent         bigint NOT NULL DEFAULT 0,
    notices       text[] NOT NULL DEFAULT '{}',
    started_at    timestamptz NOT NULL DEFAULT now(),
    finished_at   timestamptz,
    UNIQUE (query_id, syntax, until)
);
CREATE INDEX searches_finished ON searches (finished_at);

CREATE TABLE posts (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    platform      text NOT NULL,
    platform_id   text NOT NULL,
    author        text,                           -- keyed hash
    text          text NOT NULL,
    url           text,
    links         text[] NOT NULL DEFAULT '{}',
    language      text NOT NULL DEFAULT 'und',
    likes         bigint,
    reposts       bigint,
    replies       bigint,
    views         bigint,
    created_at    timestamptz NOT NULL,
    fetched_at    timestamptz NOT NULL,
    cluster       bigint,                         -- the first post of a group of near-duplicates
    embedding     vector(384),
    gone_at       timestamptz,
    matched_at    timestamptz,                    -- null: not yet compared with the fact-checks
    unmatched_why text,
    UNIQUE (platform, platform_id)
);
CREATE INDEX posts_unmatched ON posts (id) WHERE matched_at IS NULL AND gone_at IS NULL;
CREATE INDEX posts_created ON posts (created_at);

CREATE TABLE search_posts (                       -- which search found which post
    search_id     bigint NOT NULL REFERENCES searches ON DELETE CASCADE,
    post_id       bigint NOT NULL REFERENCES posts ON DELETE CASCADE,
    PRIMARY KEY (search_id, post_id)
);
CREATE INDEX search_posts_post ON search_posts (post_id);

CREATE TABLE matches (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    post_id       bigint NOT NULL REFERENCES posts ON DELETE CASCADE,
    fact_check_id bigint NOT NULL REFERENCES fact_checks ON DELETE CASCADE,
    confidence    real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    reason        text NOT NULL,
    stance        text NOT NULL CHECK (stance IN ('spreading', 'debunking', 'related', 'unjudged')),
    evidence      text NOT NULL DEFAULT '',       -- the sentence that matched best
    scores        jsonb NOT NULL,
    model         text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (post_id, fact_check_id)
);
CREATE INDEX matches_fact_check ON matches (fact_check_id);

CREATE TABLE reviews (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    match_id      bigint NOT NULL REFERENCES matches ON DELETE CASCADE,
    reviewer      text NOT NULL,
    verdict       text NOT NULL CHECK (verdict IN ('confirmed', 'dismissed', 'not sure', 'wrong stance')),
    stance        text CHECK (stance IN ('spreading', 'debunking', 'related')),
    created_at    timestamptz NOT NULL DEFAULT now(),
    undone_at     timestamptz
);

CREATE TABLE subscriptions (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL UNIQUE,
    recipients    text[] NOT NULL CHECK (cardinality(recipients) > 0),
    verdicts      text[] NOT NULL DEFAULT '{false,misleading}',
    languages     text[] NOT NULL DEFAULT '{}',   -- of the fact-check; empty: all
    publishers    text[] NOT NULL DEFAULT '{}',   -- empty: all
    min_confidence real NOT NULL DEFAULT 0.5,
    local_time    time NOT NULL,
    zone          text NOT NULL,                  -- IANA name
    empty_days    text NOT NULL DEFAULT 'skip' CHECK (empty_days IN ('skip', 'send')),
    state         text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused')),
    next_due      timestamptz NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE digests (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subscription_id bigint NOT NULL REFERENCES subscriptions ON DELETE CASCADE,
    due_at          timestamptz NOT NULL,
    period_from     timestamptz NOT NULL,
    period_to       timestamptz NOT NULL,
    subject         text NOT NULL,
    message         bytea NOT NULL,               -- the mail without its recipient, frozen
    claims          integer NOT NULL,
    posts           integer NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (subscription_id, due_at)
);

CREATE TABLE digest_matches (                     -- a match is mailed once per subscription
    subscription_id bigint NOT NULL REFERENCES subscriptions ON DELETE CASCADE,
    match_id        bigint NOT NULL REFERENCES matches ON DELETE CASCADE,
    digest_id       bigint NOT NULL REFERENCES digests ON DELETE CASCADE,
    PRIMARY KEY (subscription_id, match_id)
);

CREATE TABLE outbox (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest_id     bigint NOT NULL REFERENCES digests ON DELETE CASCADE,
    recipient     text NOT NULL,
    message_id    text NOT NULL UNIQUE,
    state         text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sending', 'sent', 'failed', 'uncertain')),
    attempts      integer NOT NULL DEFAULT 0,
    next_try      timestamptz NOT NULL DEFAULT now(),
    detail        text NOT NULL DEFAULT '',       -- where it went, or what the server said
    updated_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (digest_id, recipient)
);
CREATE INDEX outbox_open ON outbox (next_try) WHERE state IN ('pending', 'sending');

CREATE TABLE budgets (
    connector     text NOT NULL,
    month         date NOT NULL CHECK (extract(day FROM month) = 1),
    cap           bigint NOT NULL CHECK (cap >= 0),
    spent         bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
    PRIMARY KEY (connector, month)
);

CREATE TABLE models (
    name          text NOT NULL,
    version       text NOT NULL,
    sha256        text NOT NULL,
    metrics       jsonb NOT NULL,
    data          jsonb NOT NULL,
    active        boolean NOT NULL DEFAULT false,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (name, version)
);
CREATE UNIQUE INDEX models_one_active ON models (name) WHERE active;

CREATE TABLE quarantine (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source        text NOT NULL,                  -- file name, or "fact_checks" for a row of another system
    row           bigint,                         -- line of the file (the header is line 1), or id of the row
    field         text NOT NULL DEFAULT '',
    reason        text NOT NULL,
    record        text NOT NULL,                  -- as it came, cut at 10,000 characters
    created_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE NULLS NOT DISTINCT (source, row, reason)
);
