CREATE TABLE "audit_deltas" (
	"workspace_id" uuid NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"agent_id" text NOT NULL,
	"target_domain" text,
	"credential_ref" text,
	"requests" bigint NOT NULL,
	"allowed" bigint NOT NULL,
	"blocked" bigint NOT NULL,
	"errors" bigint NOT NULL,
	"redacted" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_rollups" (
	"workspace_id" uuid NOT NULL,
	"grain" text NOT NULL,
	"bucket" timestamp (3) with time zone NOT NULL,
	"dimension" text NOT NULL,
	"value" text NOT NULL,
	"requests" bigint NOT NULL,
	"allowed" bigint NOT NULL,
	"blocked" bigint NOT NULL,
	"errors" bigint NOT NULL,
	"redacted" bigint NOT NULL,
	CONSTRAINT "audit_rollups_workspace_id_grain_bucket_dimension_value_pk" PRIMARY KEY("workspace_id","grain","bucket","dimension","value")
);
--> statement-breakpoint
CREATE TABLE "audit_statuses" (
	"workspace_id" uuid NOT NULL,
	"status_code" integer NOT NULL,
	"timestamp" timestamp (3) with time zone NOT NULL,
	"log_id" uuid NOT NULL,
	CONSTRAINT "audit_statuses_workspace_id_status_code_timestamp_log_id_pk" PRIMARY KEY("workspace_id","status_code","timestamp","log_id")
);
--> statement-breakpoint
DROP INDEX "audit_logs_by_time";--> statement-breakpoint
CREATE INDEX "audit_logs_by_project" ON "audit_logs" USING btree ("workspace_id","project_id","timestamp","id");--> statement-breakpoint
CREATE INDEX "audit_logs_by_environment" ON "audit_logs" USING btree ("workspace_id","environment","timestamp","id");--> statement-breakpoint
CREATE INDEX "audit_logs_by_agent" ON "audit_logs" USING btree ("workspace_id","agent_id","timestamp","id");--> statement-breakpoint
CREATE INDEX "audit_logs_by_registration" ON "audit_logs" USING btree ("workspace_id","registration_id","timestamp","id");--> statement-breakpoint
CREATE INDEX "audit_logs_by_token" ON "audit_logs" USING btree ("workspace_id","token_id","timestamp","id");--> statement-breakpoint
CREATE INDEX "audit_logs_by_domain" ON "audit_logs" USING btree ("workspace_id","target_domain","timestamp","id");--> statement-breakpoint
CREATE INDEX "audit_logs_by_method" ON "audit_logs" USING btree ("workspace_id","method","timestamp","id");--> statement-breakpoint
CREATE INDEX "audit_logs_by_arrival" ON "audit_logs" USING brin ("recorded_at");--> statement-breakpoint
CREATE INDEX "audit_logs_by_time" ON "audit_logs" USING btree ("workspace_id","timestamp","id");
--> statement-breakpoint
-- Every change of audit_logs leaves its difference in audit_deltas and its status in audit_statuses, in
-- the same transaction. Triggers do it, because a writer that forgot to would make the summary wrong for
-- ever. Control-plane changes are not requests and are not counted. Hours are those of UTC.
CREATE FUNCTION count_added_audit_logs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_deltas (workspace_id, hour, agent_id, target_domain, credential_ref,
      requests, allowed, blocked, errors, redacted)
    SELECT workspace_id, date_trunc('hour', timestamp, 'UTC'), agent_id, target_domain, credential_ref,
      count(*), count(*) FILTER (WHERE decision = 'allowed'), count(*) FILTER (WHERE decision = 'blocked'),
      count(*) FILTER (WHERE decision = 'error'), count(*) FILTER (WHERE redacted)
    FROM added WHERE source <> 'control_plane' GROUP BY 1, 2, 3, 4, 5;
  INSERT INTO audit_statuses (workspace_id, status_code, timestamp, log_id)
    SELECT workspace_id, status_code, timestamp, id FROM added WHERE status_code IS NOT NULL;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- The planner may first see an empty audit_statuses and keep the plan it made for that: only the one
-- through the primary key stays right while the table grows.
CREATE FUNCTION count_removed_audit_logs() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  INSERT INTO audit_deltas (workspace_id, hour, agent_id, target_domain, credential_ref,
      requests, allowed, blocked, errors, redacted)
    SELECT workspace_id, date_trunc('hour', timestamp, 'UTC'), agent_id, target_domain, credential_ref,
      -count(*), -count(*) FILTER (WHERE decision = 'allowed'), -count(*) FILTER (WHERE decision = 'blocked'),
      -count(*) FILTER (WHERE decision = 'error'), -count(*) FILTER (WHERE redacted)
    FROM removed WHERE source <> 'control_plane' GROUP BY 1, 2, 3, 4, 5;
  DELETE FROM audit_statuses s USING removed r WHERE r.status_code IS NOT NULL AND
    (s.workspace_id, s.status_code, s.timestamp, s.log_id) = (r.workspace_id, r.status_code, r.timestamp, r.id);
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- Most updates add an outcome that counts alike, and leave nothing here.
CREATE FUNCTION count_changed_audit_logs() RETURNS trigger LANGUAGE plpgsql
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
      WHERE source <> 'control_plane' GROUP BY 1, 2, 3, 4, 5) AS sums
    WHERE (requests, allowed, blocked, errors, redacted) <> (0, 0, 0, 0, 0);
  DELETE FROM audit_statuses s USING removed r WHERE r.status_code IS NOT NULL AND
    (s.workspace_id, s.status_code, s.timestamp, s.log_id) = (r.workspace_id, r.status_code, r.timestamp, r.id);
  INSERT INTO audit_statuses (workspace_id, status_code, timestamp, log_id)
    SELECT workspace_id, status_code, timestamp, id FROM added WHERE status_code IS NOT NULL;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER audit_logs_added AFTER INSERT ON audit_logs REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_audit_logs();
--> statement-breakpoint
CREATE TRIGGER audit_logs_changed AFTER UPDATE ON audit_logs REFERENCING NEW TABLE AS added OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_changed_audit_logs();
--> statement-breakpoint
CREATE TRIGGER audit_logs_removed AFTER DELETE ON audit_logs REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed_audit_logs();
--> statement-breakpoint
-- What was recorded before there were triggers.
INSERT INTO audit_deltas (workspace_id, hour, agent_id, target_domain, credential_ref,
    requests, allowed, blocked, errors, redacted)
  SELECT workspace_id, date_trunc('hour', timestamp, 'UTC'), agent_id, target_domain, credential_ref,
    count(*), count(*) FILTER (WHERE decision = 'allowed'), count(*) FILTER (WHERE decision = 'blocked'),
    count(*) FILTER (WHERE decision = 'error'), count(*) FILTER (WHERE redacted)
  FROM audit_logs WHERE source <> 'control_plane' GROUP BY 1, 2, 3, 4, 5;
--> statement-breakpoint
INSERT INTO audit_statuses (workspace_id, status_code, timestamp, log_id)
  SELECT workspace_id, status_code, timestamp, id FROM audit_logs WHERE status_code IS NOT NULL;
--> statement-breakpoint
-- The outcome of a record is written right after it: with room on the page that touches no index.
ALTER TABLE audit_logs SET (fillfactor = 50);
