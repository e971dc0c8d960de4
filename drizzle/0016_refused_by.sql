-- What refused a call where that was a policy: of which secret, and which rule of it.
ALTER TABLE "audit_logs" ADD COLUMN "refused_by" jsonb;