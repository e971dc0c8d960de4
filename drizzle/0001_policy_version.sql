-- workspaces.policy_version grows with every change of what the resolver decides by. Triggers do it,
-- because a forgotten line of application code would leave a stale cache in charge of a credential.
-- Statement level: an upsert of 500 secrets touches the workspace's row once.
CREATE FUNCTION bump_policy_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE workspaces SET policy_version = policy_version + 1
    WHERE id IN (SELECT workspace_id FROM changed);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER allowlist_entries_inserted AFTER INSERT ON allowlist_entries REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER allowlist_entries_updated AFTER UPDATE ON allowlist_entries REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER allowlist_entries_deleted AFTER DELETE ON allowlist_entries REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER secrets_inserted AFTER INSERT ON secrets REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER secrets_updated AFTER UPDATE ON secrets REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER secrets_deleted AFTER DELETE ON secrets REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER token_envelopes_inserted AFTER INSERT ON token_envelopes REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER token_envelopes_updated AFTER UPDATE ON token_envelopes REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
--> statement-breakpoint
CREATE TRIGGER token_envelopes_deleted AFTER DELETE ON token_envelopes REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_policy_version();
