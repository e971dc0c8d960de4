/**
 * The lists and objects of a JSON text during reading, each checked against its bounds. Invalid parts are reported once
 * and dropped. Nesting, duplicate and forbidden keys are checked everywhere, also in dropped parts.
 */
import { Fault, type FieldFault } from '../../core/fault.ts'
import { describeMaximumEntries, MAX_COMPLAINTS, pathOf } from '../../core/validation/complaints.ts'
import type { Bounds, ListBounds, ObjectBounds } from './bounds.ts'

export const MAX_JSON_DEPTH = 32
export const POISONED_KEYS = new Set(['__proto__', 'constructor'])
/** Names of an object that is not kept. */
const MAX_NAMES = 1000

/** One that is open; the object is used again for others at its depth. */
class Container {
  isObject = false
  /** The target of the values; `null` when they are not kept. */
  list: unknown[] | null = null
  object: Record<string, unknown> | null = null
  listBounds: ListBounds | null = null
  objectBounds: ObjectBounds | null = null
  /** Entries so far. */
  count = 0
  readonly names = new Set<string>()
  /** The name of the next value, and its bounds; `null` if it is dropped. */
  name = ''
  bounds: Bounds | null = null

  open(isObject: boolean): void {
    this.isObject = isObject
    this.list = null
    this.object = null
    this.listBounds = null
    this.objectBounds = null
    this.count = 0
    this.names.clear()
    this.bounds = null
  }
}

export class Containers {
  root: unknown
  readonly tooLong: FieldFault[] = []
  /** Values of a kind that cannot be right, missing fields, and fields that are not taken. */
  readonly cut: FieldFault[] = []
  readonly #bounds: Bounds
  readonly #stack: Container[] = []
  #depth = 0
  #top: Container | null = null
  /** The bounds of the value that has begun; `null` when it is not kept. */
  #slot: Bounds | null = null

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  get isAtRoot(): boolean {
    return this.#top === null
  }

  get isInObject(): boolean {
    return this.#top?.isObject ?? false
  }

  /** A list or an object begins. */
  open(isObject: boolean): void {
    if (this.#depth >= MAX_JSON_DEPTH) {
      throw buildMalformedFault(`The request body is nested deeper than ${MAX_JSON_DEPTH}.`)
    }
    this.#begin()
    const container = this.#stack[this.#depth] ?? new Container()
    container.open(isObject)
    if (this.#slot) this.#keep(container, this.#slot)
    this.#stack[this.#depth] = container
    this.#depth += 1
    this.#top = container
  }

  close(): void {
    const top = this.#top
    for (const name of (top?.object && top.objectBounds?.required) ?? []) {
      if (!top?.object || Object.hasOwn(top.object, name)) continue
      top.name = name
      this.#refuse()
    }
    this.#depth -= 1
    this.#top = this.#stack[this.#depth - 1] ?? null
  }

  /** The name of the next value of an object. */
  name(name: string): void {
    const top = this.#top
    if (!top) return
    if (POISONED_KEYS.has(name)) throw buildMalformedFault('The request body has a forbidden key.')
    top.count += 1
    top.name = name
    top.bounds = null
    const limit = top.objectBounds?.maxProperties ?? MAX_NAMES
    if (top.count > limit) {
      this.#endTooLong(top, limit)
      return
    }
    if (top.names.has(name)) throw buildMalformedFault('The request body has a duplicate key.')
    top.names.add(name)
    if (top.object && top.objectBounds) {
      top.bounds = this.#boundsOfField(top.object, top.objectBounds, name)
    }
  }

  /** A text begins: of how many characters it is wanted, -1 when it is not kept. */
  beginText(): number {
    this.#begin()
    return this.#slot?.text?.maxLength ?? -1
  }

  endText(text: string): void {
    this.#put(text, this.#slot?.text !== null)
  }

  /** A value that is no text. */
  add(value: number | boolean | null): void {
    this.#begin()
    this.#put(value, value === null ? this.#slot?.null : this.#slot?.[typeof value as 'number'])
  }

  #begin(): void {
    const top = this.#top
    if (top === null) {
      this.#slot = this.#bounds
    } else if (top.isObject) {
      this.#slot = top.bounds
    } else {
      top.count += 1
      const { maxItems, items } = top.listBounds ?? {}
      if (maxItems !== undefined && top.count > maxItems) this.#endTooLong(top, maxItems)
      this.#slot = (top.list && !this.#isFull && items) || null
    }
  }

  #keep(container: Container, slot: Bounds): void {
    const bounds = container.isObject ? slot.object : slot.list
    const value = container.isObject ? {} : []
    this.#put(value, bounds !== null)
    if (bounds === null) return
    if (Array.isArray(value)) {
      container.list = value
      container.listBounds = slot.list
    } else {
      container.object = value
      container.objectBounds = slot.object
    }
  }

  #put(value: unknown, fits: boolean | undefined): void {
    if (this.#slot === null) return
    if (!fits) this.#refuse()
    const top = this.#top
    if (top === null) this.root = value
    else if (top.object) top.object[top.name] = value
    else top.list?.push(value)
  }

  #boundsOfField(
    object: Record<string, unknown>,
    { properties, others }: ObjectBounds,
    name: string,
  ): Bounds | null {
    if (this.#isFull) return null
    const bounds = properties.get(name) ?? others
    if (typeof bounds === 'object') return bounds
    if (bounds === 'closed') {
      this.#refuse()
      object[name] = null
    }
    return null
  }

  /** Says so once; nothing more of it is kept. */
  #endTooLong(top: Container, limit: number): void {
    if (top.count > limit + 1 || this.tooLong.length >= MAX_COMPLAINTS) return
    this.tooLong.push({ path: this.#path(this.#depth - 1), message: describeMaximumEntries(limit) })
    top.list = null
    top.object = null
  }

  /** Complains of the value that the open containers have come to. */
  #refuse(): void {
    if (this.#isFull) return
    this.cut.push({ path: this.#path(this.#depth), message: 'is not valid' })
  }

  /** From here on nothing can change the verdict. */
  get #isFull(): boolean {
    return this.cut.length >= MAX_COMPLAINTS
  }

  /** The bounds below the first `depth` containers. */
  #path(depth: number): string {
    const steps = this.#stack.slice(0, depth)
    return pathOf(steps.map(({ isObject, name, count }) => (isObject ? name : count - 1)))
  }
}

function buildMalformedFault(message: string): Fault {
  return new Fault('malformed_json', { message })
}
