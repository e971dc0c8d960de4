/**
 * The cost of the server's password hashes (Argon2id). It is an argument of the app, like its clock, and no
 * setting: only code can lower it, and only tests do.
 */
export type PasswordCost = {
  /** KiB of memory. */
  memoryCost: number
  /** Passes over that memory. */
  timeCost: number
}

/** The minimum that OWASP recommends; about 80 ms on one core. */
export const defaultPasswordCost: PasswordCost = { memoryCost: 19_456, timeCost: 2 }
