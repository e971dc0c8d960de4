/** The shape of a Google service account file. It keeps only the field names and the Google addresses listed below. */
import { privateKeyOf } from './private_key.ts'
import { mergeParts } from './runs.ts'
import type { StandInPart, StandInShape, Unshaped } from './shape.ts'

type Field = (value: string) => StandInPart[] | null

const STRING_OR_SPACE = /"(?:[^"\\]|\\.)*"|\s+/g
const CERTIFICATES = 'https://www.googleapis.com/robot/v1/metadata/x509/'

const id: StandInPart = { random: 'lower', length: 22 }

const fields: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['type', oneOf('service_account')],
  ['project_id', () => [id]],
  ['private_key_id', () => [{ random: 'hex', length: 40 }]],
  ['private_key', keyOf],
  ['client_email', () => [id, { text: '@' }, id, { text: '.iam.gserviceaccount.com' }]],
  ['client_id', () => [{ random: 'digits', length: 21 }]],
  ['auth_uri', oneOf('https://accounts.google.com/o/oauth2/auth')],
  [
    'token_uri',
    oneOf('https://oauth2.googleapis.com/token', 'https://accounts.google.com/o/oauth2/token'),
  ],
  ['auth_provider_x509_cert_url', oneOf('https://www.googleapis.com/oauth2/v1/certs')],
  ['client_x509_cert_url', () => [{ text: CERTIFICATES }, id]],
  ['universe_domain', oneOf('googleapis.com')],
])

export function accountIn(text: string): StandInShape | Unshaped {
  const members = membersOf(text)
  if (members?.type === undefined || members.private_key === undefined) return 'json'
  const written = Object.entries(members).map(([name, value]): StandInPart[] | null => {
    const parts = typeof value === 'string' ? fields.get(name)?.(value) : null
    return parts ? [{ text: `"${name}":"` }, ...parts, { text: '"' }] : null
  })
  if (!written.every((parts) => parts !== null)) return 'json'
  const inner = written.flatMap((parts, at) => [{ text: at === 0 ? '{' : ',' }, ...parts])
  return mergeParts([...inner, { text: '}' }])
}

/** Parses JSON without duplicate names: programs disagree about which duplicate counts. */
function membersOf(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text)
    if (typeof value !== 'object' || Object.keys(value ?? {}).length > fields.size) return null
    const compact = text.replace(STRING_OR_SPACE, (found) =>
      found.startsWith('"') ? JSON.stringify(JSON.parse(found)) : '',
    )
    return compact === JSON.stringify(value) ? value : null
  } catch {
    return null
  }
}

function oneOf(...known: readonly string[]): Field {
  return (value) => (known.includes(value) ? [{ text: value }] : null)
}

function keyOf(pem: string): StandInPart[] | null {
  const key = privateKeyOf(pem, true)
  return key && [{ ...key, part: 'PRIVATE_KEY' }]
}
