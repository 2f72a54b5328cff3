-- Calls are looked for over all sessions of an organization, so each says whose it is.
ALTER TABLE tool_calls ADD COLUMN organization_id uuid;

-- A process of the version before writes calls without it. What writes it itself does not come here.
CREATE FUNCTION set_call_organization() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  SELECT organization_id INTO NEW.organization_id FROM sessions WHERE id = NEW.session_id;
  RETURN NEW;
END $$;

CREATE TRIGGER tool_calls_organization BEFORE INSERT OR UPDATE ON tool_calls
  FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION set_call_organization();
