-- What import writes is clean already: only rows that another system wrote are cleaned when they are prepared.
ALTER TABLE fact_checks ADD COLUMN clean boolean NOT NULL DEFAULT false;
UPDATE fact_checks SET clean = prepared_at IS NOT NULL;

-- Whoever writes a change, the old wording is kept and the row is prepared anew; only cleaning itself is no new version.
-- `claimwatch.writer` is set, for their transaction, by import and by cleaning.
CREATE OR REPLACE FUNCTION keep_fact_check_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    writer text := COALESCE(current_setting('claimwatch.writer', true), '');
BEGIN
    IF writer = 'cleaning' THEN
        RETURN NEW;
    END IF;
    IF (NEW.claim, NEW.title, NEW.body, NEW.rating_given, NEW.rating_value)
       IS DISTINCT FROM (OLD.claim, OLD.title, OLD.body, OLD.rating_given, OLD.rating_value) THEN
        INSERT INTO fact_check_versions (fact_check_id, version, claim, title, body, rating_given)
        VALUES (OLD.id, OLD.version, OLD.claim, OLD.title, OLD.body, OLD.rating_given);
        NEW.version := OLD.version + 1;
        NEW.clean := writer = 'import';
        NEW.prepared_at := NULL;
        NEW.set_aside := NULL;
        NEW.updated_at := now();
    END IF;
    RETURN NEW;
END $$;
