/** The shape of a credential, for callers that may use it and make a stand-in (protocol 6.8). */
import { fromUtf8 } from '../../core/crypto/encoding.ts'
import { type DerivedKind, isHeld, type Policy } from '../../core/policy/policy.ts'
import type { StandInShape, Unshaped } from './shape.ts'
import { shapeOf } from './shape_of.ts'

/** Exactly one of the three is set. */
export type Shaped = {
  shape: StandInShape | null
  /** The value of a setting, for callers that may read. */
  setting: string | null
  reason: Unshaped | null
}

const NOTHING: Shaped = { shape: null, setting: null, reason: null }
export const AMBIGUOUS: Shaped = { ...NOTHING, reason: 'ambiguous' }
/** A held secret has no stand-in: its value does not open before a use is approved. */
export const UNAPPROVED: Shaped = { ...NOTHING, reason: 'approval' }
export const UNREADABLE: Shaped = { ...NOTHING, reason: 'unreadable' }

/** A derived credential has the usual form of its kind, because its own is unknown before the first call. */
const derivedShapes: Readonly<Record<DerivedKind, StandInShape>> = {
  oauth2: [{ random: 'base62', length: 64 }],
  github_app: [{ text: 'ghs_' }, { random: 'base62', length: 36, checksum: 'crc32' }],
  aws_role: [{ text: 'ASIA' }, { random: 'base32', length: 16 }],
}

/** @param mayRead whether the caller may read values, and so settings, which are not secret */
export function shapeByPolicy(policy: Policy | null, value: Uint8Array, mayRead: boolean): Shaped {
  const { references, sensitive, kind, allowed_locations: locations } = policy ?? {}
  if (isHeld(policy)) return UNAPPROVED
  // No call may use it. The values that it refers to are set under their own names.
  if (references) return { ...NOTHING, reason: 'references' }
  if (sensitive === false) return settingBy(locations, value, mayRead)
  if (locations?.every((location) => location === 'env')) return { ...NOTHING, reason: 'unused' }
  const shape = kind ? derivedShapes[kind] : shapeOf(value)
  return typeof shape === 'string' ? { ...NOTHING, reason: shape } : { ...NOTHING, shape }
}

function settingBy(
  locations: Policy['allowed_locations'],
  value: Uint8Array,
  mayRead: boolean,
): Shaped {
  if (locations?.includes('env') === false) return { ...NOTHING, reason: 'kept' }
  if (!mayRead) return { ...NOTHING, reason: 'setting' }
  const setting = fromUtf8(value)
  return setting === null ? { ...NOTHING, reason: 'binary' } : { ...NOTHING, setting }
}
