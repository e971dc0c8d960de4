/**
 * The challenge of a 401, or of a 403 for a missing scope, to a call with an inserted credential. `resource_metadata`
 * (RFC 9728, section 5.1) would start a program's own OAuth flow at the upstream, and its tokens would be stored in the
 * program's files. The parameter is replaced by `cloakroom_fix`, the command that gets a new credential.
 */

const QUOTED = '"(?:[^"\\\\]|\\\\.)*"'
/** Quoted strings are matched to be skipped. */
const METADATA = new RegExp(
  `${QUOTED}|(?<![\\w-])resource_metadata\\s*=\\s*(?:${QUOTED}|[^\\s,]*)`,
  'gi',
)

/** The first secret that a call sent, and the called URL as the caller wrote it. */
export type SentCredential = { secret: string; url: string }

/** Changes `headers` in place. */
export function replaceDiscovery(
  headers: Record<string, string>,
  credential: SentCredential | null,
): void {
  const challenge = headers['www-authenticate']
  if (credential === null || challenge === undefined) return
  const { origin, pathname } = new URL(credential.url)
  const fix = `cloakroom_fix="cloakroom connect ${credential.secret} --url ${origin}${pathname}"`
  headers['www-authenticate'] = challenge.replace(METADATA, (text) =>
    text.startsWith('"') ? text : fix,
  )
}
