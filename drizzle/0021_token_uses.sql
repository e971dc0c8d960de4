CREATE TABLE "token_uses" (
	"token_id" uuid PRIMARY KEY NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL
);
