-- To what a token is narrowed: hosts and names of secrets, null where to nothing.
ALTER TABLE "tokens" ADD COLUMN "hosts" jsonb;--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "secrets" jsonb;
