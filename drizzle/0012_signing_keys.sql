-- Accounts have a second key, which signs, and a proof that both are one person's; those of before have none.
ALTER TABLE "users" ADD COLUMN "signing_key" "bytea";--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "key_proof" "bytea";