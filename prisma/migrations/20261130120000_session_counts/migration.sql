-- How many sessions an owner has, kept by triggers, so that no statement, cascade or load by hand can forget it. Every
-- statement adds a row of its own with the difference, and the sweep folds an owner's rows into one. So nobody waits for
-- anybody: one row per owner would make all creates of an owner wait for a transaction that hangs.
-- Without a foreign key: what is left of an organization that is gone adds up to nothing, and is folded away.
CREATE TABLE session_counts (
  organization_id  uuid NOT NULL,
  user_name        text NOT NULL,
  id               bigserial,
  count            bigint NOT NULL,
  PRIMARY KEY (organization_id, user_name, id)
);

CREATE FUNCTION count_inserted_sessions() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO session_counts (organization_id, user_name, count)
  SELECT organization_id, user_name, count(*) FROM changed GROUP BY organization_id, user_name;
  RETURN NULL;
END $$;

CREATE FUNCTION count_deleted_sessions() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO session_counts (organization_id, user_name, count)
  SELECT organization_id, user_name, -count(*) FROM changed GROUP BY organization_id, user_name;
  RETURN NULL;
END $$;

CREATE FUNCTION count_moved_session() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO session_counts (organization_id, user_name, count)
  VALUES (OLD.organization_id, OLD.user_name, -1), (NEW.organization_id, NEW.user_name, 1);
  RETURN NULL;
END $$;

CREATE FUNCTION count_no_sessions() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM session_counts;
  RETURN NULL;
END $$;

-- Processes of the version before may be at work. The lock waits for their transactions and keeps them from writing until
-- this one ends, so that each session is counted once: by what follows, or by a trigger.
LOCK TABLE sessions IN SHARE ROW EXCLUSIVE MODE;

CREATE TRIGGER sessions_count_inserted AFTER INSERT ON sessions
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_inserted_sessions();
CREATE TRIGGER sessions_count_deleted AFTER DELETE ON sessions
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_sessions();
CREATE TRIGGER sessions_count_moved AFTER UPDATE OF organization_id, user_name ON sessions
  FOR EACH ROW EXECUTE FUNCTION count_moved_session();
CREATE TRIGGER sessions_count_truncated AFTER TRUNCATE ON sessions
  FOR EACH STATEMENT EXECUTE FUNCTION count_no_sessions();

INSERT INTO session_counts (organization_id, user_name, count)
SELECT organization_id, user_name, count(*) FROM sessions GROUP BY organization_id, user_name;
