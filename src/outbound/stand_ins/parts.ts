/**
 * Values that consist of parts: URLs with user information, the files of Google service accounts, connection strings. A
 * client splits such a value and sends a part alone; `SVC_SECRET_NAME__PASSWORD` is the password of the URL in `NAME`
 * (protocol 6.9).
 */
import { fromUtf8, utf8 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { Secret } from '../../core/secret.ts'

export const partNames = ['USER', 'PASSWORD', 'PRIVATE_KEY', 'KEY'] as const
export type PartName = (typeof partNames)[number]

const PART = new RegExp(`^(.+)__(${partNames.join('|')})$`)
const LOGIN = /^[a-z][a-z0-9+.-]*:\/\/([^/?#@]*)@/is
/** `AccountName=…;AccountKey=…`, as Azure and databases write it. */
const CONNECTION = /^[A-Za-z][A-Za-z ]*=[^;]*(;[A-Za-z][A-Za-z ]*=[^;]*)+;?$/
const SECRET_FIELD =
  /^(account ?key|shared ?access ?key|shared ?access ?signature|password|pwd|primary ?key)$/i

/** Returns the secret and its part that a name means, if no secret has that name. */
export function partNamed(name: string): { base: string; part: PartName } | null {
  const [, base, part] = PART.exec(name) ?? []
  return base === undefined ? null : { base, part: part as PartName }
}

/**
 * Returns the secrets with these names in `find`, and the requested parts of others. A secret of the whole name takes
 * precedence over a part. A root has no parts: its name means its derived value.
 */
export function withParts<S extends { name: string; policy: Policy | null }>(
  names: readonly string[],
  find: (names: readonly string[]) => S[],
  partOf: (secret: S, name: string) => S,
): S[] {
  const parts = names.flatMap((name) => {
    const named = partNamed(name)
    return named ? [{ name, base: named.base }] : []
  })
  if (parts.length === 0) return find(names)
  const all = find([...new Set([...names, ...parts.map(({ base }) => base)])])
  const whole = all.filter(({ name }) => names.includes(name))
  const known = new Set(whole.map(({ name }) => name))
  return [
    ...whole,
    ...parts
      .filter(({ name }) => !known.has(name))
      .flatMap(({ name, base }) =>
        all
          .filter((secret) => secret.name === base && secret.policy?.kind === undefined)
          .map((secret) => partOf(secret, name)),
      ),
  ]
}

/** @throws Fault `unusable_secret` */
export function openPart(value: Secret, name: string): Secret {
  const named = partNamed(name)
  const part = named && partOf(value.reveal(), named.part)
  if (part) return new Secret(part)
  throw new Fault('unusable_secret', {
    message: `${name} does not exist: the value has no such part.`,
  })
}

/** Returns a part as a client extracts it from the value; `null` if it is missing. */
export function partOf(value: Uint8Array, part: PartName): Uint8Array | null {
  const text = fromUtf8(value)?.trim() ?? ''
  const found = { USER: user, PASSWORD: password, PRIVATE_KEY: readPrivateKey, KEY: key }[part](
    text,
  )
  return found ? utf8(found) : null
}

function user(text: string): string | null {
  return unescapeText(loginIn(text)?.user)
}

function password(text: string): string | null {
  return unescapeText(loginIn(text)?.password)
}

function readPrivateKey(text: string): string | null {
  try {
    const { type, private_key: pem } = JSON.parse(text)
    return type === 'service_account' && typeof pem === 'string' ? pem : null
  } catch {
    return null
  }
}

function key(text: string): string | null {
  return connectionFieldsOf(text)?.find(({ isSecret }) => isSecret)?.value ?? null
}

function unescapeText(text: string | undefined): string | null {
  try {
    return text === undefined ? null : decodeURIComponent(text)
  } catch {
    return text ?? null
  }
}

function loginIn(text: string): { user?: string; password?: string } | null {
  const [, login] = LOGIN.exec(text) ?? []
  if (login === undefined) return null
  const [, user = '', password] = /^([^:]*)(?::(.*))?$/s.exec(login) ?? []
  return { user, ...(password ? { password } : {}) }
}

export function connectionFieldsOf(text: string) {
  if (!CONNECTION.test(text)) return null
  return text.split(';').map((field) => {
    const [, name = '', value = ''] = /^([^=]*=?)(.*)$/s.exec(field) ?? []
    return { name, value, isSecret: SECRET_FIELD.test(name.slice(0, -1)) && value !== '' }
  })
}
