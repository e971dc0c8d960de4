-- Placeholders that went out as text: their names and places.
ALTER TABLE "audit_logs" ADD COLUMN "unfilled" jsonb;
