CREATE TABLE forgotten (                          -- posts and authors that must never come back, by a one-way mark
    platform      text NOT NULL,
    mark          text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (platform, mark)
);

CREATE TABLE cluster_bands (                      -- of the first post of each cluster: where near-duplicates look
    band          smallint NOT NULL,
    hash          bigint NOT NULL,
    post_id       bigint NOT NULL REFERENCES posts ON DELETE CASCADE,
    PRIMARY KEY (band, hash, post_id)
);
CREATE INDEX cluster_bands_post ON cluster_bands (post_id);
