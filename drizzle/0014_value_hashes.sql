-- Signed workspaces: a manifest covers the hashes of all values, and a list shows them without opening any.
ALTER TABLE "deleted_secret_versions" ADD COLUMN "value_hash" "bytea";--> statement-breakpoint
ALTER TABLE "deleted_secrets" ADD COLUMN "value_hash" "bytea";--> statement-breakpoint
ALTER TABLE "secret_versions" ADD COLUMN "value_hash" "bytea";--> statement-breakpoint
ALTER TABLE "secrets" ADD COLUMN "value_hash" "bytea";