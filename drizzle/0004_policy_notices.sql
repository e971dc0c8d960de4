-- Tells every process that holds something of a workspace in a cache to drop it: the payload is the
-- workspace's id. Only to spare reads and to wipe keys early; that a cache is stale is noticed by
-- policy_version and by the token's row all the same (src/audit/trail.ts).
CREATE OR REPLACE FUNCTION bump_policy_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE workspaces SET policy_version = policy_version + 1
    WHERE id IN (SELECT workspace_id FROM changed);
  PERFORM pg_notify('cloakroom_policy', workspace_id::text) FROM changed GROUP BY workspace_id;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE FUNCTION tell_token_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('cloakroom_policy', OLD.workspace_id::text);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER tokens_revoked AFTER UPDATE OF revoked_at, expires_at ON tokens FOR EACH ROW EXECUTE FUNCTION tell_token_change();
--> statement-breakpoint
CREATE TRIGGER tokens_deleted AFTER DELETE ON tokens FOR EACH ROW EXECUTE FUNCTION tell_token_change();
