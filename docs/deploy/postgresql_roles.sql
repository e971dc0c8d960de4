-- Three users of one database (docs/guides/database-users.md): who owns and migrates it, the control plane, the resolver.
-- PostgreSQL 14 or later. To be run as a superuser, or the administrator that a provider gives, in the database:
--
--   psql -d cloakroom -f postgresql_roles.sql
--
-- Run it again after each upgrade: until then only the owner and the control plane can use a new table.
-- It sets no passwords: \password cloakroom_resolver
\set ON_ERROR_STOP on
BEGIN;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['cloakroom_owner', 'cloakroom_control', 'cloakroom_resolver'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      EXECUTE format('CREATE ROLE %I LOGIN', name);
    END IF;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), name);
  END LOOP;
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
END
$$;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, cloakroom_control, cloakroom_resolver;
GRANT USAGE, CREATE ON SCHEMA public TO cloakroom_owner;
GRANT USAGE ON SCHEMA public TO cloakroom_control, cloakroom_resolver;

-- Another user may have made existing objects. Objects of an extension stay.
DO $$
DECLARE
  one record;
BEGIN
  FOR one IN
    SELECT format('TABLE %s', oid::regclass) AS what, oid, 'pg_class'::regclass AS class
    FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
      AND relowner <> 'cloakroom_owner'::regrole
    UNION ALL
    SELECT format('FUNCTION %s', oid::regprocedure), oid, 'pg_proc'::regclass
    FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND proowner <> 'cloakroom_owner'::regrole
  LOOP
    IF NOT EXISTS (SELECT FROM pg_depend WHERE classid = one.class AND objid = one.oid AND deptype = 'e') THEN
      EXECUTE format('ALTER %s OWNER TO cloakroom_owner', one.what);
    END IF;
  END LOOP;
END
$$;

-- A lock blocks others for at most this long. Scheduled jobs wait for it, too.
ALTER ROLE cloakroom_control SET lock_timeout = '5s';
ALTER ROLE cloakroom_resolver SET lock_timeout = '5s';

-- The control plane: all rows, and no change of the schema.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO cloakroom_control;
ALTER DEFAULT PRIVILEGES FOR ROLE cloakroom_owner IN SCHEMA public
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO cloakroom_control;
REVOKE INSERT, UPDATE, DELETE ON cloakroom_migrations FROM cloakroom_control;

-- The resolver: by table and column, why is said in docs/guides/database-users.md. A test compares the two.
GRANT SELECT ON cloakroom_migrations TO cloakroom_resolver;
GRANT SELECT (key_check) ON instance TO cloakroom_resolver;
GRANT SELECT (id, name, epoch, policy_version) ON workspaces TO cloakroom_resolver;
GRANT SELECT (workspace_id, domain) ON allowlist_entries TO cloakroom_resolver;
GRANT SELECT (id, workspace_id, name) ON projects TO cloakroom_resolver;
GRANT SELECT (workspace_id, project_id, environment, key, value, policy) ON secrets TO cloakroom_resolver;
GRANT SELECT (id, name) ON agents TO cloakroom_resolver;
GRANT SELECT (id, workspace_id, kind, agent_id, project_id, environment, label, capabilities, verifier,
  public_key, expires_at, revoked_at, created_at, hosts, secrets, limits) ON tokens TO cloakroom_resolver;
GRANT SELECT, INSERT, UPDATE (last_used_at) ON token_uses TO cloakroom_resolver;
GRANT SELECT, INSERT, UPDATE (full_at, taken) ON token_rates TO cloakroom_resolver;
GRANT SELECT, INSERT, UPDATE (calls, bytes, model_tokens) ON token_days TO cloakroom_resolver;
GRANT SELECT, INSERT, UPDATE (until), DELETE ON token_calls TO cloakroom_resolver;
GRANT SELECT (token_id, workspace_id, project_id, environment, epoch, envelope, statement, signature)
  ON token_envelopes TO cloakroom_resolver;
GRANT SELECT (workspace_id, seq, statement, signature) ON workspace_links TO cloakroom_resolver;
GRANT SELECT (token_id, workspace_id, statement, signature, binding) ON token_grants TO cloakroom_resolver;
GRANT SELECT (workspace_id, project_id, environment, statement, signature) ON manifests TO cloakroom_resolver;
GRANT SELECT, INSERT (workspace_id, project_id, environment, key, generation, lease_id, lease_until),
  UPDATE (generation, state, derived_at, expires_at, lease_id, lease_until, sent_at, failed_at, failed_code, failures,
  retry_at, is_final, expired_count, expired_since) ON derived_states TO cloakroom_resolver;
