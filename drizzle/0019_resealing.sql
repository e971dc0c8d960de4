-- `cloakroom rekey-outer` puts the same content under another key of the server. Nothing that is decided by
-- changes with that: caches stay good, and the row of the workspace need not be held.
CREATE OR REPLACE FUNCTION bump_policy_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('cloakroom.resealing', true) = 'on' THEN RETURN NULL; END IF;
  UPDATE workspaces SET policy_version = policy_version + 1
    WHERE id IN (SELECT workspace_id FROM changed);
  PERFORM pg_notify('cloakroom_policy', workspace_id::text) FROM changed GROUP BY workspace_id;
  RETURN NULL;
END
$$;
