/** The environment that programs under `run` and `proxy` inherit. */
import { aliasOf } from '../core/config/aliases.ts'

/** Variables only for this process: a child with the token could fetch more, or bypass the proxy. */
const OURS = [
  'SERVICE_TOKEN',
  'SERVICE_TOKEN_FILE',
  'SERVICE_PASSPHRASE',
  'SERVICE_RECOVERY_KEY',
  'SERVICE_OWNER_CODE',
]
const KEPT = new Set([...OURS, ...OURS.map(aliasOf)])

export function readInherited(env: Record<string, string | undefined>) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !KEPT.has(name)))
}
