-- Derived credentials (protocol 13.2): one row per secret. A row outlives its deleted secret while that can be restored.
CREATE TABLE "derived_states" (
	"workspace_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"environment" text NOT NULL,
	"key" text NOT NULL,
	"generation" bigint NOT NULL,
	"state" "bytea",
	"derived_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"lease_id" uuid,
	"lease_until" timestamp (3) with time zone,
	"sent_at" timestamp (3) with time zone,
	"failed_at" timestamp (3) with time zone,
	"failed_code" text,
	"failures" integer DEFAULT 0 NOT NULL,
	"retry_at" timestamp (3) with time zone,
	"is_final" boolean DEFAULT false NOT NULL,
	"expired_count" integer DEFAULT 0 NOT NULL,
	"expired_since" timestamp (3) with time zone,
	CONSTRAINT "derived_states_workspace_id_project_id_environment_key_pk" PRIMARY KEY("workspace_id","project_id","environment","key")
);
--> statement-breakpoint
ALTER TABLE "derived_states" ADD CONSTRAINT "derived_states_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
-- Caches hold states by policy version. A lease or a failure changes no generation, so it leaves them alone.
CREATE FUNCTION bump_derived_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  stored uuid[];
BEGIN
  SELECT array_agg(DISTINCT workspace_id) INTO stored FROM (
    SELECT workspace_id, project_id, environment, key, generation FROM changed
    EXCEPT SELECT workspace_id, project_id, environment, key, generation FROM earlier) AS generations;
  IF stored IS NULL THEN RETURN NULL; END IF;
  UPDATE workspaces SET policy_version = policy_version + 1 WHERE id = ANY (stored);
  PERFORM pg_notify('cloakroom_policy', id::text) FROM unnest(stored) AS id;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER derived_states_updated AFTER UPDATE ON derived_states REFERENCING OLD TABLE AS earlier NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bump_derived_version();
--> statement-breakpoint
-- Changes by members lock the workspace before a state. A process that stores a state calls this first, because the
-- opposite order would be a deadlock. Its database user may have no privilege to lock the workspace itself.
CREATE FUNCTION lock_derived_workspace(locked uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM workspaces WHERE id = locked FOR NO KEY UPDATE;
  RETURN true;
END
$$;
--> statement-breakpoint
-- A secret that is written again, rolled back or restored may derive again. A live lease loses its holder, so that an
-- attempt with the old value records no failure. Once a refresh token was sent, the lease still lasts until its end.
CREATE FUNCTION clear_derived_failures() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('cloakroom.resealing', true) = 'on' THEN RETURN NULL; END IF;
  UPDATE derived_states d SET failed_at = NULL, failed_code = NULL, failures = 0, retry_at = NULL, is_final = false,
    lease_id = NULL,
    lease_until = CASE WHEN d.sent_at IS NOT NULL AND d.lease_until > clock_timestamp() THEN d.lease_until END,
    sent_at = CASE WHEN d.lease_until > clock_timestamp() THEN d.sent_at END
    FROM changed c
    WHERE d.workspace_id = c.workspace_id AND d.project_id = c.project_id AND d.environment = c.environment
      AND d.key = c.key AND (d.failed_at IS NOT NULL OR d.sent_at IS NOT NULL OR d.lease_id IS NOT NULL);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER secrets_inserted_derived AFTER INSERT ON secrets REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION clear_derived_failures();
--> statement-breakpoint
CREATE TRIGGER secrets_updated_derived AFTER UPDATE ON secrets REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION clear_derived_failures();
--> statement-breakpoint
-- What is restored is a secret again before its deleted row goes.
CREATE FUNCTION drop_derived_states() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM derived_states d USING gone g
    WHERE d.workspace_id = g.workspace_id AND d.project_id = g.project_id AND d.environment = g.environment
      AND d.key = g.key
      AND NOT EXISTS (SELECT FROM secrets s WHERE s.project_id = g.project_id AND s.environment = g.environment AND s.key = g.key)
      AND NOT EXISTS (SELECT FROM deleted_secrets o WHERE o.project_id = g.project_id AND o.environment = g.environment AND o.key = g.key);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER deleted_secrets_gone AFTER DELETE ON deleted_secrets REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION drop_derived_states();
