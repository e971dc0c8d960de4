-- Keeps the fake salts of prelogin the same when SECRET_KEY is rotated. The first start that has the column fills it.
ALTER TABLE "instance" ADD COLUMN "prelogin_key" "bytea";--> statement-breakpoint
-- Pages of tokens, and counts of active ones, read their own rows only. The first two replace the indexes dropped below.
CREATE INDEX "tokens_agent_id_created_at_id_index" ON "tokens" USING btree ("agent_id","created_at","id");--> statement-breakpoint
CREATE INDEX "tokens_project_id_kind_created_at_id_index" ON "tokens" USING btree ("project_id","kind","created_at","id");--> statement-breakpoint
CREATE INDEX "tokens_active" ON "tokens" USING btree ("agent_id",coalesce("expires_at", 'infinity'::timestamptz)) WHERE "tokens"."revoked_at" is null;--> statement-breakpoint
DROP INDEX "tokens_agent_id_index";--> statement-breakpoint
DROP INDEX "tokens_project_id_index";
