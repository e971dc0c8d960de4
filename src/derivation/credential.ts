/** The forms of derived credentials and refresh tokens (protocol 13.3). */

/** Temporary keys of an AWS role. */
export type AwsKeys = { access_key_id: string; secret_access_key: string; session_token: string }

/** A derived credential: a token, or the temporary keys of an AWS role. */
export type Credential = string | AwsKeys

/** 8 to 16,384 visible ASCII characters. */
export const CREDENTIAL = /^[\x21-\x7e]{8,16384}$/
/** 1 to 16,384 visible ASCII characters. */
export const REFRESH_TOKEN = /^[\x21-\x7e]{1,16384}$/
export const ACCESS_KEY_ID = /^\w{16,128}$/

export function isCredential(value: unknown): value is string {
  return typeof value === 'string' && CREDENTIAL.test(value)
}