GRANT SELECT, INSERT, DELETE ON audit_journal TO cloakroom_resolver;
GRANT INSERT, SELECT (id, source, decision, reason, refused_by, status_code, duration_ms, redacted),
  UPDATE (decision, reason, refused_by, status_code, duration_ms, redacted) ON audit_logs TO cloakroom_resolver;
GRANT INSERT ON audit_refused TO cloakroom_resolver;
GRANT SELECT, INSERT, UPDATE (seen_at) ON live_processes TO cloakroom_resolver;
GRANT SELECT (id, workspace_id, type, events, secret, deleted_at) ON notice_targets TO cloakroom_resolver;
GRANT SELECT, INSERT (id, workspace_id, target_id, event, cause, body, next_at),
  UPDATE (status, attempts, next_at, attempted_at, last_error) ON notices TO cloakroom_resolver;
GRANT SELECT, DELETE, INSERT (id, workspace_id, token_id, registration_id, agent, digest, host, method, secrets,
  body_bytes, body_type, details, requested_at, expires_at),
  UPDATE (status, used_at, used_by, details) ON approvals TO cloakroom_resolver;
GRANT SELECT, INSERT, UPDATE (reason, secrets, created_at, expires_at) ON proposals TO cloakroom_resolver;

-- The triggers of audit_logs write counts and indexes as the owner: the resolver writes no counts itself.
ALTER FUNCTION count_added_audit_logs() SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION count_changed_audit_logs() SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp;

-- A new state raises the workspace's policy version, which the resolver may not write itself.
ALTER FUNCTION bump_derived_version() SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION lock_derived_workspace(uuid) SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp;
-- So does a decision about a request, and the function looks at each change of one.
ALTER FUNCTION announce_approvals() SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp;

-- Columns cannot say which rows: the resolver adds records of what tokens did, as of now, with values that there are ...
CREATE OR REPLACE FUNCTION refuse_strange_audit_logs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'not a record of what a token did' USING ERRCODE = 'check_violation';
END
$$;
ALTER FUNCTION refuse_strange_audit_logs() OWNER TO cloakroom_owner;
CREATE OR REPLACE TRIGGER audit_logs_strange BEFORE INSERT ON audit_logs FOR EACH ROW
  WHEN (current_user = 'cloakroom_resolver' AND (
    NEW.source <> 'resolver' OR NEW.identity_level NOT IN ('agent', 'workload') OR NEW.token_id IS NULL
    OR NEW.user_id IS NOT NULL OR NEW.resource IS NOT NULL
    OR NEW.client_id IS NOT NULL OR NEW.content_hash IS NOT NULL
    OR NEW.decision IS NULL OR NEW.decision NOT IN ('allowed', 'blocked', 'error')
    OR NEW.action NOT IN ('approval.requested', 'audit.reported', 'credential.derived', 'credentials.listed', 'credentials.read', 'domains.listed', 'links.read', 'proposal.created',
      'shapes.read')
    OR NEW.recorded_at NOT BETWEEN now() - interval '1 minute' AND now() + interval '1 minute'
    OR NEW.timestamp NOT BETWEEN timestamptz '0001-01-02 00:00:00Z' AND timestamptz '9999-12-30 00:00:00Z'
    OR octet_length(NEW::text) > 8388608))
  EXECUTE FUNCTION refuse_strange_audit_logs();

-- ... and the outcome to its own record that has no outcome yet, once.
CREATE OR REPLACE FUNCTION refuse_altered_audit_logs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a record of the audit is not changed' USING ERRCODE = 'insufficient_privilege';
END
$$;
ALTER FUNCTION refuse_altered_audit_logs() OWNER TO cloakroom_owner;
CREATE OR REPLACE TRIGGER audit_logs_altered BEFORE UPDATE ON audit_logs FOR EACH ROW
  WHEN (current_user = 'cloakroom_resolver' AND (OLD.status_code IS NOT NULL OR OLD.source <> 'resolver'
    OR NEW.decision IS NULL OR NEW.decision NOT IN ('allowed', 'blocked', 'error')
    OR octet_length(NEW::text) > 8388608))
  EXECUTE FUNCTION refuse_altered_audit_logs();

