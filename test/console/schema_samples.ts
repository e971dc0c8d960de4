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

/** Paths begin with `/`, which no vector has alone. */
export const samples: readonly unknown[] = [
  ...Object.values(roots),
  ...objects,
  ...parts,
  '/v1/charges',
]
