/** Values that signed texts, calls with approvals and roots accept: those of the vectors, with all of their parts. */
import { samples as roots } from '../derivation/sample_roots.ts'
import approvals from '../vectors/approvals-v3.json'
import protocol from '../vectors/protocol-v2.json'

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const texts = textsIn([protocol, approvals])
const statements = new Set(texts.filter((text) => text.startsWith('{"')))
const objects: unknown[] = [...statements].map((text) => JSON.parse(text))
const parts = new Set(textsIn(objects))

/** Samples of the local console, which no vector has. */
const connection_id = '0'.repeat(43)
const started = { id: connection_id, url: null, device: null, domains: ['api.example.com'] }
const connections = [{ connection_id }, { ...started, expiresAt: '2026-03-14T09:26:53.589Z' }]

/** Paths begin with `/`, which no vector has alone. */
export const samples: readonly unknown[] = [
  ...Object.values(roots),
  ...objects,
  ...parts,
  ...connections,
  '/v1/charges',
]
