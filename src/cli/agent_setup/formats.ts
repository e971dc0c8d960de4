/**
 * One entry of another program's settings file: added, replaced or removed, with the rest unchanged byte
 * for byte. The outcome is read again; where anything else came out of it, nothing is written.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ProgramEntry } from '../../client/agents/agent_setup.ts'

export type Path = readonly string[]

export type Format = {
  /** @throws Error for another format */
  parse(text: string): unknown
  /** `null` removes the entry. */
  edit(text: string, path: Path, entry: ProgramEntry | null): string
}

/**
 * Returns the previous entry, and the text with the new one. `null` means no entry.
 *
 * @throws Error for a text that is not of the format, or that cannot be changed without changing the rest
 */
export function withEntry(
  format: Format,
  text: string,
  path: Path,
  entry: ProgramEntry | null,
): { before: ProgramEntry | null; text: string } {
  const parsed = format.parse(text)
  const present = path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), parsed)
  if (entry === null && present === undefined) return { before: null, text }
  const edited = format.edit(text, path, entry)
  const [is, shouldBe] = [format.parse(edited), renderExpected(parsed, path, entry)].map((value) =>
    toPlain(entry === null ? withoutEmpty(value, path.slice(0, -1)) : value),
  )
  const before = present === undefined ? null : toPlainObject(isObject(present) ? present : {})
  if (isDeepStrictEqual(is, shouldBe)) return { before, text: edited }
  throw new Error('the file cannot be edited safely')
}

export function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The new text of the file. @throws Error if other content prevents it */
function renderExpected(value: unknown, path: Path, entry: ProgramEntry | null): unknown {
  const [key = '', ...rest] = path
  if (value !== undefined && !isObject(value)) throw new Error('another value is in its place')
  const { [key]: inner, ...others } = value ?? {}
  if (rest.length > 0) return { ...others, [key]: renderExpected(inner, rest, entry) }
  return entry === null ? others : { ...others, [key]: entry }
}

/** A table that only had ours is gone with it, which an empty object need not be. */
function withoutEmpty(value: unknown, path: Path): unknown {
  const [key = '', ...rest] = path
  if (!isObject(value) || !isObject(value[key])) return value
  const { [key]: inner, ...others } = value
  const left = rest.length > 0 ? withoutEmpty(inner, rest) : inner
  return isObject(left) && Object.keys(left).length === 0 ? others : { ...others, [key]: left }
}

/** Converts the parser's values to plain objects. */
function toPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlain)
  return isObject(value) && !(value instanceof Date) ? toPlainObject(value) : value
}

function toPlainObject(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toPlain(inner)]))
}
