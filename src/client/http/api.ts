/**
 * The typed client over the contracts: path, query, body and result types all come from the same
 * `Endpoint` that the server validates by.
 */
import type { z } from 'zod'
import type { Endpoint } from '../../http/endpoint.ts'
import { ANSWER_TIMEOUT_MS, AnswerError, type Answered, exchangeJson } from './answer.ts'

export { AnswerError, ApiError, NO_CODE } from './answer.ts'

type Part<E extends Endpoint, Name extends 'params' | 'query' | 'body'> = E[Name] extends z.ZodType
  ? Partial<Record<never, never>> extends z.input<E[Name]>
    ? { [key in Name]?: z.input<E[Name]> }
    : { [key in Name]: z.input<E[Name]> }
  : unknown

export type CallInput<E extends Endpoint> = Part<E, 'params'> & Part<E, 'query'> & Part<E, 'body'>
export type CallResult<E extends Endpoint> = E['result'] extends z.ZodType
  ? z.output<E['result']>
  : undefined

/** A list with the extra fields of its first page. No entry is older than them. */
export type Whole<E extends Endpoint> = {
  data: CallResult<E>
  beside: E['beside'] extends z.ZodType ? z.output<E['beside']> : undefined
}

/** A part of a list; `next` is the cursor of the part that follows. */
type Page<E extends Endpoint> = { data: CallResult<E>; next: string | null }

export type Api = {
  /**
   * @throws ApiError for a refusal, AnswerError for what cannot be used
   * @throws TypeError or DOMException when the server cannot be reached
   */
  call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<CallResult<E>>
  /** One page of a list. */
  page<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Page<E>>
  /** All pages of a list. */
  list<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<CallResult<E>>
  /** Reads a list with its extra fields. */
  whole<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Whole<E>>
}

type Parts = { params?: Record<string, string>; query?: Record<string, unknown>; body?: unknown }

type Options = {
  /** Milliseconds for each answer. */
  timeoutMs?: number
  /** Aborts running calls. */
  signal?: AbortSignal | undefined
  /** The trace of the caller, if it has one. */
  traceparent?: string | undefined
  /** Bytes of all pages of a list together. */
  listLimit?: number
}

const LIST_LIMIT = 256 * 1_048_576

/** `origin` without a trailing slash; `token` is asked for before each call. */
export function openApi(
  origin: string,
  token: () => string | null = () => null,
  { timeoutMs = ANSWER_TIMEOUT_MS, listLimit = LIST_LIMIT, signal, traceparent }: Options = {},
): Api {
  const request = (endpoint: Endpoint, input: Parts) => {
    const bearer = token()
    const init = {
      method: endpoint.method,
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(traceparent === undefined ? {} : { traceparent }),
      },
      ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
      ...(signal ? { signal } : {}),
    }
    return exchangeJson(endpoint, urlOf(origin, endpoint, input), init, timeoutMs)
  }
  const readWhole: Api['whole'] = async (endpoint, input) => {
    const pages: unknown[][] = []
    let bytes = 0
    let beside: unknown
    const parts = input as Parts
    const read = (query: Parts['query']) =>
      request(endpoint, query === undefined ? parts : { ...parts, query })
    for await (const page of pagesOf(read, parts.query)) {
      const entries = page.data as unknown[]
      if (pages.length === 0) beside = page.beside
      pages.push(entries)
      bytes += page.bytes
      // A page before the last has entries: so a list without end reaches its limit.
      const isEndless = page.next !== null && (entries.length === 0 || bytes > listLimit)
      if (isEndless) throw new AnswerError(origin, 'returns an endless list')
    }
    return { data: pages.flat(), beside } as Whole<typeof endpoint>
  }
  return {
    call: async (endpoint, input) => {
      const { data } = await request(endpoint, input as Parts)
      return data as CallResult<typeof endpoint>
    },
    page: async (endpoint, input) => {
      const { data, next } = await request(endpoint, input as Parts)
      return { data: data as CallResult<typeof endpoint>, next }
    },
    list: async (endpoint, input) => (await readWhole(endpoint, input)).data,
    whole: readWhole,
  }
}

/** Wraps a call: it may skip or repeat it. */
export type Around = <T>(call: () => Promise<T>, endpoint: Endpoint, input: unknown) => Promise<T>

/** Returns the same calls, each wrapped in `around`. */
export function callsWithin(api: Api, around: Around): Api {
  const readWhole: Api['whole'] = (endpoint, input) =>
    around(() => api.whole(endpoint, input), endpoint, input)
  return {
    call: (endpoint, input) => around(() => api.call(endpoint, input), endpoint, input),
    page: (endpoint, input) => around(() => api.page(endpoint, input), endpoint, input),
    list: async (endpoint, input) => (await readWhole(endpoint, input)).data,
    whole: readWhole,
  }
}

async function* pagesOf(
  read: (query: Parts['query']) => Promise<Answered>,
  query: Parts['query'],
): AsyncGenerator<Answered, void> {
  let page = await read(query)
  yield page
  while (page.next !== null) {
    page = await read({ ...query, cursor: page.next })
    yield page
  }
}

/** The URL of a call. */
export function urlOf(
  origin: string,
  { path }: Endpoint,
  { params = {}, query = {} }: Parts,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length > 0 ? `${origin}${filled}?${search}` : `${origin}${filled}`
}
