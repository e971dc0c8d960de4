/**
 * The text that is signed with the key of an Azure storage account: "Authorize with Shared Key (REST API)",
 * Microsoft Learn, in its version from 2009-09-19 on, for blobs, queues, files and tables.
 */

import type { Signable } from '../../core/signing/signable.ts'
import type { HeaderPair } from '../headers.ts'

export type AzureScheme = 'SharedKey' | 'SharedKeyLite'

type Request = Omit<Signable, 'body' | 'authority'> & { length: number | null; isTable: boolean }

/** In this order, and behind the content's length and type. */
const CONDITIONS = [
  'if-modified-since',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'range',
]

export function buildSharedKeyText(scheme: AzureScheme, account: string, request: Request): string {
  const headers = new Map(request.headers.map(([name, value]) => [name.toLowerCase(), value]))
  const of = (name: string) => headers.get(name) ?? ''
  const content = [of('content-md5'), of('content-type')]
  const resource = resourceOf(account, request, scheme === 'SharedKeyLite' || request.isTable)
  if (request.isTable) {
    const date = of('x-ms-date') || of('date')
    const first = scheme === 'SharedKey' ? [request.method, ...content] : []
    return [...first, date, resource].join('\n')
  }
  const date = headers.has('x-ms-date') ? '' : of('date')
  const first =
    scheme === 'SharedKey'
      ? [of('content-encoding'), of('content-language'), lengthOf(request)]
      : []
  const last = scheme === 'SharedKey' ? CONDITIONS.map(of) : []
  const lines = [request.method, ...first, ...content, date, ...last].map((line) => `${line}\n`)
  return lines.join('') + vendorHeaders([...headers]) + resource
}

/** Tables have a separate signature form. Their host, or a header that only they have, identifies them. */
export function isTable({ authority, headers }: Pick<Signable, 'authority' | 'headers'>): boolean {
  const isNamed = headers.some(([name]) => name.toLowerCase() === 'dataserviceversion')
  return isNamed || /\.table\./.test(authority)
}

/** Whether the host names the account; otherwise the path begins with it. */
export function isHostOf(account: string, host: string): boolean {
  return [`${account}.`, `${account}-secondary.`].some((own) => host.startsWith(own))
}

/** Decodes a text; one that cannot be decoded stays. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns the parameters of a query that begins with `?`, with names and values as written. */
export function parametersIn(search: string): HeaderPair[] {
  const all = search.slice(1).split('&')
  return all.filter(Boolean).map((parameter) => {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(parameter) ?? []
    return [name, value]
  })
}

function lengthOf({ length }: Request): string {
  return length ? String(length) : ''
}

function vendorHeaders(headers: readonly HeaderPair[]): string {
  return headers
    .filter(([name]) => name.startsWith('x-ms-'))
    .sort(([a], [b]) => compareByName(a, b))
    .map(([name, value]) => `${name}:${value.trim()}\n`)
    .join('')
}

/**
 * Orders names as the service does: `_` before digits before letters. `-` counts only between names that are otherwise
 * equal: the one with a later `-` is first.
 */
function compareByName(a: string, b: string): number {
  const [left, right] = [a, b].map((name) => name.replaceAll('-', '').replaceAll('_', '!'))
  return (
    compareByCode(left ?? '', right ?? '') ||
    compareByCode(a.replaceAll('-', '~'), b.replaceAll('-', '~'))
  )
}

function compareByCode(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function resourceOf(account: string, { path, search }: Request, isShort: boolean): string {
  const parameters = parametersIn(search).map(
    ([name, value]): HeaderPair => [decodePercent(name).toLowerCase(), decodePercent(value)],
  )
  const resource = `/${account}${path}`
  if (isShort) {
    const comp = parameters.find(([name]) => name === 'comp')?.[1]
    return comp ? `${resource}?comp=${comp}` : resource
  }
  const values = Map.groupBy(parameters, ([name]) => name)
  const lines = [...values]
    .sort(([a], [b]) => compareByCode(a, b))
    .map(
      ([name, all]) =>
        `\n${name}:${all
          .map(([, value]) => value)
          .sort(compareByCode)
          .join(',')}`,
    )
  return resource + lines.join('')
}
