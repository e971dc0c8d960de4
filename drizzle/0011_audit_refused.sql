-- A record that the database will not take is kept here, so that it is neither lost nor tried for ever.
CREATE TABLE "audit_refused" (
	"id" uuid PRIMARY KEY NOT NULL,
	"recorded_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"code" text NOT NULL,
	"intent" text NOT NULL
);
