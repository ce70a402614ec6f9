-- Who began a watch, and who paused it: what a rating began a corrected rating may end, and take up again.
ALTER TABLE watches ADD COLUMN origin text NOT NULL DEFAULT 'rating' CHECK (origin IN ('rating', 'person')),
                    ADD COLUMN paused_by text CHECK (paused_by IN ('rating', 'person'));
UPDATE watches SET origin = 'person' WHERE why = 'added by hand';
UPDATE watches SET paused_by = CASE WHEN why LIKE 'rating corrected to %' THEN 'rating' ELSE 'person' END
WHERE state = 'paused';
