/**
 * The typed client over the contracts: path, query, body and result types all come from the same
 * `Endpoint` that the server validates by.
 */
import type { z } from 'zod'
import type { FieldFault } from '../platform/fault.ts'
import type { Endpoint } from '../platform/http/endpoint.ts'

type Part<E extends Endpoint, Name extends 'params' | 'query' | 'body'> = E[Name] extends z.ZodType
  ? Partial<Record<never, never>> extends z.input<E[Name]>
    ? { [key in Name]?: z.input<E[Name]> }
    : { [key in Name]: z.input<E[Name]> }
  : unknown

export type CallInput<E extends Endpoint> = Part<E, 'params'> & Part<E, 'query'> & Part<E, 'body'>
export type CallResult<E extends Endpoint> = E['result'] extends z.ZodType
  ? z.output<E['result']>
  : undefined

/** A refusal as the server worded it. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly fields: readonly FieldFault[]
  readonly requestId: string | null

  constructor(
    status: number,
    body: { error_code?: string; message?: string; fields?: FieldFault[]; request_id?: string },
  ) {
    super(body.message ?? `the server answered ${status}`)
    this.name = 'ApiError'
    this.status = status
    this.code = body.error_code ?? 'internal_error'
    this.fields = body.fields ?? []
    this.requestId = body.request_id ?? null
  }
}

export type Api = {
  /**
   * @throws ApiError for a refusal
   * @throws TypeError or DOMException when the server cannot be reached
   */
  call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<CallResult<E>>
  /** All pages of a list. */
  list<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<CallResult<E>>
}

type Parts = { params?: Record<string, string>; query?: Record<string, unknown>; body?: unknown }

/** `origin` without a trailing slash; `token` is asked for before each call. */
export function openApi(origin: string, token: () => string | null = () => null): Api {
  const request = async (endpoint: Endpoint, input: Parts) => {
    const bearer = token()
    const response = await fetch(urlOf(origin, endpoint, input), {
      method: endpoint.method,
      // What is sent belongs to this address: no answer sends it on to another.
      redirect: 'manual',
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    })
    const text = await response.text()
    const answer = parse(text)
    if (!response.ok) throw new ApiError(response.status, answer ?? {})
    return answer
  }
  return {
    call: async (endpoint, input) => {
      const answer = await request(endpoint, input as Parts)
      return endpoint.bare ? answer : answer?.data
    },
    list: async (endpoint, input) => {
      const all: unknown[] = []
      let cursor: string | undefined
      do {
        const parts = input as Parts
        const query = cursor === undefined ? parts.query : { ...parts.query, cursor }
        const answer = await request(endpoint, query ? { ...parts, query } : parts)
        all.push(...answer.data)
        cursor = answer.pagination?.next_cursor ?? undefined
      } while (cursor !== undefined)
      return all as CallResult<typeof endpoint>
    },
  }
}

function urlOf(origin: string, { path }: Endpoint, { params = {}, query = {} }: Parts): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length > 0 ? `${origin}${filled}?${search}` : `${origin}${filled}`
}

function parse(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
