-- Approvals, proposals, notices and limits of tokens (protocol 14 and 6.3).
CREATE TABLE "approvals" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"token_id" uuid NOT NULL,
	"registration_id" uuid,
	"agent" text NOT NULL,
	"digest" text NOT NULL,
	"host" text NOT NULL,
	"method" text NOT NULL,
	"secrets" jsonb NOT NULL,
	"body_bytes" integer,
	"body_type" text,
	"details" "bytea",
	"status" text DEFAULT 'pending' NOT NULL,
	"requested_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"decided_by" uuid,
	"decided_at" timestamp (3) with time zone,
	"muted_until" timestamp (3) with time zone,
	"statement" text,
	"signature" "bytea",
	"scope" jsonb,
	"envelopes" "bytea",
	"used_at" timestamp (3) with time zone,
	"used_by" uuid
);
--> statement-breakpoint
CREATE TABLE "proposals" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"token_id" uuid NOT NULL,
	"registration_id" uuid,
	"agent" text NOT NULL,
	"reason" text NOT NULL,
	"hosts" jsonb NOT NULL,
	"secrets" jsonb NOT NULL,
	"content_hash" "bytea" NOT NULL,
	"status" text DEFAULT 'open' NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"closed_by" uuid,
	"closed_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "token_calls" (
	"call_id" uuid PRIMARY KEY NOT NULL,
	"token_id" uuid NOT NULL,
	"until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "token_days" (
	"token_id" uuid NOT NULL,
	"day" date NOT NULL,
	"calls" bigint DEFAULT 0 NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"model_tokens" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "token_days_token_id_day_pk" PRIMARY KEY("token_id","day")
);
--> statement-breakpoint
CREATE TABLE "notice_targets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"type" text NOT NULL,
	"host" text NOT NULL,
	"events" jsonb NOT NULL,
	"secret" "bytea" NOT NULL,
	"created_by" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "notices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"target_id" uuid NOT NULL,
	"event" text NOT NULL,
	"cause" text NOT NULL,
	"body" jsonb NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"next_at" timestamp (3) with time zone NOT NULL,
	"attempted_at" timestamp (3) with time zone,
	"last_error" text
);
--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "limits" jsonb;--> statement-breakpoint
ALTER TABLE "audit_logs" ADD COLUMN "approval_id" uuid;--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "proposals" ADD CONSTRAINT "proposals_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notice_targets" ADD CONSTRAINT "notice_targets_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notices" ADD CONSTRAINT "notices_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notices" ADD CONSTRAINT "notices_target_id_notice_targets_id_fk" FOREIGN KEY ("target_id") REFERENCES "public"."notice_targets"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "approvals_by_time" ON "approvals" USING btree ("workspace_id","requested_at","id");--> statement-breakpoint
CREATE INDEX "approvals_released" ON "approvals" USING btree ("workspace_id","token_id") WHERE envelopes is not null;--> statement-breakpoint
CREATE INDEX "approvals_by_token" ON "approvals" USING btree ("token_id","requested_at");--> statement-breakpoint
CREATE UNIQUE INDEX "approvals_pending" ON "approvals" USING btree ("token_id","digest") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "proposals_by_time" ON "proposals" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "proposals_content" ON "proposals" USING btree ("token_id","content_hash");--> statement-breakpoint
CREATE INDEX "token_calls_token_id_index" ON "token_calls" USING btree ("token_id");--> statement-breakpoint
CREATE INDEX "notice_targets_workspace_id_index" ON "notice_targets" USING btree ("workspace_id");--> statement-breakpoint
CREATE UNIQUE INDEX "notices_cause" ON "notices" USING btree ("target_id","cause");--> statement-breakpoint
CREATE INDEX "notices_due" ON "notices" USING btree ("status","next_at");--> statement-breakpoint
CREATE INDEX "notices_queued" ON "notices" USING btree ("target_id") WHERE status = 'queued';--> statement-breakpoint
CREATE INDEX "notices_by_time" ON "notices" USING btree ("workspace_id","created_at","id");
--> statement-breakpoint
-- Processes learn of each decision. A release raises the policy version, and so does its end, so that no call is recorded
-- that was decided by an earlier state.
CREATE FUNCTION announce_approvals() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  raised uuid[];
BEGIN
  SELECT array_agg(DISTINCT c.workspace_id) INTO raised FROM changed c JOIN earlier e USING (id)
    WHERE c.status <> e.status AND (c.status = 'released' OR e.status = 'released' AND c.status = 'revoked');
  UPDATE workspaces SET policy_version = policy_version + 1 WHERE id = ANY (raised);
  PERFORM pg_notify('cloakroom_policy', workspace_id::text) FROM (
    SELECT DISTINCT c.workspace_id FROM changed c JOIN earlier e USING (id)
      WHERE c.status <> e.status AND c.status IN ('released', 'denied', 'revoked')) AS decided;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER approvals_updated AFTER UPDATE ON approvals REFERENCING OLD TABLE AS earlier NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION announce_approvals();
