/** Every place of a request that names an object, and the request with a foreign object there. */
import type { Request } from './matrix_rows.ts'

export type Slot = {
  /** `body.members.user_id`: positions in lists are left out. */
  name: string
  path: (string | number)[]
  /** Whether the foreign entry is added to the caller's own instead of replacing it. */
  added: boolean
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** The values that differ between an own and a foreign request, and that name an object. */
export function slotsOf(own: Request, foreign: Request): Slot[] {
  return (['params', 'query', 'body'] as const).flatMap((part) =>
    leaves(own[part], foreign[part], [part]).flatMap((path) => {
      const name = path.filter((step) => typeof step === 'string').join('.')
      const inList = path.some((step) => typeof step === 'number')
      const slot = { name, path, added: false }
      return inList ? [slot, { ...slot, added: true }] : [slot]
    }),
  )
}

function leaves(own: unknown, foreign: unknown, path: Slot['path']): Slot['path'][] {
  if (typeof own === 'string') return own !== foreign && namesSomething(own, path) ? [path] : []
  if (Array.isArray(own) && Array.isArray(foreign)) {
    return own.length > 0 && foreign.length > 0 ? leaves(own[0], foreign[0], [...path, 0]) : []
  }
  if (!isObject(own) || !isObject(foreign)) return []
  return Object.keys(own).flatMap((key) => leaves(own[key], foreign[key], [...path, key]))
}

/** Names in paths do too; in bodies they name new objects. */
function namesSomething(value: string, [part]: Slot['path']): boolean {
  return part === 'params' || UUID.test(value)
}

export function withSlot(own: Request, { path, added }: Slot, foreign: Request): Request {
  const copy = structuredClone(own)
  const place = added ? append(copy, path) : path
  const last = place.at(-1) ?? ''
  const parent = place.slice(0, -1).reduce<unknown>(step, copy)
  if (isObject(parent)) parent[last] = path.reduce<unknown>(step, foreign)
  return copy
}

/** A copy of the first entry of the list at the end. Returns the path of the same field in it. */
function append(request: Request, path: Slot['path']): Slot['path'] {
  const at = path.indexOf(0)
  const list = path.slice(0, at).reduce<unknown>(step, request)
  if (!Array.isArray(list)) return path
  list.push(structuredClone(list[0]))
  return [...path.slice(0, at), list.length - 1, ...path.slice(at + 1)]
}

function step(value: unknown, key: string | number): unknown {
  return isObject(value) ? value[key] : undefined
}

/** Objects and lists alike. */
function isObject(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null
}
