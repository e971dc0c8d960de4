/** The environment that programs under `run` and `proxy` get from ours. */
import { aliasOf } from '../core/config/aliases.ts'

/** What was only meant for us: a child that knows the token could fetch more, or use it past the proxy. */
const OURS = [
  'SERVICE_TOKEN',
  'SERVICE_TOKEN_FILE',
  'SERVICE_PASSPHRASE',
  'SERVICE_RECOVERY_KEY',
  'SERVICE_OWNER_CODE',
]
const KEPT = new Set([...OURS, ...OURS.map(aliasOf)])

export function inherited(env: Record<string, string | undefined>) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !KEPT.has(name)))
}
