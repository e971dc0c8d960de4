-- The record of a call is written once, with its outcome, in a batch; until then its intent is in the journal.
CREATE TABLE "audit_journal" (
	"id" uuid PRIMARY KEY NOT NULL,
	"recorded_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"live" text NOT NULL,
	"intents" text NOT NULL
);
--> statement-breakpoint
-- A row lives for a second: to compress it, or to cut it up for another table, would cost more than to write it.
ALTER TABLE "audit_journal" ALTER COLUMN "intents" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "audit_journal" SET (toast_tuple_target = 8160);--> statement-breakpoint
DROP TABLE "audit_statuses";--> statement-breakpoint
DROP INDEX "audit_logs_client_id";--> statement-breakpoint
CREATE INDEX "audit_logs_by_status" ON "audit_logs" USING btree ("workspace_id","status_code","timestamp","id");--> statement-breakpoint
CREATE UNIQUE INDEX "audit_logs_client_id" ON "audit_logs" USING btree ("workspace_id","client_id") WHERE client_id is not null;--> statement-breakpoint
-- Pages may be full: only what lasts longer than a second is updated.
ALTER TABLE audit_logs RESET (fillfactor);--> statement-breakpoint
-- The differences are left as before, now once for each batch. The status has an index like any other column.
CREATE OR REPLACE FUNCTION count_added_audit_logs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_deltas (workspace_id, hour, agent_id, target_domain, credential_ref,
      requests, allowed, blocked, errors, redacted)
    SELECT workspace_id, date_trunc('hour', timestamp, 'UTC'), agent_id, target_domain, credential_ref,
      count(*), count(*) FILTER (WHERE decision = 'allowed'), count(*) FILTER (WHERE decision = 'blocked'),
      count(*) FILTER (WHERE decision = 'error'), count(*) FILTER (WHERE redacted)
    FROM added WHERE is_request(source, action) GROUP BY 1, 2, 3, 4, 5;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION count_removed_audit_logs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_deltas (workspace_id, hour, agent_id, target_domain, credential_ref,
      requests, allowed, blocked, errors, redacted)
    SELECT workspace_id, date_trunc('hour', timestamp, 'UTC'), agent_id, target_domain, credential_ref,
      -count(*), -count(*) FILTER (WHERE decision = 'allowed'), -count(*) FILTER (WHERE decision = 'blocked'),
      -count(*) FILTER (WHERE decision = 'error'), -count(*) FILTER (WHERE redacted)
    FROM removed WHERE is_request(source, action) GROUP BY 1, 2, 3, 4, 5;
  RETURN NULL;
END
$$;
--> statement-breakpoint
-- Most updates add an outcome that counts alike, and leave nothing here.
CREATE OR REPLACE FUNCTION count_changed_audit_logs() RETURNS trigger LANGUAGE plpgsql AS $$
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
  RETURN NULL;
END
$$;
