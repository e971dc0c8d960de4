-- What a token may do (protocol 4). Tokens that are there get what is given without being asked for.
ALTER TABLE "tokens" ADD COLUMN "capabilities" jsonb NOT NULL DEFAULT '["use"]';--> statement-breakpoint
UPDATE "tokens" SET "capabilities" = '["use", "read"]' WHERE "kind" = 'workload';--> statement-breakpoint
ALTER TABLE "tokens" ALTER COLUMN "capabilities" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_capabilities" CHECK ("tokens"."capabilities" in ('["use"]', '["use", "read"]', '["read"]'));--> statement-breakpoint
-- Calls and deliveries are requests. What a token lists, and changes on the control plane, are recorded and
-- not counted: the functions of 0002 ask this in place of the source.
CREATE FUNCTION is_request(source text, action text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT source <> 'control_plane' AND (action IS NULL OR action = 'credentials.read')
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_added_audit_logs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_deltas (workspace_id, hour, agent_id, target_domain, credential_ref,
      requests, allowed, blocked, errors, redacted)
    SELECT workspace_id, date_trunc('hour', timestamp, 'UTC'), agent_id, target_domain, credential_ref,
      count(*), count(*) FILTER (WHERE decision = 'allowed'), count(*) FILTER (WHERE decision = 'blocked'),
      count(*) FILTER (WHERE decision = 'error'), count(*) FILTER (WHERE redacted)
    FROM added WHERE is_request(source, action) GROUP BY 1, 2, 3, 4, 5;
  INSERT INTO audit_statuses (workspace_id, status_code, timestamp, log_id)
    SELECT workspace_id, status_code, timestamp, id FROM added WHERE status_code IS NOT NULL;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_removed_audit_logs() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  INSERT INTO audit_deltas (workspace_id, hour, agent_id, target_domain, credential_ref,
      requests, allowed, blocked, errors, redacted)
    SELECT workspace_id, date_trunc('hour', timestamp, 'UTC'), agent_id, target_domain, credential_ref,
      -count(*), -count(*) FILTER (WHERE decision = 'allowed'), -count(*) FILTER (WHERE decision = 'blocked'),
      -count(*) FILTER (WHERE decision = 'error'), -count(*) FILTER (WHERE redacted)
    FROM removed WHERE is_request(source, action) GROUP BY 1, 2, 3, 4, 5;
  DELETE FROM audit_statuses s USING removed r WHERE r.status_code IS NOT NULL AND
    (s.workspace_id, s.status_code, s.timestamp, s.log_id) = (r.workspace_id, r.status_code, r.timestamp, r.id);
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_changed_audit_logs() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  INSERT INTO audit_deltas (workspace_id, hour, agent_id, target_domain, credential_ref,
      requests, allowed, blocked, errors, redacted)
    SELECT * FROM (
      SELECT workspace_id, date_trunc('hour', timestamp, 'UTC'), agent_id, target_domain, credential_ref,
        sum(sign) AS requests, coalesce(sum(sign) FILTER (WHERE decision = 'allowed'), 0) AS allowed,
        coalesce(sum(sign) FILTER (WHERE decision = 'blocked'), 0) AS blocked,
        coalesce(sum(sign) FILTER (WHERE decision = 'error'), 0) AS errors,
        coalesce(sum(sign) FILTER (WHERE redacted), 0) AS redacted
      FROM (SELECT 1 AS sign, * FROM added UNION ALL SELECT -1, * FROM removed) AS changes
      WHERE is_request(source, action) GROUP BY 1, 2, 3, 4, 5) AS sums
    WHERE (requests, allowed, blocked, errors, redacted) <> (0, 0, 0, 0, 0);
  DELETE FROM audit_statuses s USING removed r WHERE r.status_code IS NOT NULL AND
    (s.workspace_id, s.status_code, s.timestamp, s.log_id) = (r.workspace_id, r.status_code, r.timestamp, r.id);
  INSERT INTO audit_statuses (workspace_id, status_code, timestamp, log_id)
    SELECT workspace_id, status_code, timestamp, id FROM added WHERE status_code IS NOT NULL;
  RETURN NULL;
END
$$;