-- None of its rows is longer than backups accept.
CREATE OR REPLACE FUNCTION refuse_long_audit_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'longer than what a process writes' USING ERRCODE = 'check_violation';
END
$$;
ALTER FUNCTION refuse_long_audit_rows() OWNER TO cloakroom_owner;
CREATE OR REPLACE TRIGGER audit_journal_long BEFORE INSERT ON audit_journal FOR EACH ROW
  WHEN (current_user = 'cloakroom_resolver' AND octet_length(NEW::text) > 8388608)
  EXECUTE FUNCTION refuse_long_audit_rows();
CREATE OR REPLACE TRIGGER audit_refused_long BEFORE INSERT ON audit_refused FOR EACH ROW
  WHEN (current_user = 'cloakroom_resolver' AND octet_length(NEW::text) > 8388608)
  EXECUTE FUNCTION refuse_long_audit_rows();
CREATE OR REPLACE TRIGGER notices_long BEFORE INSERT OR UPDATE ON notices FOR EACH ROW
  WHEN (current_user = 'cloakroom_resolver' AND octet_length(NEW::text) > 65536)
  EXECUTE FUNCTION refuse_long_audit_rows();
CREATE OR REPLACE TRIGGER derived_states_long BEFORE INSERT OR UPDATE ON derived_states FOR EACH ROW
  WHEN (current_user = 'cloakroom_resolver' AND octet_length(NEW::text) > 8388608)
  EXECUTE FUNCTION refuse_long_audit_rows();

-- The resolver requests approvals, expires requests and uses releases. It makes no decision, and undoes none.
CREATE OR REPLACE FUNCTION refuse_strange_approvals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a decision about an approval is made by members' USING ERRCODE = 'check_violation';
END
$$;
ALTER FUNCTION refuse_strange_approvals() OWNER TO cloakroom_owner;
CREATE OR REPLACE TRIGGER approvals_strange_insert BEFORE INSERT ON approvals FOR EACH ROW
  WHEN (current_user = 'cloakroom_resolver' AND (NEW.expires_at > now() + interval '16 minutes'
    OR octet_length(NEW::text) > 8388608))
  EXECUTE FUNCTION refuse_strange_approvals();
CREATE OR REPLACE TRIGGER approvals_strange_update BEFORE UPDATE ON approvals FOR EACH ROW
  WHEN (current_user = 'cloakroom_resolver' AND (
    NEW.details IS NOT NULL AND NEW.details IS DISTINCT FROM OLD.details
    OR OLD.used_by IS NOT NULL AND NEW.used_by IS DISTINCT FROM OLD.used_by
    OR NEW.status <> OLD.status AND NOT (OLD.status = 'pending' AND NEW.status = 'expired' AND OLD.expires_at <= now()
      OR OLD.status = 'released' AND NEW.status = 'used' AND NEW.used_by IS NOT NULL)))
  EXECUTE FUNCTION refuse_strange_approvals();
CREATE OR REPLACE TRIGGER approvals_strange_delete BEFORE DELETE ON approvals FOR EACH ROW
  WHEN (current_user = 'cloakroom_resolver' AND (OLD.envelopes IS NOT NULL OR OLD.status IN ('pending', 'released')))
  EXECUTE FUNCTION refuse_strange_approvals();
CREATE OR REPLACE TRIGGER proposals_strange BEFORE INSERT OR UPDATE ON proposals FOR EACH ROW
  WHEN (current_user = 'cloakroom_resolver' AND (NEW.status <> 'open' OR NEW.closed_by IS NOT NULL
    OR NEW.closed_at IS NOT NULL OR octet_length(NEW::text) > 1048576))
  EXECUTE FUNCTION refuse_strange_approvals();

-- From PostgreSQL 17 on who is not the owner may vacuum; before, autovacuum alone does it.
DO $$
BEGIN
  IF current_setting('server_version_num')::int >= 170000 THEN
    EXECUTE 'GRANT MAINTAIN ON audit_journal TO cloakroom_control, cloakroom_resolver';
    EXECUTE 'GRANT MAINTAIN ON audit_deltas, audit_changes TO cloakroom_control';
  END IF;
END
$$;
COMMIT;
