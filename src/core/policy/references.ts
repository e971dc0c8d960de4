/**
 * References in values (protocol 3.5): if a secret's policy allows them, `${NAME}` in its value represents the sibling
 * secret with that name. They are resolved at delivery and never stored resolved. A value without that mark is plain
 * text.
 */

import { SECRET_NAME } from '../names/secret_name.ts'
import { isDeliverable, isHeld, isSensitive, type Policy } from './policy.ts'

export type Entry = { value: string; policy: unknown }
/** Represents a held secret. Deliveries leave out its value, and this lets a refusal give the reason. */
export const heldEntry: Entry = {
  value: '',
  policy: { approval: { by: 'admin', ttl_seconds: 0 } } satisfies Policy,
}

export type Resolved = { value: string; isSensitive: boolean }

/** Limits for all marked values of an environment, with the values inserted into them. */
const MAX_BYTES = 1_048_576
const MAX_SUBSTITUTIONS = 10_000
const MAX_DEPTH = 32
/** The most names in one message. */
const MAX_REASONS = 10

/** All problems, by the names of secrets and without their values. */
export class UnresolvedReference extends Error {
  readonly reasons: readonly string[]

  constructor(reasons: readonly string[]) {
    super(reasons.join('\n'))
    this.name = 'UnresolvedReference'
    this.reasons = reasons
  }
}

export function isMarked(policy: unknown): boolean {
  return (policy as Policy | null | undefined)?.references === true
}

/** Returns the names that the value refers to. @throws UnresolvedReference for an invalid `${` that is not escaped */
export function referencesIn(secret: string, value: string): string[] {
  return partsOf(secret, value).flatMap(({ name }) => (name === null ? [] : [name]))
}

/**
 * Returns the deliverable values of these secrets, as programs get them. Every marked value is resolved once, for any
 * number of references, and inserted values are not scanned again.
 *
 * @throws UnresolvedReference
 */
export function resolveReferences(
  entries: ReadonlyMap<string, Entry>,
  names: Iterable<string> = entries.keys(),
): Map<string, Resolved> {
  const resolver = new Resolver(entries)
  const resolved = new Map<string, Resolved>()
  const reasons = new Set<string>()
  for (const name of names) {
    if (reasons.size === MAX_REASONS) break
    try {
      resolved.set(name, resolver.valueOf(name, []))
    } catch (error) {
      if (!(error instanceof UnresolvedReference)) throw error
      for (const reason of error.reasons) reasons.add(reason)
    }
  }
  if (reasons.size > 0) throw new UnresolvedReference([...reasons])
  return resolved
}

class Resolver {
  readonly #entries: ReadonlyMap<string, Entry>
  readonly #known = new Map<string, Resolved>()
  #bytes = 0
  #substitutions = 0

  constructor(entries: ReadonlyMap<string, Entry>) {
    this.#entries = entries
  }

  /** `way` are the secrets on the way here, each of which refers to the next. */
  valueOf(name: string, way: readonly string[]): Resolved {
    const known = this.#known.get(name)
    if (known) return known
    const entry = this.#entryOf(name, way)
    const resolved = isMarked(entry.policy)
      ? this.#fillReferences(name, entry, [...way, name])
      : resolvePlain(entry)
    this.#known.set(name, resolved)
    return resolved
  }

  #entryOf(name: string, way: readonly string[]): Entry {
    const [referrer] = way.slice(-1)
    if (way.includes(name)) {
      const circle = [...way.slice(way.indexOf(name)), name]
      throw new UnresolvedReference([`${circle.join(' refers to ')}: this is a circular reference`])
    }
    if (way.length > MAX_DEPTH) throw buildTooLargeError(name)
    const entry = this.#entries.get(name)
    if (entry && (referrer === undefined || isDeliverable(entry.policy))) return entry
    if (isHeld(entry?.policy))
      throw new UnresolvedReference([
        `${referrer} refers to ${name}, which needs approval for each use and cannot be part of other values`,
      ])
    throw new UnresolvedReference([
      `${referrer} refers to ${name}, which does not exist, or whose policy excludes it from environments`,
    ])
  }

  #fillReferences(name: string, entry: Entry, way: readonly string[]): Resolved {
    this.#spend(name, Buffer.byteLength(entry.value))
    const resolved = resolvePlain(entry)
    const pieces = partsOf(name, entry.value).map((part) => {
      this.#substitutions += 1
      if (part.name === null) return part.text
      const { value, isSensitive } = this.valueOf(part.name, way)
      this.#spend(name, Buffer.byteLength(value))
      resolved.isSensitive ||= isSensitive
      return part.text + value
    })
    return { ...resolved, value: pieces.join('') }
  }

  #spend(name: string, bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > MAX_BYTES || this.#substitutions > MAX_SUBSTITUTIONS)
      throw buildTooLargeError(name)
  }
}

function resolvePlain({ value, policy }: Entry): Resolved {
  return { value, isSensitive: isSensitive(policy) }
}

function buildTooLargeError(name: string): UnresolvedReference {
  return new UnresolvedReference([`the references of ${name} are too many, too deep or too long`])
}

/** Text, and the name of the secret behind it, if there is one. */
type Part = { text: string; name: string | null }

/** Before a brace, `$$` is an escaped `$`. A remaining single `$` starts a reference. */
const MARK = new RegExp(`(?<!\\$)(\\$+)\\{(?:(${SECRET_NAME})\\})?`, 'g')

function partsOf(secret: string, value: string): Part[] {
  const parts: Part[] = []
  let end = 0
  for (const { 0: whole, 1: dollars = '', 2: name = null, index } of value.matchAll(MARK)) {
    const isText = dollars.length % 2 === 0
    if (!isText && name === null) throw buildMalformedError(secret)
    if (parts.length === MAX_SUBSTITUTIONS) throw buildTooLargeError(secret)
    const text = value.slice(end, index) + '$'.repeat(dollars.length >> 1)
    parts.push(isText ? { text: `${text}{`, name: null } : { text, name })
    end = index + (isText ? dollars.length + 1 : whole.length)
  }
  return [...parts, { text: value.slice(end), name: null }]
}

function buildMalformedError(secret: string): UnresolvedReference {
  return new UnresolvedReference([
    `\${ in ${secret} is not followed by a name and }: write $\${ for literal text`,
  ])
}
